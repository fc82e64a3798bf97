import Synchronization

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
