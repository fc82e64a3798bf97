/// An error in the format of rows.
public struct RowError: Error, Hashable, Sendable {
    /// The problem, as a sentence without its full stop.
    public var message: String

    /// - Parameter message: the problem, as a sentence without its full stop.
    public init(message: String) { self.message = message }
}

/// Parses rows from bytes, in their order. An incomplete row, or one of an unknown kind, is an error; the reader never
/// reads beyond the bytes.
public struct RowReader {
    private var rest: UnsafeRawBufferPointer

    /// - Parameter bytes: the bytes of ``RowBuffer/rows``; they must outlive the values that are read from them.
    public init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    /// The number of rows of a kind in the bytes of ``RowBuffer/rows``.
    public static func count(of kind: RowKind, in rows: UnsafeRawBufferPointer) -> Int {
        var reader = RowReader(rows)
        var count = 0
        while let (next, _) = try? reader.next() { if next == kind { count += 1 } }
        return count
    }

    /// Returns the next row; `nil` at the end.
    public mutating func next() throws(RowError) -> (kind: RowKind, values: RowValues)? {
        guard let number = rest.first else { return nil }
        guard let kind = RowKind(rawValue: number) else { throw RowError(message: "unknown kind of row: \(number)") }
        guard rest.count >= 5 else { throw RowError(message: "a row ends within its length") }
        let length = Int(UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        guard length <= rest.count - 5 else { throw RowError(message: "a row is longer than its batch") }
        let values = RowValues(UnsafeRawBufferPointer(rebasing: rest[5..<5 + length]))
        rest = UnsafeRawBufferPointer(rebasing: rest[(5 + length)...])
        return (kind, values)
    }
}

/// One value of a row. Texts and bytes point into the row, and are valid only while the row's memory exists.
public enum RowValue {
    case null
    case integer(Int64)
    /// A text in UTF-8.
    case text(UnsafeRawBufferPointer)
    case bytes(UnsafeRawBufferPointer)
}

/// The values of a row, in their order. A row that is older than the last columns of its table ends before them; they
/// read as NULL.
public struct RowValues {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    /// Whether all values have been taken.
    public var isAtEnd: Bool { rest.isEmpty }

    /// The next value; NULL behind the last one.
    ///
    /// - Throws: `RowError` if the value is incomplete.
    public mutating func next() throws(RowError) -> RowValue {
        // Hot path: the ledger's thread reads each value of each row here, so the code uses pointers and no calls.
        guard let start = rest.baseAddress, !rest.isEmpty else { return .null }
        let left = rest.count
        let number = start.load(as: UInt8.self)
        switch number {
        case RowValueTag.null.rawValue:
            skip(1, from: start)
            return .null
        case RowValueTag.smallInteger.rawValue:
            guard left >= 2 else { throw Self.cut }
            skip(2, from: start)
            return .integer(Int64(start.load(fromByteOffset: 1, as: UInt8.self)))
        case RowValueTag.integer.rawValue:
            guard left >= 9 else { throw Self.cut }
            skip(9, from: start)
            return .integer(Int64(littleEndian: start.loadUnaligned(fromByteOffset: 1, as: Int64.self)))
        case RowValueTag.shortText.rawValue:
            guard left >= 2 else { throw Self.cut }
            return .text(try take(Int(start.load(fromByteOffset: 1, as: UInt8.self)), from: start, after: 2))
        case RowValueTag.text.rawValue, RowValueTag.bytes.rawValue:
            guard left >= 5 else { throw Self.cut }
            let length = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
            let bytes = try take(Int(length), from: start, after: 5)
            return number == RowValueTag.text.rawValue ? .text(bytes) : .bytes(bytes)
        default: throw RowError(message: "a value has the unknown type \(number)")
        }
    }

    private static let cut = RowError(message: "a value is longer than its row")

    @inline(__always)
    private mutating func take(
        _ count: Int, from start: UnsafeRawPointer, after head: Int
    ) throws(RowError) -> UnsafeRawBufferPointer {
        guard count <= rest.count - head else { throw Self.cut }
        skip(head + count, from: start)
        return UnsafeRawBufferPointer(start: start + head, count: count)
    }

    @inline(__always)
    private mutating func skip(_ count: Int, from start: UnsafeRawPointer) {
        rest = UnsafeRawBufferPointer(start: start + count, count: rest.count - count)
    }
}

extension RowValues: RowSource {
    /// Whether the next value is NULL.
    public var isNull: Bool { rest.first.map { $0 == RowValueTag.null.rawValue } ?? true }

    /// Skips values.
    public mutating func skip(_ count: Int) throws(RowError) { for _ in 0..<count { _ = try next() } }

    /// Reads a whole number.
    public mutating func integer() throws(RowError) -> Int64 {
        guard case .integer(let value) = try next() else { throw RowError(message: "a value is not a number") }
        return value
    }

    /// Reads a text; `nil` for NULL.
    public mutating func text() throws(RowError) -> String? {
        switch try next() {
        case .null: return nil
        case .text(let text): return String(decoding: text, as: UTF8.self)
        case .integer, .bytes: throw RowError(message: "a value is not a text")
        }
    }

    /// Reads bytes; empty for NULL.
    public mutating func bytes() throws(RowError) -> [UInt8] {
        switch try next() {
        case .null: return []
        case .bytes(let bytes): return Array(bytes)
        case .integer, .text: throw RowError(message: "a value is not bytes")
        }
    }

    /// Reads a word, which the log has as a text.
    public mutating func word<Word: StoredWord>() throws(RowError) -> Word { try name() }

    public func unreadable(_ reason: String) -> RowError { RowError(message: reason) }
}
