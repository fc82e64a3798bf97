/// One value or key of a scanned text, in 16 bytes.
///
/// The scan leaves a flat array of them in the order of the text: a container comes before what it holds, a key
/// before its value. An object's first key is thus the entry after it, and each value's `next` the following key.
struct JSONEntry: Sendable {
    /// The longest text whose offsets and counts fit.
    static let longestText = 1 << 29 - 1

    private var start: UInt32
    private var end: UInt32
    private var following: UInt32
    /// The count in the upper 28 bits, then the flag, then the kind in 3 bits.
    private var packed: UInt32

    init(_ kind: JSONNode.Kind, _ range: Range<Int>, next: Int, hasEscapes: Bool = false) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
        following = UInt32(truncatingIfNeeded: next)
        packed = UInt32(kind.rawValue) | (hasEscapes ? 8 : 0)
    }

    var kind: JSONNode.Kind {
        switch packed & 7 {
        case 0: .object
        case 1: .array
        case 2: .string
        case 3: .number
        case 4: .bool
        default: .null
        }
    }

    /// The bytes of the value; a string's with its quotes.
    var range: Range<Int> { Int(start)..<Int(end) }

    /// The bytes of a string between its quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// The entry after this value and all that it holds; while a container is open, the container around it.
    var next: Int { Int(following) }

    /// How many members or elements a container holds.
    var count: Int { Int(packed >> 4) }

    /// Whether a string contains a backslash.
    var hasEscapes: Bool { packed & 8 != 0 }

    mutating func addOne() { packed &+= 1 << 4 }

    mutating func close(end: Int, next: Int) {
        self.end = UInt32(truncatingIfNeeded: end)
        following = UInt32(truncatingIfNeeded: next)
    }
}
