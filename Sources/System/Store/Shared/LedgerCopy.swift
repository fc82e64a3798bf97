import Glibc
import LinuxSystem
public import PushModel

/// A node's copy of a shard: a ledger that applies the batches of the chain in order. For one thread.
///
/// Each reading checks rule R4: it reads the ledger's last batch again, which must be the chain's.
public final class LedgerCopy {
    let writer: LedgerWriter
    /// The last batch of the ledger; `nil` until it is compared with the chain's.
    private var compared: BatchReference?
    /// The insertion time of the last batch that was read, on this machine's monotonic clock; `nil` if only the chain's
    /// start was read.
    private(set) var lastBatchAt: Instant?
    /// The number of the chain's last batch at the last reading.
    public private(set) var tail: UInt64 = 0
    /// Whether the ledger is to be rewritten, because free pages may have data of an erased person.
    private var isRewriteDue: Bool
    /// The time of the next try, in monotonic nanoseconds.
    private var nextRewrite: Int64 = 0
    /// The number of long spans of figures that one call adds up.
    private static let rollUpsAtOnce = 16
    /// The number of batches in one reading; a reading of fewer reached the chain's end.
    private static let readingLimit = 64
    /// The version of the last batch.
    public private(set) var version = 1
    /// The highest version of batches that this copy applies.
    private let reads: Int

    /// Opens the ledger of a directory that this process has locked. An empty ledger becomes a copy of the chain.
    ///
    /// - Throws: `otherFleet` or `forked` for the ledger of one machine, or of another chain.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - identity: the chain.
    ///   - reads: the highest version of batches to apply.
    public convenience init(
        directory: String, of identity: ShardIdentity, reads: Int = ChainBatch.currentVersion
    ) throws(StoreError) {
        let writer = try LedgerWriter(directory: directory)
        try self.init(writer, of: identity, reads: reads)
        try Self.removeLocalLog(of: writer)
        try writer.prepareRows()
    }

    init(
        _ writer: LedgerWriter, of identity: ShardIdentity, reads: Int = ChainBatch.currentVersion
    ) throws(StoreError) {
        self.reads = reads
        try writer.join(identity.state)
        self.writer = writer
        isRewriteDue = try writer.leftErasure() != nil
    }

    /// Removes the log that the ledger had on one machine.
    ///
    /// - Throws: `forked` if it has batches that the ledger lacks: the chain began without them.
    private static func removeLocalLog(of writer: LedgerWriter) throws(StoreError) {
        guard let log = try LogDirectory(reading: writer.directory, state: writer.stateID) else { return }
        let segments = try log.segmentsForReading()
        var chain = try LogChain(segments)
        guard try chain.next(after: writer.position) == nil, try chain.damage(behind: writer.position) == nil else {
            throw .forked("the log in the state directory has batches behind \(writer.position.number)")
        }
        for segment in segments { segment.remove() }
        rmdir(log.path)
    }

    /// The number of the last batch that the ledger has.
    public var number: UInt64 { writer.position.number }

    /// The last batch of the ledger, compared with the chain's by the last reading.
    public var reference: BatchReference? { compared }

