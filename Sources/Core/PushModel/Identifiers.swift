/// The daemon's own number of an accepted request.
///
/// A state directory has one counter for all accepted requests. It increases in order of acceptance; an acknowledged
/// number is never reused, and gaps are allowed.
public struct SequenceNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself; the first one is 1.
    public var value: Int64

    /// - Parameter value: the number itself.
    public init(_ value: Int64) { self.value = value }

    /// The number that follows.
    public var next: SequenceNumber { SequenceNumber(value + 1) }

    public var description: String { String(value) }

    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.value < right.value }
}

/// The id of an invocation: its request, and its place among that request's invocations.
public struct InvocationID: Hashable, Comparable, Sendable {
    /// The request.
    public var seq: SequenceNumber
    /// The place, from 0 on, in the order in which the platform would call.
    public var n: Int

    /// Names the `n`th invocation of the request `seq`.
    public init(seq: SequenceNumber, n: Int) {
        (self.seq, self.n) = (seq, n)
    }

    public static func < (left: InvocationID, right: InvocationID) -> Bool {
        (left.seq, left.n) < (right.seq, right.n)
    }
}

extension SequenceNumber: ShardedKey {
    public var shardHash: UInt64 { WordHash.ofThisProcess.joined(UInt64(bitPattern: value), 0) }
}

extension InvocationID: ShardedKey {
    public var shardHash: UInt64 { seq.shardHash }
}

/// A random 128-bit name of a state directory, a boot or an event.
public struct UUID128: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    public var high: UInt64
    /// The last eight bytes, big-endian.
    public var low: UInt64

    /// Joins the two halves.
    public init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Reads 32 hexadecimal digits, with or without the four hyphens; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var digits = 0
        var halves: (UInt64, UInt64) = (0, 0)
        for character in text.utf8 where character != UInt8(ascii: "-") {
            guard let value = hexadecimalValue(of: character) else { return nil }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: halves.0, low: halves.1)
    }

    /// The lower-case form with hyphens: `8-4-4-4-12`.
    public var description: String {
        var text = ""
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append("-") }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64((15 - index % 16) * 4)) & 0xF
            text.unicodeScalars.append(Unicode.Scalar(digit < 10 ? 48 + digit : 87 + digit))
        }
        return text
    }
}

/// The value of one ASCII hexadecimal digit, or `nil`.
public func hexadecimalValue(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
}
