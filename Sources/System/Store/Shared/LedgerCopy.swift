import Glibc
import LinuxSystem
public import PushFleet
import PushModel

/// A node's copy of a shard: its ledger, to which the batches of the chain are applied in their order. For one thread.
///
/// The rule R4 holds at each reading: the last batch that the ledger has is read again, and it must be the chain's.
public final class LedgerCopy {
    let writer: LedgerWriter
    /// The last batch of the ledger; `nil` before it was compared with the chain's.
    private var compared: BatchReference?
    /// When the last batch that was read was inserted, on this machine's monotonic clock; `nil`: none but the chain's start.
    private(set) var lastBatchAt: Instant?
    /// The number of the last batch of the chain, as the last reading found it.
    public private(set) var tail: UInt64 = 0
    /// Whether the ledger is to be written anew, because free pages have something of a person.
    private var isRewriteDue: Bool
    /// When that is tried again, in monotonic nanoseconds.
    private var nextRewrite: Int64 = 0
    /// How many long spans of figures are added up at once.
    private static let rollUpsAtOnce = 16
    /// How many batches a reading asks for: one that applied fewer left nothing.
    private static let readingLimit = 64
    /// The version of the last batch.
    public private(set) var version = 1
    /// The highest version that is applied.
    private let reads: Int

    /// Opens the ledger of a directory that this process has locked. An empty one becomes a copy of the chain.
    ///
    /// - Throws: `otherFormat` for the ledger of one machine, or of another chain.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - identity: the chain.
    ///   - reads: the highest version of batches that is applied.
    public convenience init(
        directory: String, of identity: ShardIdentity, reads: Int = ChainBatch.currentVersion
    ) throws(StoreError) {
        let writer = try LedgerWriter(directory: directory)
        try self.init(writer, of: identity, reads: reads)
        try Self.leaveLog(of: writer)
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

    /// Removes the log that the ledger had on one machine, and needs no more.
    ///
    /// - Throws: `forked` when it has batches that the ledger has not: the chain began without them.
    private static func leaveLog(of writer: LedgerWriter) throws(StoreError) {
        guard let log = try LogDirectory(reading: writer.directory, state: writer.stateID) else { return }
        let segments = try log.segmentsForReading()
        var chain = try LogChain(segments)
        guard try chain.next(after: writer.position) == nil, try chain.damage(behind: writer.position) == nil else {
            throw .forked("the log of one machine goes on behind batch \(writer.position.number)")
        }
        for segment in segments { segment.remove() }
        rmdir(log.path)
    }

    /// The number of the last batch that the ledger has.
    public var number: UInt64 { writer.position.number }

    /// The last batch of the ledger, compared with the chain's by the last reading.
    public var reference: BatchReference? { compared }

    /// Reads what follows, some batches at most, and applies it in one transaction, but for orders, which have their own.
    ///
    /// - Parameters:
    ///   - engine: the session to read by.
    ///   - clocks: learns the clocks of the machines that wrote the batches.
    /// - Returns: how many batches were applied; 0: the copy has all that there is.
    /// - Throws: `engineAway`; `forked` when the ledger's last batch is not the chain's: the copy is to be set aside whole;
    ///   `contradiction` and others of the ledger.
    public func catchUp(from engine: any ShardEngine, clocks: inout BootClocks) throws(StoreError) -> Int {
        let stored: [StoredBatch]
        do throws(EngineProblem) {
            // An id is less to read than the last batch, each time that there is nothing new.
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
            // An order is applied alone.
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
    ///   - batch: the last one.
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

    /// What a copy does of itself.
    public enum Housekeeping: Hashable, Sendable {
        /// Nothing that anybody is told of.
        case done
        /// Nothing is left of a person whom an order took out.
        case erased
        /// What is left of one waits.
        case waits(StoreError)
    }

    /// Adds up figures, gives pages back, and writes the ledger anew after an erasure, which takes as long as its length
    /// takes. What rows there are is not changed by it: a copy prunes and erases by the rows of the chain alone.
    public func keepHouse() throws(StoreError) -> Housekeeping {
        let begin = SystemClock.monotonicNanoseconds
        do throws(StoreError) {
            var count = 0
            while writer.isRollUpDue, count < Self.rollUpsAtOnce {
                try writer.rollUp()
                count += 1
            }
            _ = try writer.giveBack(bytes: Pruning.givenBackAtOnce)
            guard isRewriteDue, begin >= nextRewrite else { return .done }
            try writer.rewrite()
            try writer.emptyWAL()
            try writer.noteRewritten()
            isRewriteDue = false
            return .erased
        } catch let error where error.isPassing || error.kind == .notPermitted {
            let now = SystemClock.monotonicNanoseconds
            nextRewrite = now + max(LedgerLoop.retryInterval.nanoseconds, 10 * (now - begin))
            return isRewriteDue ? .waits(error) : .done
        }
    }

    /// Makes all that was applied durable, and keeps the WAL short.
    public func sync() throws(StoreError) {
        if writer.hasLog(of: LedgerWriter.idleCheckpointLength) { try writer.checkpoint() }
        try writer.sync()
    }

    /// The batches up to the first one that only a newer program reads.
    ///
    /// - Throws: `newerSchema` when there is no other.
    private func readable(_ batches: [StoredBatch]) throws(StoreError) -> [StoredBatch] {
        let readable = batches.prefix { $0.batch.version <= reads }
        guard readable.isEmpty, let first = batches.first?.batch else { return Array(readable) }
        throw StoreError(
            .newerSchema,
            message: "batch \(first.reference.number) has version \(first.version), and this program reads \(reads): "
                + "upgrade it", context: StoreError.engine)
    }

    /// Compares the ledger's last batch with the chain's.
    ///
    /// - Parameter stored: what the engine gave from that batch's number on.
    /// - Returns: what follows it.
    private func compare(_ stored: [StoredBatch]) throws(StoreError) -> [StoredBatch] {
        // A ledger has the checksum of its last batch, which covers the id.
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

    /// Compares the last event that the ledger counted with the writer's: nothing else finds a copy that drifts.
    ///
    /// - Parameter batch: the last one that the ledger has.
    private func compareCursor(_ batch: ChainBatch) throws(StoreError) {
        let cursor = try writer.lastCursor()
        guard let expected = batch.lastCursor, expected != cursor else { return }
        throw .forked(
            "the ledger counts \(cursor) events up to batch \(batch.reference.number), and its writer \(expected)")
    }

    private func first(_ stored: [StoredBatch]) throws(StoreError) -> BatchReference {
        guard number > 0 else { return .start }
        guard let batch = stored.first?.batch else {
            throw .forked("the ledger has batch \(number), and the chain ends before it")
        }
        guard batch.reference.number <= number + 1 else { throw trimmed(batch.reference) }
        if batch.reference.number > number {
            // The batch itself was deleted; the one behind it names it.
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

    /// The copy is too old: only a snapshot leads on.
    private func trimmed(_ first: BatchReference) -> StoreError {
        .forked("the ledger ends with batch \(number), and the chain begins with \(first.number)")
    }

    /// Checks a batch, and adds its rows to others.
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
    /// Whether its rows are an order.
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
