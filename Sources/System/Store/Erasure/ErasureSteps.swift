import LinuxSystem
import PushModel

/// The steps of an erasure, one after the other on the ledger's thread, with batches between them.
///
/// The order is on the disk before the first row is removed, and is removed when no data of the person is left. After a
/// crash at any time, either nothing was done or the next start continues with the order. If machines share the log,
/// the order is a row of the log, and each ledger stores whether it was rewritten since.
struct ErasureSteps {
    private enum Step {
        /// Writes the order.
        case begin
        /// Removes the rows, or asks for an order of the chain that does.
        case rows
        /// Waits for the order in the chain.
        case ordered
        /// Rewrites the ledger, without the data in its free pages.
        case rewrite
        /// Empties the WAL, which still has the old pages.
        case emptyWAL
        /// Overwrites the segments of the log, each once it is free.
        case log
        case done
    }

    /// The pause before another look at a segment of the log that is still needed, or at an outcome, in nanoseconds.
    private static let pause: Int64 = 100_000_000

    /// The order; `nil` if the rows are removed already.
    private let order: ErasureOrder?
    private let isShared: Bool
    private var step: Step
    /// The time of the next step, in monotonic nanoseconds: 0 means at once; `nil` means after the rows are removed.
    var nextTry: Int64? = 0
    /// Whether a report has told that the erasure waits.
    var hasReportedWait = false

    /// Begins an erasure.
    init(_ order: ErasureOrder, isShared: Bool) {
        (self.order, self.isShared) = (order, isShared)
        step = isShared ? .rows : .begin
    }

    /// An erasure whose rows an order of the chain removed.
    static let afterRows = ErasureSteps()

    private init() {
        (order, isShared) = (nil, true)
        step = .rewrite
    }

    /// Continues an erasure that an earlier run left: removes any of its rows that are still there at once.
    init(goingOnWith order: ErasureOrder, _ writer: LedgerWriter) throws(StoreError) {
        var order = order
        order.takesUndecided = true
        (self.order, isShared) = (order, false)
        _ = try writer.erase(order)
        step = .rewrite
    }

    var isDone: Bool { step == .done }

    /// Notes that the order of the chain removed the rows.
    mutating func noteErasedRows() { (step, nextTry, hasReportedWait) = (.rewrite, 0, false) }

    /// Does the next step.
    ///
    /// - Parameter release: makes applied batches durable, and releases the log's segments that are no longer needed.
    /// - Returns: a report, if there is one.
    /// - Throws: the error that prevents the step; after a passing one it is tried again.
    mutating func next(
        _ writer: LedgerWriter, _ log: any BatchLog, release: () throws(StoreError) -> Void
    ) throws(StoreError) -> StoreReport? {
        switch step {
        case .begin:
            try order?.write(in: writer.directory)
            step = .rows
        case .rows:
            guard let order else { return nil }
            let begin = SystemClock.monotonicNanoseconds
            if isShared, try writer.isDecided(order) {
                (step, nextTry) = (.ordered, nil)
                return .orderDue(.erase(order))
            }
            guard !isShared, let receipt = try writer.erase(order) else {
                let now = SystemClock.monotonicNanoseconds
                nextTry = now + max(Self.pause, 10 * (now - begin))
                return nil
            }
            step = .rewrite
            // A new reason to wait is reported again.
            hasReportedWait = false
            return .erasedRows(receipt)
        case .rewrite:
            try writer.rewrite()
            step = .emptyWAL
        case .emptyWAL:
            try writer.emptyWAL()
            // Each batch of the log is now on the disk in the ledger, or still to be applied.
            log.markForErasure()
            step = .log
        case .log:
            if try log.overwriteNextPart() { return nil }
            try release()
            if log.isClean {
                if isShared { try writer.noteRewritten() } else { try ErasureOrder.remove(in: writer.directory) }
                step = .done
                return .erased
            }
            nextTry = SystemClock.monotonicNanoseconds + Self.pause
        case .ordered, .done: break
        }
        return nil
    }
}