    /// Reads some of the next batches and applies them in one transaction; each order has a transaction of its own.
    ///
    /// - Parameters:
    ///   - engine: the session to read with.
    ///   - clocks: learns the clocks of the machines that wrote the batches.
    /// - Returns: how many batches were applied; 0 if the copy is up to date.
    /// - Throws: `engineAway`; `forked` if the ledger's last batch is not the chain's: then the whole copy must be set
    ///   aside; `contradiction` and other errors of the ledger.
    public func catchUp(from engine: any ShardEngine, clocks: inout BootClocks) throws(StoreError) -> Int {
        let stored: [StoredBatch]
        do throws(EngineProblem) {
            // Without new batches, the tail's id is less to read than the last batch.
            if let compared {
                let last = try engine.tail().reference
                tail = last.number
                if last == compared { return 0 }
            }
            stored = try engine.batches(from: number, atMost: Self.readingLimit)
        } catch {
            throw StoreError(error)
        }
        let now = Instant(nanoseconds: SystemClock.monotonicNanoseconds)
        if let last = stored.last, last.batch.reference.number > 0 {
            lastBatchAt = now + .nanoseconds(-max(.zero, last.age).nanoseconds)
            tail = max(tail, last.batch.reference.number)
        }
        let next = try readable(try compare(stored))
        version = (next.last ?? stored.first)?.batch.version ?? version
        guard var reference = compared else { preconditionFailure("the comparison notes it") }
        var position = writer.position
        var (rows, last): ([UInt8], ChainBatch?) = ([], nil)
        func apply() throws(StoreError) {
            guard let batch = last else { return }
            try self.apply(rows, of: batch, through: position)
            (rows, last) = ([], nil)
        }
        for entry in next {
            let batch = entry.batch
            guard batch.reference.number == reference.number + 1, batch.previous == reference.id else {
                throw .forked("batch \(batch.reference.number) does not follow batch \(reference.number)")
            }
            // An order is applied in a transaction of its own.
            let isOrder = batch.hasOrder
            if isOrder { try apply() }
            (position, reference) = (try Self.take(batch, after: position, into: &rows), batch.reference)
            last = batch
            clocks.read(entry, at: now)
            if isOrder { try apply() }
        }
        try apply()
        if let last = stored.first { clocks.read(last, at: now) }
        return next.count
    }

    /// Applies the rows of batches.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - batch: the last batch.
    ///   - position: the place behind it.
    private func apply(_ rows: [UInt8], of batch: ChainBatch, through position: LogPosition) throws(StoreError) {
        do throws(StoreError) {
            if case .erased = try writer.apply(rows, through: position) { isRewriteDue = true }
        } catch let error where error.kind == .contradiction {
            throw .forked("the batches up to \(position.number) cannot be applied: \(error.message)")
        }
        try compareCursor(batch)
        compared = batch.reference
    }

    // MARK: Keeping house

    /// The result of housekeeping.
    public enum Housekeeping: Hashable, Sendable {
        /// Nothing to report.
        case done
        /// No data is left of a person whom an order erased.
        case erased
        /// The rest of an erasure waits.
        case waits(StoreError)
    }

    /// Adds up figures, gives pages back, and rewrites the ledger after an erasure, which takes a time proportional to
    /// its length. It changes no rows: a copy prunes and erases only by orders of the chain.
    public func runMaintenance() throws(StoreError) -> Housekeeping {
        let begin = SystemClock.monotonicNanoseconds
        do throws(StoreError) {
            var count = 0
            while writer.isRollUpDue, count < Self.rollUpsAtOnce {
                try writer.rollUp()
                count += 1
            }
            _ = try writer.releasePages(bytes: Pruning.bytesReleasedAtOnce)
            guard isRewriteDue, begin >= nextRewrite else { return .done }
            try writer.rewrite()
            try writer.emptyWAL()
            try writer.noteRewritten()
            isRewriteDue = false
            return .erased
        } catch let error where error.isTransient || error.kind == .notPermitted {
            let now = SystemClock.monotonicNanoseconds
            nextRewrite = now + max(LedgerLoop.retryInterval.nanoseconds, 10 * (now - begin))
            return isRewriteDue ? .waits(error) : .done
        }
    }

    /// Makes every applied batch durable, and keeps the WAL short.
    public func sync() throws(StoreError) {
        if writer.hasLog(of: LedgerWriter.idleCheckpointLength) { try writer.checkpoint() }
        try writer.sync()
    }

    /// Returns the batches before the first one that only a newer program can read.
    ///
    /// - Throws: `newerSchema` if that is the first batch.
    private func readable(_ batches: [StoredBatch]) throws(StoreError) -> [StoredBatch] {
        let readable = batches.prefix { $0.batch.version <= reads }
        guard readable.isEmpty, let first = batches.first?.batch else { return Array(readable) }
        throw StoreError(
            .newerSchema,
            message: "batch \(first.reference.number) has version \(first.version), and this program reads \(reads)",
            context: StoreError.engine)
    }

