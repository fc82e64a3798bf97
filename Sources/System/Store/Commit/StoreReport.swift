public import PushModel
import Synchronization

/// The reports of the store's threads. Numbers are those of batches.
public enum StoreReport: Hashable, Sendable {
    /// All batches up to and including this number are on disk; `took` is the duration of the last write.
    case durable(through: UInt64, took: Duration)
    /// All batches up to and including this number are in the ledger, where readers find them.
    case applied(through: UInt64)
    /// A batch cannot be written now: the disk or the log is full. Nothing is lost, nothing new is on disk, and the
    /// same batch is tried again until it is written. Reported once for each stall, and again if the engine of a shared
    /// log fails in another way.
    case stalled(StoreError)
    /// The ledger cannot be written now; the log continues while it has room. Reported once for each stall.
    case ledgerStalled(StoreError)
    /// The ledger is written again.
    case ledgerResumed
    /// A pruning has ended, early if the disk is full.
    ///
    /// - Parameters:
    ///   - requests: the number of requests past their retention that were removed.
    ///   - deadLetters: the number of dead letters that were beyond the limits and were removed.
    ///   - deadLettersBySize: those of them beyond `DeadLetterSizeMax=`.
    ///   - bySize: the number of requests that were removed before the end of their retention, because the ledger was
    ///     too large.
    ///   - remains: the contents of a ledger that is still too large; `nil` if it is small enough.
    case pruned(
        requests: Int, deadLetters: Int = 0, deadLettersBySize: Int = 0, bySize: Int = 0, remains: LedgerRemains? = nil)
    /// Rows are to be removed from a ledger that is a copy of a chain: the writer of the log puts the order into it,
    /// alone in a batch. The report of what was removed follows when that batch is applied.
    case orderDue(ChainOrder)
    /// A person's rows are removed from the ledger. The rest of the erasure continues by itself.
    case erasedRows(ErasureReceipt)
    /// The erasure cannot continue now: a reader has an older state of the ledger, or there is no room. It continues by
    /// itself; reported once.
    case erasureWaits(StoreError)
    /// The erasure is complete: no file of the store has data of the person.
    case erased
    /// The disk cannot be trusted, and no further report follows: the process must end without another acknowledgement.
    case failed(StoreError)
}

/// The contents of a ledger that pruning cannot remove.
public struct LedgerRemains: Hashable, Sendable {
    /// Invocations without an outcome.
    public var inFlight = 0
    /// Dead letters.
    public var deadLetters = 0
    /// Bytes that count for `DeadLetterSizeMax=`.
    public var deadLetterBytes = 0
    /// Entries of custom data without a final state.
    public var entries = 0
    /// Bytes of figures.
    public var figureBytes = 0

    /// An empty ledger.
    init() {}
}

/// The state of the store.
public struct StoreStatus: Hashable, Sendable {
    /// Bytes of the log that the ledger may not have on disk yet.
    public var logUsed = 0
    /// Bytes of all the log's files.
    public var logLength = 0
    /// The limit of the log's size, in bytes.
    public var logLimit = 0
    /// The number of batches that are durable and not in the ledger yet.
    public var batchesBehind = 0
    /// The bytes of rows in those batches.
    public var bytesBehind = 0
    /// The time since which the oldest of those batches has been durable, in monotonic nanoseconds; `nil` if there is
    /// none.
    public var behindSince: Int64?
    /// Bytes of the ledger's own WAL.
    public var walLength = 0
    /// Bytes of the ledger's file.
    public var ledgerLength = 0
    /// Bytes of the ledger's pages in use.
    public var ledgerUsed = 0
    /// The dead letters; `nil` until they are counted after a start.
    public var deadLetters: DeadLetterTotals?
    /// Whether an erasure has steps left.
    public var isErasing = false
}

/// The first reported failure, to be read after the threads have ended.
final class FirstFailure: Sendable {
    private let first = Mutex<StoreError?>(nil)

    var error: StoreError? { first.withLock { $0 } }

    func note(_ report: StoreReport) {
        guard case .failed(let error) = report else { return }
        first.withLock { $0 = $0 ?? error }
    }
}
