import JournalLog
import Synchronization

/// Tells the journal what is wrong once, whenever it changes, and that it is over. On any thread.
final class ProblemLog: Sendable {
    private let told = Mutex<String?>(nil)
    private let end: String
    private let log: @Sendable (JournalEntry) -> Void

    /// - Parameters:
    ///   - end: what is said when it is over.
    ///   - log: takes the entries.
    init(end: String, log: @escaping @Sendable (JournalEntry) -> Void) {
        self.end = end
        self.log = log
    }

    /// - Parameter problem: what is wrong now; `nil`: all is well.
    func note(_ problem: String?) {
        let isNew = told.withLock { told in
            defer { told = problem }
            return told != problem
        }
        guard isNew else { return }
        log(problem.map { JournalEntry(.warning, $0) } ?? JournalEntry(.notice, end))
    }
}
