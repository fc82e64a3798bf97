import Glibc

/// A value that threads share: a lock around it, and a condition to wait on.
///
/// The standard library's `Mutex` has no condition, and a wait with a time limit is what a thread that sleeps
/// between batches needs.
///
/// `@unchecked Sendable` is sound: `value` is touched only between the lock and the unlock below, the two
/// pointers never change, and what goes in or comes out is `Sendable` itself.
public final class Monitor<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A value that nobody waits for yet.
    public init(_ value: Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A wait must not depend on somebody setting the clock.
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

    /// Changes the value and wakes all that wait for it.
    public func update(_ change: (inout Value) -> Void) {
        pthread_mutex_lock(mutex)
        change(&value)
        pthread_mutex_unlock(mutex)
        // Not before: who wakes while the lock is held sleeps again at once.
        wake()
    }

    /// Changes or reads the value without waking anybody.
    public func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes all that wait for the value, to look at it again.
    public func wake() { pthread_cond_broadcast(changed) }

    /// Wakes one of those that wait for the value, where all of them want the same of it.
    public func wakeOne() { pthread_cond_signal(changed) }

    /// Waits until `take` gives something, at most for `limit`; it is asked at once and after every change.
    ///
    /// - Returns: what `take` gave, or `nil` when the time was up.
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