    /// Compares the ledger's last batch with the chain's.
    ///
    /// - Parameter stored: the engine's batches from that batch's number on.
    /// - Returns: the batches after it.
    private func compare(_ stored: [StoredBatch]) throws(StoreError) -> [StoredBatch] {
        // The ledger stores the checksum of its last batch, which covers the id.
        let last: BatchReference
        if let compared { last = compared } else { last = try first(stored) }
        switch CopyCheck(last: last, batches: stored) {
        case .follows(let next):
            compared = last
            return next
        case .ahead: throw .forked("the ledger has batch \(number), and the chain ends before it")
        case .another: throw .forked("batch \(number) of the ledger is not that of the chain")
        case .trimmed(let first): throw trimmed(first)
        }
    }

    /// Compares the ledger's event cursor with the writer's: no other check finds a copy whose content differs.
    ///
    /// - Parameter batch: the ledger's last batch.
    private func compareCursor(_ batch: ChainBatch) throws(StoreError) {
        let cursor = try writer.lastCursor()
        guard let expected = batch.lastCursor, expected != cursor else { return }
        throw .forked(
            "the ledger has \(cursor) events up to batch \(batch.reference.number); the leader had \(expected)")
    }

    private func first(_ stored: [StoredBatch]) throws(StoreError) -> BatchReference {
        guard number > 0 else { return .start }
        guard let batch = stored.first?.batch else {
            throw .forked("the ledger has batch \(number), and the chain ends before it")
        }
        guard batch.reference.number <= number + 1 else { throw trimmed(batch.reference) }
        if batch.reference.number > number {
            // The batch itself was deleted; the next one has its checksum and id.
            let header = batch.bytes.withUnsafeBytes(BatchHeader.init)
            guard header?.previousChecksum == writer.position.checksum else { throw trimmed(batch.reference) }
            return BatchReference(number: number, id: batch.previous)
        }
        guard batch.bytes.withUnsafeBytes(Self.checksum) == writer.position.checksum else {
            throw .forked("batch \(number) of the ledger is not that of the chain")
        }
        try compareCursor(batch)
        return batch.reference
    }

    /// Makes the error for a copy that is too old: it needs a snapshot.
    private func trimmed(_ first: BatchReference) -> StoreError {
        .forked("the ledger ends with batch \(number), and the chain begins with \(first.number)")
    }

    /// Checks a batch, and appends its rows to `rows`.
    private static func take(
        _ batch: ChainBatch, after position: LogPosition, into rows: inout [UInt8]
    ) throws(StoreError) -> LogPosition {
        let taken = batch.bytes.withUnsafeBytes { bytes -> LogPosition? in
            guard let header = BatchHeader(bytes), header.number == batch.reference.number,
                header.id == batch.reference.id, header.previousChecksum == position.checksum,
                bytes.count == BatchHeader.length + header.rowsLength, let checksum = checksum(bytes)
            else { return nil }
            rows.append(contentsOf: bytes[BatchHeader.length...])
            return LogPosition(number: header.number, checksum: checksum, segment: 0, end: 0)
        }
        guard let taken else {
            throw StoreError(
                .logDamaged, message: "batch \(batch.reference.number) is damaged", context: StoreError.engine)
        }
        return taken
    }

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        bytes.count >= BatchHeader.length ? BatchHeader.verifiedChecksum(bytes) : nil
    }
}

extension ChainBatch {
    /// Whether the batch is an order.
    fileprivate var hasOrder: Bool {
        bytes.withUnsafeBytes {
            $0.count > BatchHeader.length
                && ChainOrder.isOrder(UnsafeRawBufferPointer(rebasing: $0[BatchHeader.length...]))
        }
    }
}

extension StoreError {
    fileprivate static func forked(_ message: String) -> StoreError {
        StoreError(.forked, message: message, context: engine)
    }
}
