import CChecksum
import PushModel

/// A log in which batches become durable, and stay until the ledger has them on disk. `CommitLog` is the log of a
/// single machine.
///
/// One thread at a time appends one batch; all other calls are allowed on any thread meanwhile. Each call is for a
/// batch or for a slice of batches, so dispatch through an existential costs little.
protocol BatchLog: AnyObject, Sendable {
    /// The place behind the last batch.
    var position: LogPosition { get }
    /// How full the log is.
    var usage: LogUsage { get }

    /// The version of batches that all its readers read.
    var readers: Int { get }

    // MARK: Writing

    /// Appends a batch, which is durable when the call returns.
    ///
    /// - Parameters:
    ///   - buffer: its rows.
    ///   - lastSequence: the number of the last request that was accepted, in this batch or before it.
    ///   - time: the current time.
    /// - Returns: the place behind it.
    /// - Throws: `fenced` if another writer's batch follows the last one; `logFull` if there is no room until the
    ///   ledger has more on disk, and nothing was written; `noSpace` if the file system has no room, and the same batch
    ///   may be written again; `failed` for any other error: then the content of the disk is unknown. After `fenced`
    ///   and `failed` the caller must append no more.
    func append(_ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime) throws(StoreError) -> LogPosition

    /// Returns whether the log has room now for a batch with so many bytes of rows.
    func hasRoom(for rows: Int) -> Bool

    /// Whether the room will soon run out: time to call `addSegment()`, or to sync the ledger.
    var isShort: Bool { get }

    /// Makes a segment, if few are free and the limit allows it; takes some milliseconds.
    ///
    /// - Returns: whether it made one.
    func addSegment() throws(StoreError) -> Bool

    /// Releases batches.
    ///
    /// - Parameter number: the last batch that the ledger has on disk.
    func release(through number: UInt64)

    /// Notes on the disk that no batch follows the last one, which saves the next start a search. The caller must write
    /// nothing after this call.
    func close() throws(StoreError)

    // MARK: Reading back

    /// Reads the rows of a written batch into an empty buffer.
    ///
    /// - Parameters:
    ///   - position: the place behind the batch.
    ///   - length: the length of its rows, in bytes.
    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError)

    // MARK: Erasing

    /// Marks all present segments: each is overwritten before the next write to it.
    func markForErasure()

    /// Overwrites one free part of the log that holds data to be erased; takes some milliseconds.
    ///
    /// - Returns: whether there was one.
    func overwriteNextPart() throws(StoreError) -> Bool

    /// Whether no part of the log holds data to be erased.
    var isClean: Bool { get }

    /// Whether other machines make ledgers from this log. Then pruning and erasing are rows of the log, and no ledger
    /// removes anything on its own.
    var isShared: Bool { get }
}

extension BatchLog {
    var isShared: Bool { false }
    var readers: Int { RowKind.newestVersion }
}

/// How full a log is.
struct LogUsage: Hashable, Sendable {
    /// Bytes of batches that the ledger may not have on disk yet, with the bytes before them in their segments.
    var used: Int
    /// Bytes of all segments, with the free ones.
    var length: Int
    /// The limit for the bytes of all segments.
    var limit: Int
}

/// A source of the batches that a ledger lacks.
protocol BatchSource: ~Copyable {
    /// Returns the batch that follows a position; `nil` if there is none.
    mutating func next(after position: LogPosition) throws(StoreError) -> LogChain.Batch?

    /// Returns what is damaged behind the last readable batch; `nil` if there is no damage.
    mutating func damage(behind position: LogPosition) throws(StoreError) -> String?
}

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
