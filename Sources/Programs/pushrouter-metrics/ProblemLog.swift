import LinuxSystem
import Synchronization

/// Logs a problem once, again when it changes, and when it is over. Safe on any thread.
final class ProblemLog: Sendable {
    private let last = Mutex<String?>(nil)
    private let end: String
    private let log: @Sendable (JournalEntry) -> Void

    /// - Parameters:
    ///   - end: the message when the problem is over.
    ///   - log: logs an entry.
    init(end: String, log: @escaping @Sendable (JournalEntry) -> Void) {
        self.end = end
        self.log = log
    }

    /// - Parameter problem: the present problem; `nil`: none.
    func note(_ problem: String?) {
        let isNew = last.withLock { last in
            defer { last = problem }
            return last != problem
        }
        guard isNew else { return }
        log(problem.map { JournalEntry(.warning, $0) } ?? JournalEntry(.notice, end))
    }
}
