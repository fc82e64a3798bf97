import LinuxSystem
import PushModel

/// The steps of an erasure, one after the other on the ledger's thread, with batches between them.
///
/// The order is on the disk before the first row is taken out, and goes when nothing is left of the person: a crash at any
/// time leaves either nothing done, or an order that the next start goes on with. Where machines share the log the order is a
/// row of it, and each ledger knows whether it was written anew since.
struct ErasureSteps {
    private enum Step {
        /// Writes the order.
        case begin
        /// Takes the rows out, or asks for an order of the chain that does.
        case rows
        /// The order is on its way.
        case ordered
        /// Writes the ledger once more, without what is left of them in free pages.
        case rewrite
        /// Empties the WAL, which has the pages as they were.
        case emptyWAL
        /// Overwrites the segments of the log, each once it is free.
        case log
        case done
    }

    /// How long a segment of the log that is still needed, and an outcome, are waited for, in nanoseconds.
    private static let pause: Int64 = 100_000_000

    /// Whom; `nil`: the rows are out.
    private let order: ErasureOrder?
    private let isShared: Bool
    private var step: Step
    /// When the next step is to be done, in monotonic nanoseconds: at once, unless something has to pass first; `nil`: once the
    /// rows are out.
    var nextTry: Int64? = 0
    /// Whether it was told that something keeps it from going on.
    var hasToldOfWait = false

    /// An erasure that begins.
    init(_ order: ErasureOrder, isShared: Bool) {
        (self.order, self.isShared) = (order, isShared)
        step = isShared ? .rows : .begin
    }

    /// One whose rows an order of the chain took out.
    static let afterRows = ErasureSteps()

    private init() {
        (order, isShared) = (nil, true)
        step = .rewrite
    }

    /// One that an earlier run left: takes out its rows at once, whatever of them are left.
    init(goingOnWith order: ErasureOrder, _ writer: LedgerWriter) throws(StoreError) {
        var order = order
        order.takesUndecided = true
        (self.order, isShared) = (order, false)
        _ = try writer.erase(order)
        step = .rewrite
    }

    var isDone: Bool { step == .done }

    /// The order of the chain took the rows out.
    mutating func tookRows() { (step, nextTry, hasToldOfWait) = (.rewrite, 0, false) }

    /// Does the next step.
    ///
    /// - Parameter release: makes what was applied durable, and lets the log's segments go that are not needed any more.
    /// - Returns: what is to be told of it.
    /// - Throws: why it cannot be done; what is passing is tried again.
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
            // What keeps the rest from being done is told anew.
            hasToldOfWait = false
            return .erasedRows(receipt)
        case .rewrite:
            try writer.rewrite()
            step = .emptyWAL
        case .emptyWAL:
            try writer.emptyWAL()
            // Of the batches before, the ledger has all on the disk now, or they are still to be applied.
            log.taint()
            step = .log
        case .log:
            if try log.cleanAnother() { return nil }
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
