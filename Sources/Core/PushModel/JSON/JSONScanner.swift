/// The strict pass over a text: its structure. The files beside this one scan strings, numbers and keys, and make
/// errors.
///
/// Open containers form a linked list through their entries, so depth takes no stack. The code for each value is
/// inlined into one loop. Code outside the loop, such as the texts of errors, gets the state by value: taking the
/// address of a field would keep the state out of registers.
struct JSONScanner {
    /// The begin and the end of the text: memory of the caller that outlives the scan.
    let text: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// The next byte.
    var cursor: UnsafePointer<UInt8>
    var tape: JSONTape
    /// The index on the tape of the innermost open container, and whether it is an object.
    private var innermost = outside
    private(set) var isInObject = false
    /// The number of its members or elements so far.
    private var members = 0
    /// The number of containers that may still be opened within it.
    private var depthLeft: Int
    private let depthLimit: Int
    private let valueLimit: Int
    /// The largest number of entries: the values, and the tables of keys so far.
    private var entriesMax: Int

    /// The value of `innermost` outside of the outermost value.
    private static let outside = Int(UInt32.max)

    /// Returns the entries of `bytes`; the caller frees them.
    static func tape(of bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) -> JSONTape {
        guard bytes.count <= JSONEntry.longestText else {
            throw JSONError(at: JSONEntry.longestText, "the text is longer than 512 MiB")
        }
        guard let text = bytes.baseAddress else { throw JSONError(at: 0, "the text is empty") }
        var scanner = JSONScanner(text, length: bytes.count, limits)
        do {
            try scanner.scan()
            return scanner.tape
        } catch {
            scanner.tape.free()
            throw error
        }
    }

    private init(_ text: UnsafePointer<UInt8>, length: Int, _ limits: JSONLimits) {
        self.text = text
        end = text + length
        cursor = text
        tape = JSONTape(capacity: min(length / 10 + 8, limits.values))
        (depthLimit, valueLimit) = (limits.depth, limits.values)
        depthLeft = depthLimit
        entriesMax = valueLimit
    }

    /// The next byte; 0 at the end of the text, which is not valid in any place.
    @inline(__always)
    var byte: UInt8 { cursor < end ? cursor.pointee : 0 }

    /// Whether a container is open.
    @inline(__always)
    var isInContainer: Bool { innermost != Self.outside }

    @inline(__always)
    private mutating func scan() throws(JSONError) {
        try makeRoom(for: 1)
        try scanValue(byteAfterWhiteSpace())
        while isInContainer {
            if isInObject { try scanMembers() } else { try scanElements() }
        }
        _ = byteAfterWhiteSpace()
        guard cursor == end else { throw here.unexpected("the value is complete, but text follows it") }
    }

    /// Scans members of the innermost object and of objects opened in it, until one closes or an array is opened.
    @inline(__always)
    private mutating func scanMembers() throws(JSONError) {
        var next = byteAfterWhiteSpace()
        while next != UInt8(ascii: "}") {
            if members > 0 {
                guard next == UInt8(ascii: ",") else { throw here.separatorMissing }
                cursor += 1
                next = byteAfterWhiteSpace()
            }
            guard next == UInt8(ascii: "\"") else { throw here.keyMissing }
            members &+= 1
            try makeRoom(for: 2)
            if !scanShortKeyAndColon() {
                try scanKey()
                next = byteAfterWhiteSpace()
                guard next == UInt8(ascii: ":") else { throw here.unexpected("a ':' is expected after a key") }
                cursor += 1
            }
            next = byteAfterWhiteSpace()
            if next == UInt8(ascii: "\"") {
                try scanString()
            } else if try scanValue(next), !isInObject {
                return
            }
            next = byteAfterWhiteSpace()
        }
        try close()
    }

    /// Scans elements of the innermost array and of arrays opened in it, until one closes or an object is opened.
    @inline(__always)
    private mutating func scanElements() throws(JSONError) {
        var next = byteAfterWhiteSpace()
        while next != UInt8(ascii: "]") {
            if members > 0 {
                guard next == UInt8(ascii: ",") else { throw here.separatorMissing }
                cursor += 1
                next = byteAfterWhiteSpace()
            }
            members &+= 1
            try makeRoom(for: 1)
            if try scanValue(next), isInObject { return }
            next = byteAfterWhiteSpace()
        }
        try close()
    }

