/// One value or key of a scanned text, in 16 bytes.
///
/// The scan writes a flat array of entries, the tape, in the order of the text: a container comes before its contents,
/// a key before its value. The first key of an object is the entry after the object, and each further key follows the
/// value before it. An object with many members has a table of its keys behind the last one (`JSONKeyTable`).
@usableFromInline
struct JSONEntry: Sendable {
    /// The length of the longest text whose offsets and counts fit.
    static let longestText = 1 << 29 - 1

    private static let flag: UInt32 = 1 << 31

    @usableFromInline var start: UInt32
    /// The end, and a flag in the top bit. For a string: it has escapes that the writer would not choose. For an
    /// object: its keys are hashed with the seeds of the process.
    @usableFromInline var flaggedEnd: UInt32
    /// For a value, the distance in entries to the next one. For a key, the lower half of its hash. For a container
    /// that is still open, the place of its parent on the tape.
    @usableFromInline var link: UInt32
    /// The kind in 3 bits, above it a count. For a container: its members or elements. For a string: the difference in
    /// bytes between its content in quotes and its unescaped text.
    @usableFromInline var packed: UInt32

    /// A value without children.
    @inline(__always)
    init(_ kind: JSONNode.Kind, from start: Int, to end: Int) {
        self.init(kind, from: start, to: end, link: 1)
    }

    /// Makes the entry of a container at its opening.
    @inline(__always)
    init(opening kind: JSONNode.Kind, at start: Int, within outer: UInt32) {
        self.init(kind, from: start, to: start &+ 1, link: outer)
    }

    /// Makes the entry of a string with its quotes.
    ///
    /// - Parameters:
    ///   - escapes: the summary of its escapes.
    ///   - link: the hash of a key; 1 for a value.
    @inline(__always)
    init(stringFrom start: Int, to end: Int, escapes: JSONEscapes, link: UInt32) {
        self.init(.string, from: start, to: end, link: link)
        packed |= escapes.saved << 3
        flaggedEnd |= escapes.areUnusual ? Self.flag : 0
    }

    @inline(__always)
    private init(_ kind: JSONNode.Kind, from start: Int, to end: Int, link: UInt32) {
        self.start = UInt32(truncatingIfNeeded: start)
        flaggedEnd = UInt32(truncatingIfNeeded: end)
        self.link = link
        packed = kind.code
    }

    @inlinable var kindCode: UInt32 { packed & 7 }

    @inlinable var isObject: Bool { kindCode == 0 }

    @inlinable var count: Int { Int(packed >> 3) }

    @inlinable var end: UInt32 { flaggedEnd & 0x7FFF_FFFF }

    /// The bytes of the value; a string's include its quotes.
    @inlinable var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }

    /// The flag in the top bit of `flaggedEnd`.
    @inlinable var isFlagged: Bool { flaggedEnd >> 31 != 0 }

    /// Completes the entry of a container.
    @inline(__always)
    mutating func close(end: Int, distance: Int, count: Int) {
        flaggedEnd = flaggedEnd & Self.flag | UInt32(truncatingIfNeeded: end)
        link = UInt32(truncatingIfNeeded: distance)
        setCount(count)
    }

    /// Sets the number of members or elements that an open container has so far.
    @inline(__always)
    mutating func setCount(_ count: Int) { packed = packed & 7 | UInt32(truncatingIfNeeded: count) << 3 }

    /// Marks an object as one whose keys are hashed with the seeds of the process.
    mutating func markReseeded() { flaggedEnd |= Self.flag }
}

extension JSONNode.Kind {
    /// The code of the kind in an entry.
    @inline(__always)
    fileprivate var code: UInt32 {
        switch self {
        case .object: 0
        case .array: 1
        case .string: 2
        case .number: 3
        case .bool: 4
        case .null: 5
        }
    }
}
