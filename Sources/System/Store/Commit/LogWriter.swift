import LinuxSystem
import PushModel

/// The work of the log's thread.
struct LogInbox: Sendable {
    var batch: CommitBatch?
    /// A counter that goes up when the ledger's thread has made room in the log: its answer to
    /// `LedgerInbox.isRoomWanted`.
    var releases: UInt64 = 0
    var isStopping = false
}

/// Writes batches to the log, one after the other, on a thread of its own or on the caller's, and hands them to the
/// ledger's thread.
final class LogWriter: Sendable {
    /// The time between two tries on a full disk.
    private static let retryInterval: Duration = .milliseconds(500)

    private let log: any BatchLog
    private let inbox: Monitor<LogInbox>
    private let ledger: Monitor<LedgerInbox>
    private let pool: BufferPool
    private let report: @Sendable (StoreReport) -> Void

    init(
        _ log: any BatchLog, inbox: Monitor<LogInbox>, ledger: Monitor<LedgerInbox>, pool: BufferPool,
        report: @escaping @Sendable (StoreReport) -> Void
    ) {
        self.log = log
        self.inbox = inbox
        self.ledger = ledger
        self.pool = pool
        self.report = report
    }

    /// Writes a batch.
    ///
    /// - Returns: how long the write took. The batch is on the disk, and the ledger's thread has it.
    /// - Throws: `tooLong` for a batch above ``BatchLimits/longest``; the errors of the log.
    func write(_ batch: CommitBatch) throws(StoreError) -> Duration {
        guard batch.rows.byteCount <= BatchLimits.longest else {
            throw .tooLong(batch.rows.byteCount, limit: BatchLimits.longest)
        }
        let start = SystemClock.monotonicNanoseconds
        let time = WallTime(milliseconds: SystemClock.wallMilliseconds)
        let position = try log.append(batch.rows, lastSequence: batch.lastSequence, at: time)
        precondition(position.number == batch.number, "batches are numbered without a gap")
        let now = SystemClock.monotonicNanoseconds
        let (surplus, isNews) = ledger.withLock { inbox in
            let before = inbox.backlog.bytes
            // The next slice of a pruning, or the next step of an erasure, waits for this order.
            if ChainOrder.isOrder(batch.rows.rows) { inbox.urgentThrough = max(inbox.urgentThrough, position.number) }
            let surplus = inbox.backlog.append(position, batch.rows, at: now)
            // The ledger's thread looks at the clock by itself: the first batch of a backlog wakes it, and many bytes
            // do.
            let isNews =
                before == 0 || before < LedgerInbox.bytesDue && inbox.backlog.bytes >= LedgerInbox.bytesDue
                || inbox.urgentThrough >= position.number
            if isNews { inbox.signals &+= 1 }
            return (surplus, isNews)
        }
        if isNews { ledger.wake() }
        if let surplus { pool.recycle(surplus) }
        return .nanoseconds(now - start)
    }

    /// The body of the thread: writes the submitted batches until the stop, or until the disk cannot be trusted.
    func run() {
        while case .write(let batch) = nextJob() {
            do throws(StoreError) {
                try writeWithRetries(batch)
            } catch {
                return report(.failed(error))
            }
        }
    }

    private enum Job: Sendable {
        case write(CommitBatch)
        case stop
    }

    private func nextJob() -> Job {
        let job = inbox.wait { inbox -> Job? in
            if let batch = inbox.batch.take() { return .write(batch) }
            return inbox.isStopping ? .stop : nil
        }
        return job ?? .stop
    }

    /// Writes a batch, with retries until it succeeds. At a stop there is one last try: a batch that it does not write
    /// was never acknowledged.
    private func writeWithRetries(_ batch: CommitBatch) throws(StoreError) {
        var reported: StoreError.Kind?
        while true {
            let releases = inbox.withLock(\.releases)
            do throws(StoreError) {
                let took = try write(batch)
                return report(.durable(through: batch.number, took: took))
            } catch let error where error.isTransient {
                if inbox.withLock(\.isStopping) { return }
                if reported == nil || error.isOfEngine && reported != error.kind { report(.stalled(error)) }
                reported = error.kind
                let isFull = error.kind == .logFull
                if isFull {
                    ledger.update { inbox in
                        inbox.isRoomWanted = true
                        inbox.signals &+= 1
                    }
                }
                // The ledger's thread answers a full log as soon as it has made room. Nothing reports that a disk has
                // room again.
                _ = inbox.wait(atMost: isFull ? nil : Self.retryInterval) { inbox -> Bool? in
                    inbox.isStopping || isFull && inbox.releases != releases ? true : nil
                }
            }
        }
    }
}
