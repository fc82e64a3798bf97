import Synchronization

@testable import PushModel
@testable import Store

/// Batches in memory, which outlive the daemons that write them.
final class MemoryBatches: Sendable {
    struct Batch: Sendable {
        var number: UInt64
        var checksum: UInt32
        /// Header and rows.
        var bytes: [UInt8]
    }

    private let batches = Mutex<[Batch]>([])

    /// Appends a batch behind a position, unless another batch is there.
    func append(_ batch: Batch, after position: LogPosition) -> Bool {
        batches.withLock { batches in
            guard batches.last?.checksum ?? 0 == position.checksum else { return false }
            batches.append(batch)
            return true
        }
    }

    func batch(_ number: UInt64) -> Batch? { batches.withLock { $0.first { $0.number == number } } }
    var count: Int { batches.withLock(\.count) }
}

/// A log in memory that other daemons may write as well.
final class MemoryLog: BatchLog {
    private let batches: MemoryBatches
    private let state = Mutex(LogPosition.start)

    init(_ batches: MemoryBatches) { self.batches = batches }

    /// Applies the missing batches to a ledger, and appends behind them.
    func open(_ writer: LedgerWriter, _ now: WallTime) throws(StoreError) -> (
        log: any BatchLog, summary: RecoverySummary
    ) {
        var summary = RecoverySummary()
        var source = MemorySource(batches)
        if let damage = try Recovery.replay(&source, writer, onBatch: { summary.batches += 1 }) {
            throw StoreError(.logDamaged, message: damage, context: "memory")
        }
        state.withLock { $0 = writer.position }
        return (self, summary)
    }

    var position: LogPosition { state.withLock(\.self) }
    var usage: LogUsage { LogUsage(used: 0, length: 0, limit: .max) }
    func hasRoom(for rows: Int) -> Bool { true }
    var isShort: Bool { false }
    func addSegment() -> Bool { false }
    func release(through number: UInt64) {}
    func close() {}
    func markForErasure() {}
    func overwriteNextPart() -> Bool { false }
    var isClean: Bool { true }

    func append(
        _ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime
    ) throws(StoreError) -> LogPosition {
        let last = position
        let header = BatchHeader(
            number: last.number + 1, previousChecksum: last.checksum, rowsLength: buffer.byteCount, released: 0,
            lastSequence: lastSequence, writtenAt: time)
        let checksum = header.write(to: buffer)
        let batch = MemoryBatches.Batch(
            number: header.number, checksum: checksum, bytes: Array(buffer.memory[..<buffer.end]))
        guard batches.append(batch, after: last) else {
            throw StoreError(.fenced, message: "batch \(header.number) is somebody else's", context: "memory")
        }
        let position = LogPosition(number: header.number, checksum: checksum, segment: 0, end: 0)
        state.withLock { $0 = position }
        return position
    }

    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError) {
        guard let batch = batches.batch(position.number), batch.checksum == position.checksum,
            buffer.fill(
                rows: length, blocks: batch.bytes.count,
                { memory in
                    memory.copyBytes(from: batch.bytes)
                    return batch.bytes.count
                })
        else { throw StoreError(.failed, message: "batch \(position.number) is not there", context: "memory") }
    }
}

/// The batches that a ledger lacks.
struct MemorySource: BatchSource, ~Copyable {
    private let batches: MemoryBatches
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)

    init(_ batches: MemoryBatches) { self.batches = batches }

    deinit { memory.deallocate() }

    mutating func next(after position: LogPosition) -> LogChain.Batch? {
        guard let batch = batches.batch(position.number + 1) else { return nil }
        memory.copyBytes(from: batch.bytes)
        let blocks = UnsafeRawBufferPointer(rebasing: memory[..<batch.bytes.count])
        guard let header = BatchHeader(blocks), header.previousChecksum == position.checksum else { return nil }
        return LogChain.Batch(
            header: header, position: LogPosition(number: batch.number, checksum: batch.checksum, segment: 0, end: 0),
            blocks: blocks)
    }

    mutating func damage(behind position: LogPosition) -> String? {
        batches.batch(position.number + 1).map { "batch \($0.number) does not follow what the ledger has" }
    }
}
