import LinuxSystem
public import PushModel
import Synchronization

/// The thread that writes the ledger: one transaction, one sync, for all that was submitted while the last one ran.
///
/// May be used from any thread. Whoever submits waits for nothing; the reports say what is on disk.
public final class Committer: Sendable {
    private let inbox: Monitor<Inbox>
    private let running: Mutex<Running?>

    /// The thread, and the lock that says that no other process has one like it.
    private struct Running: ~Copyable {
        let directory: StateDirectory
        let thread: WorkerThread

        /// Waits for the thread's end, then unlocks.
        consuming func join() {
            thread.join()
            directory.unlock()
        }
    }

    /// What the thread has to do.
    struct Inbox: Sendable {
        var batches: [Batch] = []
        var pruneCutoff: WallTime?
        var isStopping = false
        /// How the opening went; `nil` while it goes on.
        var opening: Opening?
    }

    struct Batch: Sendable {
        var number: UInt64
        var records: [LedgerRecord]
    }

    enum Opening: Sendable {
        case opened
        case failed(StoreError)
    }

    /// Opens the ledger, on the committer's own thread, and returns when that is done.
    /// - Parameters:
    ///   - directory: the locked directory; it stays locked until `stop` returns.
    ///   - onCommit: gets every report, on the committer's thread, which waits for it to return.
    /// - Throws: what kept the ledger from being opened, created or brought up to date.
    public init(
        directory: consuming StateDirectory, onCommit: @escaping @Sendable (CommitReport) -> Void
    ) throws(StoreError) {
        let inbox = Monitor(Inbox())
        let path = directory.path
        // The connection is born on the thread that uses it and never leaves it.
        let thread = try storeThread("committer") {
            do throws(StoreError) {
                var loop = CommitterLoop(writer: try LedgerWriter(directory: path), inbox: inbox, report: onCommit)
                inbox.update { $0.opening = .opened }
                loop.run()
            } catch {
                inbox.update { $0.opening = .failed(error) }
            }
        }
        let opening = inbox.wait { inbox in inbox.opening }
        if case .failed(let error) = opening {
            thread.join()
            throw error
        }
        self.inbox = inbox
        running = Mutex(Running(directory: directory, thread: thread))
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

    /// Commits what was submitted, ends the thread and unlocks the directory. What a full disk still keeps off it
    /// is reported as failed.
    public func stop() {
        inbox.update { $0.isStopping = true }
        let stopped = running.withLock { $0.take() }
        stopped?.join()
    }
}
