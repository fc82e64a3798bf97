/// Rows for the ledger as bytes, in the order in which they were decided: what the log writes, and what is applied to the
/// database, with nothing between them that is made anew.
///
/// A row is its kind, the length of its values in four bytes, and the values (``RowKind``, `RowValueTag`). The memory
/// begins at a multiple of ``alignment`` and has ``headroom`` free before the first row, so that the log can put its
/// header there and hand all of it to the disk as it is.
///
/// `@unchecked Sendable` is sound by ownership: one thread has the buffer at a time. The loop fills it, then gives it to
/// the thread that writes the log, which gives it to the thread that writes the database; each is done with it before
/// it lets go.
public final class RowBuffer: @unchecked Sendable {
    /// Direct writes to a disk need memory at a multiple of this, in bytes.
    public static let alignment = 4096
    /// How many bytes a row is sure to have room for beside its texts and bytes: of no kind the numbers take as many.
    static let margin = 512

    /// How many bytes are left free before the first row.
    public let headroom: Int
    /// All of the memory: the headroom, the rows, and what is free behind them.
    public private(set) var memory: UnsafeMutableRawBufferPointer
    /// Where the rows end, counted from the beginning of the memory.
    public private(set) var end: Int
    /// How many rows there are.
    public private(set) var rowCount = 0
    /// The version of batches that has all kinds of its rows.
    public internal(set) var version = 1

    /// An empty buffer.
    ///
    /// - Parameters:
    ///   - headroom: how many bytes are left free before the first row.
    ///   - capacity: for how many bytes there is room at first; it grows when it must.
    public init(headroom: Int = 64, capacity: Int = 16 << 10) {
        self.headroom = headroom
        end = headroom
        memory = Self.allocate(headroom + capacity)
    }

    deinit { memory.deallocate() }

    /// How many bytes the rows have.
    public var byteCount: Int { end - headroom }

    /// Whether there is no row.
    public var isEmpty: Bool { rowCount == 0 }

    /// The rows.
    public var rows: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[headroom..<end]) }

    /// Takes all rows out.
    ///
    /// - Parameter capacity: memory beyond this many bytes is given back.
    public func removeAll(keeping capacity: Int = .max) {
        end = headroom
        rowCount = 0
        version = 1
        guard memory.count > max(capacity, headroom + Self.margin) else { return }
        memory.deallocate()
        memory = Self.allocate(headroom + capacity)
    }

    /// Fills with zeros what follows the rows up to a multiple of ``alignment``.
    ///
    /// - Returns: the length up to there, counted from the beginning of the memory.
    public func padToAlignment() -> Int {
        let length = (end + Self.alignment - 1) / Self.alignment * Self.alignment
        reserve(length - end)
        memory[end..<length].initializeMemory(as: UInt8.self, repeating: 0)
        return length
    }

    /// Takes over rows that were written before: all of a batch's blocks as they lie on a disk, from the headroom on.
    ///
    /// - Parameters:
    ///   - length: how many bytes the rows have.
    ///   - blocks: how many bytes are to be read, headroom and padding among them.
    ///   - read: reads them into the memory that it is given, and returns how many bytes it read.
    /// - Returns: whether all were read. If not, there are no rows.
    public func fill(rows length: Int, blocks: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
        precondition(headroom + length <= blocks, "the rows are within their blocks")
        removeAll()
        reserve(blocks)
        guard read(UnsafeMutableRawBufferPointer(rebasing: memory[..<blocks])) == blocks else { return false }
        end = headroom + length
        return true
    }

    /// Appends a row.
    ///
    /// - Parameters:
    ///   - kind: its kind.
    ///   - values: writes its values.
    @inline(__always)
    func append(_ kind: RowKind, _ values: (inout RowWriter) -> Void) {
        let start = end
        reserve(Self.margin)
        var writer = RowWriter(self, at: start + 5)
        values(&writer)
        let length = writer.finish() - start - 5
        memory.storeBytes(of: kind.rawValue, toByteOffset: start, as: UInt8.self)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: length).littleEndian, toByteOffset: start + 1, as: UInt32.self)
        end = start + 5 + length
        rowCount += 1
        version = max(version, kind.since)
    }

    /// Appends the row of a record, or of one value.
    @inline(__always)
    func append<Value: StoredValue>(_ kind: RowKind, _ value: Value) { append(kind) { value.write(to: &$0) } }

    /// Makes room for so many bytes behind the rows.
    func reserve(_ count: Int) { if memory.count - end < count { grow(used: end, by: count) } }

    /// Moves to larger memory, of which the first `used` bytes are kept.
    @inline(never)
    fileprivate func grow(used: Int, by count: Int) {
        let larger = Self.allocate(max(memory.count * 2, used + count))
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
        memory.deallocate()
        memory = larger
    }

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: (count + alignment - 1) / alignment * alignment, alignment: alignment)
    }
}

/// Writes the values of one row.
///
/// The pointers are good: each text and each array of bytes makes room for itself and for all numbers that may follow.
public struct RowWriter {
    private let buffer: RowBuffer
    private var start: UnsafeMutableRawPointer
    private var cursor: UnsafeMutableRawPointer
    private var limit: UnsafeMutableRawPointer

    @inline(__always)
    fileprivate init(_ buffer: RowBuffer, at offset: Int) {
        self.buffer = buffer
        guard let start = buffer.memory.baseAddress else { preconditionFailure("a buffer has memory") }
        self.start = start
        cursor = start + offset
        limit = start + buffer.memory.count
    }

    /// Where the values end, counted from the beginning of the memory.
    @inline(__always)
    fileprivate func finish() -> Int { cursor - start }

    @inline(__always)
    mutating func nulls(_ count: Int) { for _ in 0..<count { tag(.null) } }

    /// A whole number.
    @inline(__always)
    mutating func integer(_ value: Int64) {
        if value >= 0, value < 256 {
            tag(.smallInteger)
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            cursor += 1
        } else {
            tag(.integer)
            cursor.storeBytes(of: value.littleEndian, as: Int64.self)
            cursor += 8
        }
    }

    /// A text of any length, NUL characters included.
    mutating func text(_ value: String) {
        value.utf8Span.span.withUnsafeBytes { append($0, isText: true) }
    }

    mutating func bytes(_ value: [UInt8]) { value.withUnsafeBytes { append($0, isText: false) } }

    /// The 16 bytes of an id, the highest first.
    mutating func uuid(_ value: UUID128) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { append($0, isText: false) }
    }

    private mutating func append(_ value: UnsafeRawBufferPointer, isText: Bool) {
        makeRoom(for: value.count)
        if isText, value.count < 256 {
            tag(.shortText)
            cursor.storeBytes(of: UInt8(truncatingIfNeeded: value.count), as: UInt8.self)
            cursor += 1
        } else {
            tag(isText ? .text : .bytes)
            cursor.storeBytes(of: UInt32(truncatingIfNeeded: value.count).littleEndian, as: UInt32.self)
            cursor += 4
        }
        if let source = value.baseAddress { cursor.copyMemory(from: source, byteCount: value.count) }
        cursor += value.count
    }

    @inline(__always)
    private mutating func makeRoom(for count: Int) {
        if limit - cursor < count + RowBuffer.margin { grow(count) }
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        let used = cursor - start
        buffer.grow(used: used, by: count + RowBuffer.margin)
        self = RowWriter(buffer, at: used)
    }

    @inline(__always)
    private mutating func tag(_ tag: RowValueTag) {
        cursor.storeBytes(of: tag.rawValue, as: UInt8.self)
        cursor += 1
    }
}
