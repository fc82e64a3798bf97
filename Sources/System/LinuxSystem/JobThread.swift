import Synchronization

/// A thread that does jobs, one after the other, in the order in which they were submitted. It begins with the first job:
/// who never needs it pays for none.
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
    ///   - name: as `ps -L` shows it; at most 15 bytes.
    ///   - begin: called on the thread, once; what it returns does each job there.
    public init(_ name: StaticString, begin: @escaping @Sendable () -> (Job) -> Void) {
        self.name = name
        self.begin = begin
    }

    deinit { stop() }

    /// Has a job done; on any thread, without waiting.
    ///
    /// - Throws: when the system has no thread left; then the job is not done.
    public func submit(_ job: Job) throws(SystemError) {
        try thread.withLock { (thread) throws(SystemError) in
            guard thread == nil else { return }
            let (inbox, begin) = (inbox, begin)
            thread = try WorkerThread(name) { Self.run(inbox, begin()) }
        }
        inbox.update { $0.jobs.append(job) }
    }

    /// Ends the thread; jobs that were not begun are not done. Waits for the one that was.
    public func stop() {
        inbox.update { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
    }

    /// Ends the thread as soon as it has done what it does, without waiting for that.
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
