/// An error in the format of figures.
public struct FigureError: Error, Hashable, Sendable {
    /// The problem, as a sentence without its full stop.
    public let message: String

    static let unreadable = FigureError(message: "the figures cannot be read")
}

/// Writes figures as bytes: unsigned LEB128, seven bits a byte, the lowest first, with the eighth bit set if more bytes
/// follow.
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

/// Reads the bytes of ``FigureWriter``; never reads beyond them.
struct FigureReader {
    private var rest: UnsafeRawBufferPointer

    /// - Parameter bytes: the bytes, which must outlive the reader.
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
    /// A bound above the counts of any ledger: arithmetic with counts below it does not overflow.
    static let countLimit = 1 << 50

    /// Adds a count that was read: throws for a sum that no ledger can have, instead of trapping.
    mutating func add(read count: Int) throws(FigureError) {
        let (sum, isTooLarge) = addingReportingOverflow(count)
        guard !isTooLarge, sum < Self.countLimit else { throw FigureError.unreadable }
        self = sum
    }
}