    /// Moves to the next byte other than white space and returns it; 0 at the end of the text.
    @inline(__always)
    private mutating func byteAfterWhiteSpace() -> UInt8 {
        while cursor < end {
            let byte = cursor.pointee
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            cursor += 1
        }
        return 0
    }

    /// Makes room on the tape for this many entries.
    @inline(__always)
    private mutating func makeRoom(for room: Int) throws(JSONError) {
        guard !tape.hasRoom(for: room) else { return }
        guard tape.count + room <= entriesMax else { throw here.tooManyValues(limit: valueLimit) }
        tape = tape.grown(by: room, atMost: entriesMax, having: (cursor - text, end - text))
    }

    /// Scans a whole scalar or empty container, or the opening bracket of another container. There must be room for its
    /// entry.
    ///
    /// - Parameter first: the byte at the cursor, or 0 at the end of the text.
    /// - Returns: whether it opened a container.
    @discardableResult
    @inline(__always)
    private mutating func scanValue(_ first: UInt8) throws(JSONError) -> Bool {
        switch first {
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "{"): return try open(.object, closing: UInt8(ascii: "}"))
        case UInt8(ascii: "["): return try open(.array, closing: UInt8(ascii: "]"))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): if !scanUsualNumber(first) { try scanNumber() }
        case UInt8(ascii: "t"): try scanWord("true", .bool)
        case UInt8(ascii: "f"): try scanWord("false", .bool)
        case UInt8(ascii: "n"): try scanWord("null", .null)
        default: throw here.valueMissing
        }
        return false
    }

    @inline(__always)
    private mutating func scanWord(_ word: StaticString, _ kind: JSONNode.Kind) throws(JSONError) {
        let start = cursor
        let count = word.utf8CodeUnitCount
        guard end - start >= count, areEqual(start, word.utf8Start, count: count) else {
            throw here.valueMissing
        }
        cursor += count
        append(kind, from: start)
    }

    /// Appends the entry of a number, a word or an empty container that ends at the cursor.
    @inline(__always)
    mutating func append(_ kind: JSONNode.Kind, from start: UnsafePointer<UInt8>) {
        tape.append(JSONEntry(kind, from: start - text, to: cursor - text))
    }

    /// Opens a container, or scans it whole if its closing bracket follows at once.
    ///
    /// - Returns: whether the container is open.
    @inline(__always)
    private mutating func open(_ kind: JSONNode.Kind, closing bracket: UInt8) throws(JSONError) -> Bool {
        guard depthLeft > 0 else { throw here.tooDeep(limit: depthLimit) }
        let start = cursor
        cursor += 1
        if byte == bracket {
            cursor += 1
            append(kind, from: start)
            return false
        }
        depthLeft &-= 1
        // Saves the count of the outer container in its entry; `close` reads it back.
        if isInContainer { tape.entries[innermost].setCount(members) }
        let outer = UInt32(truncatingIfNeeded: innermost)
        innermost = tape.count
        tape.append(JSONEntry(opening: kind, at: start - text, within: outer))
        isInObject = kind == .object
        members = 0
        return true
    }

    /// Closes the innermost container, and outer ones whose closing brackets follow at once.
    @inline(__always)
    private mutating func close() throws(JSONError) {
        repeat {
            cursor += 1
            depthLeft &+= 1
            if isInObject, members > 1 {
                let length = JSONKeyTable.length(for: members)
                if entriesMax < Int.max { entriesMax &+= length }
                try makeRoom(for: length)
                try tape.indexKeys(ofObjectAt: innermost, members: members, in: text)
                tape.didFillNext(length)
            }
            let outer = Int(tape.entries[innermost].link)
            tape.entries[innermost].close(end: cursor - text, distance: tape.count &- innermost, count: members)
            innermost = outer
            guard isInContainer else { return }
            members = tape.entries[outer].count
            isInObject = tape.entries[outer].isObject
        } while byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }
}

extension StaticString {
    /// The text in UTF-8, valid as long as the program runs.
    public var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
