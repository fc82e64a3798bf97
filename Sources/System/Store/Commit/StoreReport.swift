public import PushModel
import Synchronization

/// What the store's threads tell. Numbers are those of batches.
public enum StoreReport: Hashable, Sendable {
    /// All batches up to and including this number are on disk; how long the last write took.
    case durable(through: UInt64, took: Duration)
    /// All batches up to and including this number are in the ledger, where readers find them.
    case applied(through: UInt64)
    /// A batch cannot be written for now: the disk is full, or the log is. Nothing is lost and nothing is on disk that
    /// was not before; the same batch is tried again until it is written. Told once for each time, and again when the engine of
    /// a shared log is in the way in another manner.
    case stalled(StoreError)
    /// The ledger cannot be written for now; the log goes on as long as it has room. Told once for each time.
    case ledgerStalled(StoreError)
    /// The ledger is written again.
    case ledgerResumed
    /// A pruning has ended, perhaps before its time because the disk is full.
    ///
    /// - Parameters:
    ///   - requests: how many older than the retention are out of the ledger.
    ///   - deadLetters: how many were beyond their limits and are none any more.
    ///   - bySize: how many requests are out before their retention was over, because the ledger was larger than it may be.
    ///   - remains: what fills a ledger that is too large all the same; `nil`: it is small enough.
    case pruned(requests: Int, deadLetters: Int = 0, bySize: Int = 0, remains: LedgerRemains? = nil)
    /// Rows are to be taken out of a ledger that is a copy of a chain: whoever writes the log puts the order into it, alone in
    /// a batch. What is taken out is told when that batch is applied.
    case orderDue(ChainOrder)
    /// A person's rows are out of the ledger. The rest of the erasure goes on by itself.
    case erasedRows(ErasureReceipt)
    /// The erasure cannot go on for now: a reader has an older state of the ledger, or there is no room. It goes on by itself;
    /// told once.
    case erasureWaits(StoreError)
    /// The erasure has come to its end: no file of the store has anything of the person.
    case erased
    /// The disk cannot be trusted, and no further report comes: end without acknowledging anything.
    case failed(StoreError)
}

/// The contents of a ledger from which nothing more can be taken.
public struct LedgerRemains: Hashable, Sendable {
    /// Invocations without an outcome.
    public var inFlight = 0
    /// Dead letters.
    public var deadLetters = 0
    /// Bytes that count for `DeadLetterSizeMax=`.
    public var deadLetterBytes = 0
    /// Entries of custom data that have not come to their end.
    public var entries = 0
    /// Bytes of figures.
    public var figureBytes = 0

    /// A ledger of nothing.
    public init() {}
}

/// How the store is doing.
public struct StoreStatus: Hashable, Sendable {
    /// Bytes of the log that the ledger may not have on disk yet.
    public var logUsed = 0
    /// Bytes of all the log's files.
    public var logLength = 0
    /// How large the log may become, in bytes.
    public var logLimit = 0
    /// How many batches are durable and not in the ledger yet.
    public var batchesBehind = 0
    /// How many bytes of rows they have.
    public var bytesBehind = 0
    /// Since when the oldest of them has been durable, in monotonic nanoseconds; `nil` when there is none.
    public var behindSince: Int64?
    /// Bytes of the ledger's own WAL.
    public var walLength = 0
    /// Bytes of the ledger's file.
    public var ledgerLength = 0
    /// Bytes of the ledger's pages that have something.
    public var ledgerUsed = 0
}

/// The first report of a failure, for who asks after the end of the threads.
final class FirstFailure: Sendable {
    private let first = Mutex<StoreError?>(nil)

    var error: StoreError? { first.withLock { $0 } }

    func note(_ report: StoreReport) {
        guard case .failed(let error) = report else { return }
        first.withLock { $0 = $0 ?? error }
    }
}
