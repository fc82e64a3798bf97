import LinuxSystem
public import PushModel
import Synchronization

/// Rows that become durable together.
public struct CommitBatch: Sendable {
    /// Its number: one more than that of the batch before it.
    public var number: UInt64
    /// Its rows, which the store owns from now on.
    public var rows: RowBuffer
    /// The number of the last request that was accepted, in this batch or before it.
    public var lastSequence: SequenceNumber

    public init(number: UInt64, rows: RowBuffer, lastSequence: SequenceNumber) {
        (self.number, self.rows, self.lastSequence) = (number, rows, lastSequence)
    }
}

/// The durable batches that are not in the ledger yet, in order.
///
/// At most 4 MiB of rows stay in memory; the ledger's thread reads further rows back from the log.
struct Backlog: Sendable {
    struct Entry: Sendable {
        var position: LogPosition
        /// The bytes of its rows.
        var length: Int
        /// Its rows; `nil` if only the log has them.
        var rows: RowBuffer?
        /// The time at which it became durable, in monotonic nanoseconds.
        var durableAt: Int64
        /// Whether its rows are an order, which is applied in a transaction of its own.
        var isOrder: Bool
    }

    /// The limit for rows in memory, in bytes.
    static let memoryLimit = 4 << 20

    private var entries = Queue<Entry>()
    private(set) var bytes = 0
    private var bytesInMemory = 0

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var isEmpty: Bool { entries.isEmpty }

    /// Adds a batch.
    ///
    /// - Returns: its rows if they do not stay in memory.
    mutating func append(_ position: LogPosition, _ rows: RowBuffer, at now: Int64) -> RowBuffer? {
        let length = rows.byteCount
        bytes += length
        let stays = bytesInMemory + length <= Self.memoryLimit
        if stays { bytesInMemory += length }
        entries.append(
            Entry(
                position: position, length: length, rows: stays ? rows : nil, durableAt: now,
                isOrder: ChainOrder.isOrder(rows.rows)))
        return stays ? nil : rows
    }

    /// Removes and returns the oldest batch.
    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        bytes -= entry.length
        if entry.rows != nil { bytesInMemory -= entry.length }
        return entry
    }

    /// Puts back the batches that were removed last.
    mutating func reinsert(_ entries: [Entry]) {
        var rest = Queue<Entry>()
        for entry in entries { rest.append(entry) }
        while let entry = self.entries.popFirst() { rest.append(entry) }
        self.entries = rest
        for entry in entries {
            bytes += entry.length
            if entry.rows != nil { bytesInMemory += entry.length }
        }
    }
}

/// A pool of empty buffers, for the next batches.
final class BufferPool: Sendable {
    private static let count = 4
    private static let capacity = 256 << 10
    private let buffers = Mutex<[RowBuffer]>([])

    func take() -> RowBuffer { buffers.withLock { $0.popLast() } ?? RowBuffer(headroom: BatchHeader.length) }

    func recycle(_ buffer: RowBuffer) {
        buffer.removeAll(keeping: Self.capacity)
        buffers.withLock { if $0.count < Self.count { $0.append(buffer) } }
    }
}
