import Glibc

/// A value that threads share: a lock around it, and a condition to wait on.
///
/// The standard library's `Mutex` has no condition, and a wait with a time limit is what a thread that sleeps
/// between batches needs.
///
/// `@unchecked Sendable` is sound: `value` is accessed only under the lock, the two pointers never change, and values
/// that go in or out are `Sendable` themselves.
public final class Monitor<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Creates a monitor of a value.
    public init(_ value: Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // CLOCK_MONOTONIC: a wait must not depend on changes of the wall clock.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Changes the value and wakes all waiting threads.
    public func update(_ change: (inout Value) -> Void) {
        pthread_mutex_lock(mutex)
        change(&value)
        pthread_mutex_unlock(mutex)
        // After the unlock: a thread that is woken under the lock would sleep again at once.
        wake()
    }

    /// Changes or reads the value without waking any thread.
    public func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes all threads that wait for the value, to check it again.
    public func wake() { pthread_cond_broadcast(changed) }

    /// Wakes one waiting thread, for monitors whose waiters all want the same.
    public func wakeOne() { pthread_cond_signal(changed) }

    /// Waits until `take` returns a value, at most for `limit`; calls it at once and after every change.
    ///
    /// - Returns: the result of `take`, or `nil` after the limit.
    public func wait<Taken: Sendable>(atMost limit: Duration? = nil, _ take: (inout Value) -> Taken?) -> Taken? {
        var end = timespec()
        if let limit {
            clock_gettime(CLOCK_MONOTONIC, &end)
            let (seconds, attoseconds) = limit.components
            let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
            end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
            end.tv_nsec = nanoseconds % 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let taken = take(&value) { return taken }
            let result = limit == nil ? pthread_cond_wait(changed, mutex) : pthread_cond_timedwait(changed, mutex, &end)
            if result == ETIMEDOUT { return take(&value) }
        }
    }
}
