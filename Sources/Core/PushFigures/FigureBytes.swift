/// Bytes that are not the figures they should be.
public struct FigureError: Error, Hashable, Sendable {
    /// What is wrong, as a sentence without its end.
    public let message: String

    static let unreadable = FigureError(message: "these bytes are no figures")
}

/// Writes figures as bytes: whole numbers from 0 on, seven bits a byte, the lowest first, the eighth bit set where more
/// bytes follow.
struct FigureWriter {
    private(set) var bytes: [UInt8] = []

    mutating func number(_ value: Int) {
        var rest = UInt64(max(0, value))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ other: FigureWriter) { bytes.append(contentsOf: other.bytes) }

    mutating func text(_ value: String) {
        number(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads what ``FigureWriter`` wrote; it never reads beyond the bytes.
struct FigureReader {
    private var rest: UnsafeRawBufferPointer

    /// - Parameter bytes: they must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() throws(FigureError) -> Int {
        var (value, shift) = (UInt64(0), UInt64(0))
        var used = 0
        for byte in rest {
            used += 1
            value |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else {
                rest = UnsafeRawBufferPointer(rebasing: rest[used...])
                guard let number = Int(exactly: value) else { throw FigureError.unreadable }
                return number
            }
            shift += 7
            guard shift < 63 else { throw FigureError.unreadable }
        }
        throw FigureError.unreadable
    }

    mutating func number(below limit: Int) throws(FigureError) -> Int {
        let value = try number()
        guard value < limit else { throw FigureError.unreadable }
        return value
    }

    mutating func text() throws(FigureError) -> String {
        let count = try number()
        guard count <= rest.count else { throw FigureError.unreadable }
        let text = UnsafeRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        return String(decoding: text, as: UTF8.self)
    }
}

extension Int {
    /// More than any ledger counts: what is reckoned with a count below it does not overflow.
    static let countLimit = 1 << 50

    /// Adds a count that was read: a sum that no ledger can have is an error, not a trap.
    mutating func add(read count: Int) throws(FigureError) {
        let (sum, isTooLarge) = addingReportingOverflow(count)
        guard !isTooLarge, sum < Self.countLimit else { throw FigureError.unreadable }
        self = sum
    }
}
