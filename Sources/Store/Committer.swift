public import PushModel
import Synchronization

/// The thread that writes the ledger: one transaction, one sync, for all that was submitted while the last one ran.
///
/// May be used from any thread. Whoever submits waits for nothing; the reports say what is on disk.
public final class Committer: Sendable {
    private let inbox: Monitor<Inbox>
    private let thread: Mutex<WorkerThread?>

    /// What the thread has to do.
    struct Inbox: Sendable {
        var batches: [Batch] = []
        var pruneCutoff: WallTime?
        var isStopping = false
        var opening: Opening = .pending
    }

    struct Batch: Sendable {
        var number: UInt64
        var records: [LedgerRecord]
    }

    enum Opening: Sendable {
        case pending
        case finished(StoreError?)
    }

    /// Opens the ledger, on the committer's own thread, and returns when that is done.
    /// - Parameters:
    ///   - directory: the locked directory; it must stay locked until `stop` has returned.
    ///   - onCommit: gets every report, on the committer's thread, which waits for it to return.
    /// - Throws: what kept the ledger from being opened, created or brought up to date.
    public init(
        directory: borrowing StateDirectory, onCommit: @escaping @Sendable (CommitReport) -> Void
    ) throws(StoreError) {
        let inbox = Monitor(Inbox())
        let path = directory.path
        // The connection is born on the thread that uses it and never leaves it.
        let thread = try WorkerThread {
            do throws(StoreError) {
                var loop = CommitterLoop(writer: try LedgerWriter(directory: path), inbox: inbox, report: onCommit)
                inbox.update { $0.opening = .finished(nil) }
                loop.run()
            } catch {
                inbox.update { $0.opening = .finished(error) }
            }
        }
        let opening = inbox.wait { inbox in
            if case .finished = inbox.opening { inbox.opening } else { nil }
        }
        if case .finished(let error?) = opening {
            thread.join()
            throw error
        }
        self.inbox = inbox
        self.thread = Mutex(thread)
    }

    deinit { stop() }

    /// Queues a batch, to be committed whole and after all that were submitted before it.
    /// - Parameters:
    ///   - batch: the records, in order; batches that wait together may share a transaction.
    ///   - number: what the report will name; greater than the last one.
    public func submit(_ batch: [LedgerRecord], number: UInt64) {
        inbox.update { $0.batches.append(Batch(number: number, records: batch)) }
    }

    /// Takes requests accepted before `cutoff` out of the ledger, in small transactions between batches. Requests
    /// with an invocation in flight stay, and no number is given again.
    public func prune(olderThan cutoff: WallTime) {
        inbox.update { $0.pruneCutoff = cutoff }
    }

    /// Commits what was submitted and ends the thread; what a full disk keeps off it is reported as failed.
    public func stop() {
        inbox.update { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
    }
}
