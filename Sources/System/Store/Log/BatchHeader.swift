import CChecksum
import PushModel

/// The 64 bytes before the rows of a batch in the log; all numbers are little-endian.
///
/// | bytes | what |
/// | --- | --- |
/// | 0-3 | the magic number |
/// | 4-7 | the CRC-32C of all bytes from 8 to the end of the rows |
/// | 8-15 | the batch's number |
/// | 16-19 | the checksum of the batch before it |
/// | 20-23 | the length of the rows |
/// | 24-31 | the last batch that the ledger had on disk at the time of this write |
/// | 32-39 | the number of the last request that was accepted |
/// | 40-47 | the time of the write, in milliseconds since 1970 |
/// | 48-63 | the random id that its writer chose; zeros in the log of one machine |
struct BatchHeader: Hashable, Sendable {
    /// In bytes.
    static let length = 64
    /// "PLB1".
    private static let magic: UInt32 = 0x3142_4C50

    /// The batch's number: one more than that of the batch before it.
    var number: UInt64
    /// The checksum of the batch before it. It links the chain: an older batch in the same place cannot match by
    /// chance.
    var previousChecksum: UInt32
    /// The length of the rows, in bytes.
    var rowsLength: Int
    /// The last batch that the ledger had on disk; a start may have to apply the batches after it again.
    var released: UInt64
    /// The number of the last request that was accepted, in this batch or before it.
    var lastSequence: SequenceNumber
    /// The time of the write.
    var writtenAt: WallTime
    /// The id that distinguishes it from another writer's batch with the same number and rows; zero in the log of one
    /// machine.
    var id = UUID128(high: 0, low: 0)

    /// The bytes that the batch takes in the log, with the padding of zeros.
    var blocksLength: Int { Self.blocksLength(rows: rowsLength) }

    static func blocksLength(rows: Int) -> Int {
        (length + rows + RowBuffer.alignment - 1) / RowBuffer.alignment * RowBuffer.alignment
    }

    /// Writes the header before the rows of a buffer.
    ///
    /// - Returns: the batch's checksum.
    func write(to buffer: RowBuffer) -> UInt32 {
        precondition(buffer.headroom == Self.length && buffer.byteCount == rowsLength)
        let memory = buffer.memory
        memory[..<Self.length].initializeMemory(as: UInt8.self, repeating: 0)
        memory.storeBytes(of: Self.magic.littleEndian, toByteOffset: 0, as: UInt32.self)
        memory.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        memory.storeBytes(of: previousChecksum.littleEndian, toByteOffset: 16, as: UInt32.self)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: rowsLength).littleEndian, toByteOffset: 20, as: UInt32.self)
        memory.storeBytes(of: released.littleEndian, toByteOffset: 24, as: UInt64.self)
        memory.storeBytes(of: lastSequence.value.littleEndian, toByteOffset: 32, as: Int64.self)
        memory.storeBytes(of: writtenAt.milliseconds.littleEndian, toByteOffset: 40, as: Int64.self)
        memory.storeBytes(of: id.high.bigEndian, toByteOffset: 48, as: UInt64.self)
        memory.storeBytes(of: id.low.bigEndian, toByteOffset: 56, as: UInt64.self)
        let checksum = Self.checksum(UnsafeRawBufferPointer(rebasing: memory[..<(Self.length + rowsLength)]))
        memory.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
        return checksum
    }

    /// Reads a header; `nil` if the bytes hold none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func load<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        guard bytes.count >= Self.length, load(0, UInt32.self) == Self.magic else { return nil }
        number = load(8, UInt64.self)
        // A higher number leaves no number for a next batch, and no version wrote one.
        guard number <= UInt64(StoredRange.number.upperBound) else { return nil }
        previousChecksum = load(16, UInt32.self)
        rowsLength = Int(load(20, UInt32.self))
        released = load(24, UInt64.self)
        lastSequence = SequenceNumber(load(32, Int64.self))
        writtenAt = WallTime(milliseconds: load(40, Int64.self))
        id = UUID128(high: load(48, UInt64.self).byteSwapped, low: load(56, UInt64.self).byteSwapped)
    }

    init(
        number: UInt64, previousChecksum: UInt32, rowsLength: Int, released: UInt64, lastSequence: SequenceNumber,
        writtenAt: WallTime, id: UUID128 = UUID128(high: 0, low: 0)
    ) {
        self.number = number
        self.previousChecksum = previousChecksum
        self.rowsLength = rowsLength
        self.released = released
        self.lastSequence = lastSequence
        self.writtenAt = writtenAt
        self.id = id
    }

    /// Returns the checksum of a whole batch, header and rows; `nil` if it differs from the one in the header.
    static func verifiedChecksum(_ batch: UnsafeRawBufferPointer) -> UInt32? {
        let stored = UInt32(littleEndian: batch.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        return checksum(batch) == stored ? stored : nil
    }

    private static func checksum(_ batch: UnsafeRawBufferPointer) -> UInt32 {
        CChecksum_crc32c(0, batch.baseAddress.map { $0 + 8 }, batch.count - 8)
    }
}

/// A place in the log, behind a batch. The ledger stores the place behind its last applied batch.
struct LogPosition: Hashable, Sendable {
    /// The batch's number; 0 before the first.
    var number: UInt64
    /// The batch's checksum.
    var checksum: UInt32
    /// The segment that has the batch; 0 means none.
    var segment: UInt32
    /// The end of the batch in its segment, in bytes.
    var end: Int

    /// Before the first batch.
    static let start = LogPosition(number: 0, checksum: 0, segment: 0, end: 0)
}
