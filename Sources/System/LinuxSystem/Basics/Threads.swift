import CLinux
import Glibc
import Synchronization

/// A thread that runs one closure; the owner of this value joins or detaches it.
public struct WorkerThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts the thread with every signal blocked: the loop's thread takes the signals.
    ///
    /// - Parameters:
    ///   - name: the name in `ps -L`; at most 15 bytes.
    ///   - body: the closure.
    /// - Throws: if the system has no thread left.
    public init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        // The thread releases the box, or the code below if there is no thread.
        let box = Unmanaged.passRetained(Body(name, body))
        var created = pthread_t()
        let result = pthread_create(
            &created, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard result == 0 else {
            box.release()
            throw SystemError(operation: "start the thread \(name)", errno: result)
        }
        thread = created
    }

    /// Detaches the thread.
    public consuming func detach() { pthread_detach(thread) }

    /// Waits for the closure to return.
    public consuming func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        private let name: StaticString
        private let body: @Sendable () -> Void

        init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) { if let start = $0.baseAddress { CLinux_name_thread(start) } }
            }
            body()
        }
    }
}

/// A thread that does jobs in the order of their submission. It starts with the first job, so an unused one costs
/// nothing.
public final class JobThread<Job: Sendable>: Sendable {
    private struct Inbox: Sendable {
        var jobs: [Job] = []
        var isStopping = false
    }

    private let inbox = Monitor(Inbox())
    private let thread = Mutex<WorkerThread?>(nil)
    private let name: StaticString
    private let begin: @Sendable () -> (Job) -> Void

    /// - Parameters:
    ///   - name: the name in `ps -L`; at most 15 bytes.
    ///   - begin: called on the thread, once; the closure that it returns does each job there.
    public init(_ name: StaticString, begin: @escaping @Sendable () -> (Job) -> Void) {
        self.name = name
        self.begin = begin
    }

    deinit { stop() }

    /// Queues a job; on any thread, without waiting.
    ///
    /// - Throws: if the system has no thread left; then the job is not done.
    public func submit(_ job: Job) throws(SystemError) {
        try thread.withLock { (thread) throws(SystemError) in
            guard thread == nil else { return }
            let (inbox, begin) = (inbox, begin)
            thread = try WorkerThread(name) { Self.run(inbox, begin()) }
        }
        inbox.update { $0.jobs.append(job) }
    }

    /// Ends the thread after the present job, and waits for that; queued jobs are dropped.
    public func stop() {
        inbox.update { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
    }

    /// Ends the thread after the present job, without waiting.
    public func leave() {
        inbox.update { $0.isStopping = true }
        thread.withLock { $0.take() }?.detach()
    }

    private static func run(_ inbox: Monitor<Inbox>, _ work: (Job) -> Void) {
        while true {
            let jobs = inbox.wait { inbox -> [Job]? in
                if inbox.isStopping { return [] }
                return inbox.jobs.isEmpty ? nil : exchange(&inbox.jobs, with: [])
            }
            guard let jobs, !jobs.isEmpty else { return }
            for job in jobs {
                if inbox.withLock(\.isStopping) { return }
                work(job)
            }
        }
    }
}

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
