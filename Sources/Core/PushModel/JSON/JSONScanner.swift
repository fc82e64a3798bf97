/// The strict pass over a text: its structure. Strings, numbers, keys and error texts are in files beside this one.
///
/// The open containers form a list through their entries, so depth costs no stack. The work for each value is inlined
/// into one loop. Functions out of line, those of error texts above all, get the state by value: taking the address of
/// a part would keep the whole state out of registers.
struct JSONScanner {
    /// The text and its end, in memory of the caller that outlives the scan.
    let text: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// The next byte.
    var cursor: UnsafePointer<UInt8>
    var tape: JSONTape
    /// The place on the tape of the innermost open container, and whether it is an object.
    private var innermost = outside
    private(set) var isInObject = false
    /// The number of members or elements that the innermost container has so far.
    private var members = 0
    /// The number of levels that may still be opened.
    private var depthLeft: Int
    private let depthLimit: Int
    private let valueLimit: Int
    /// The limit of entries: the limit of values, plus the entries of the tables of keys so far.
    private var entriesMax: Int

    /// The place of the missing container around the top-level value.
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

    /// The next byte; 0 at the end of the text, which is an error everywhere.
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
        guard cursor == end else { throw location.unexpected("the value is complete, but text follows it") }
    }

    /// Scans members of the innermost object and of objects within it, up to the end of that object or the opening of
    /// an array.
    @inline(__always)
    private mutating func scanMembers() throws(JSONError) {
        var next = byteAfterWhiteSpace()
        while next != UInt8(ascii: "}") {
            if members > 0 {
                guard next == UInt8(ascii: ",") else { throw location.separatorMissing }
                cursor += 1
                next = byteAfterWhiteSpace()
            }
            guard next == UInt8(ascii: "\"") else { throw location.keyMissing }
            members &+= 1
            try makeRoom(for: 2)
            if !scanShortKeyAndColon() {
                try scanKey()
                next = byteAfterWhiteSpace()
                guard next == UInt8(ascii: ":") else { throw location.unexpected("a ':' is expected after a key") }
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

    /// Scans elements of the innermost array and of arrays within it, up to the end of that array or the opening of an
    /// object.
    @inline(__always)
    private mutating func scanElements() throws(JSONError) {
        var next = byteAfterWhiteSpace()
        while next != UInt8(ascii: "]") {
            if members > 0 {
                guard next == UInt8(ascii: ",") else { throw location.separatorMissing }
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

    /// Skips white space, and returns the next byte; 0 at the end of the text.
    @inline(__always)
    private mutating func byteAfterWhiteSpace() -> UInt8 {
        while cursor < end {
            let byte = cursor.pointee
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            cursor += 1
        }
        return 0
    }

    /// Makes room on the tape for `room` entries.
    @inline(__always)
    private mutating func makeRoom(for room: Int) throws(JSONError) {
        guard !tape.hasRoom(for: room) else { return }
        guard tape.count + room <= entriesMax else { throw location.tooManyValues(limit: valueLimit) }
        tape = tape.grown(by: room, atMost: entriesMax, having: (cursor - text, end - text))
    }

    /// Scans a scalar or an empty container, or the opening bracket of another container. The tape must have room for
    /// its entry.
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
        default: throw location.valueMissing
        }
        return false
    }

    @inline(__always)
    private mutating func scanWord(_ word: StaticString, _ kind: JSONNode.Kind) throws(JSONError) {
        let start = cursor
        let count = word.utf8CodeUnitCount
        guard end - start >= count, areEqual(start, word.utf8Start, count: count) else {
            throw location.valueMissing
        }
        cursor += count
        append(kind, from: start)
    }

    /// Appends the entry of a number, a word or an empty container that ends at the cursor.
    @inline(__always)
    mutating func append(_ kind: JSONNode.Kind, from start: UnsafePointer<UInt8>) {
        tape.append(JSONEntry(kind, from: start - text, to: cursor - text))
    }

    /// Opens a container, and closes it if its closing bracket is the next byte.
    ///
    /// - Returns: whether the container is still open.
    @inline(__always)
    private mutating func open(_ kind: JSONNode.Kind, closing bracket: UInt8) throws(JSONError) -> Bool {
        guard depthLeft > 0 else { throw location.tooDeep(limit: depthLimit) }
        let start = cursor
        cursor += 1
        if byte == bracket {
            cursor += 1
            append(kind, from: start)
            return false
        }
        depthLeft &-= 1
        // Stores the count of the outer container in its entry until this one closes.
        if isInContainer { tape.entries[innermost].setCount(members) }
        let outer = UInt32(truncatingIfNeeded: innermost)
        innermost = tape.count
        tape.append(JSONEntry(opening: kind, at: start - text, within: outer))
        isInObject = kind == .object
        members = 0
        return true
    }

    /// Closes the innermost container, and its parents whose closing brackets follow without white space.
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

extension JSONScanner {
    /// Scans the number at the cursor if it is a whole number of at most 20 digits, without a sign, followed by a comma
    /// or a closing bracket. The tape must have room for its entry.
    ///
    /// - Parameter first: the byte at the cursor.
    @inline(__always)
    mutating func scanUsualNumber(_ first: UInt8) -> Bool {
        guard first >= UInt8(ascii: "0"), end - cursor > 20 else { return false }
        var stop = cursor + 1
        while stop.pointee.isDigit, stop - cursor < 20 { stop += 1 }
        switch stop.pointee {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): break
        default: return false
        }
        guard first > UInt8(ascii: "0") || stop - cursor == 1 else { return false }
        let start = cursor
        cursor = stop
        append(.number, from: start)
        return true
    }

    /// Scans the number at the cursor.
    @inline(__always)
    mutating func scanNumber() throws(JSONError) {
        let start = cursor
        if byte == UInt8(ascii: "-") { cursor += 1 }
        let first = cursor
        if byte == UInt8(ascii: "0") {
            cursor += 1
            if byte.isDigit { throw location.leadingZero }
        } else {
            try scanDigits("a digit is expected after '-'")
        }
        // A number below 10^308 is always finite as a double; few numbers have more digits or an exponent.
        var mayBeInfinite = cursor - first > 308
        if byte == UInt8(ascii: ".") {
            cursor += 1
            try scanDigits("a digit is expected after the decimal point")
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { cursor += 1 }
            try scanDigits("a digit is expected in the exponent")
            mayBeInfinite = true
        }
        if mayBeInfinite, !isFinite(UnsafeBufferPointer(start: first, count: cursor - first)) {
            throw location(start).infiniteNumber
        }
        append(.number, from: start)
    }

    @inline(__always)
    private mutating func scanDigits(_ expectation: StaticString) throws(JSONError) {
        guard byte.isDigit else { throw location.unexpected(expectation.description) }
        repeat { cursor += 1 } while byte.isDigit
    }
}

/// Whether the double nearest to an unsigned literal is finite.
private func isFinite(_ literal: UnsafeBufferPointer<UInt8>) -> Bool {
    let mantissa = literal.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    guard let leading = mantissa.firstIndex(where: { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: ".") })
    else { return true }
    let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex
    // The value is below 10^magnitude, and at least a tenth of it.
    let magnitude = point - leading + (point > leading ? 0 : 1) + exponent(literal[mantissa.endIndex...])
    return magnitude < 309 || magnitude == 309 && Double(String(decoding: literal, as: UTF8.self))?.isFinite == true
}

/// The value of an exponent like `e+12`; 0 if it is missing. Saturates far beyond the length of any text.
private func exponent(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let value = digits.reduce(0) { $1.isDigit ? min($0 * 10 + Int($1 & 0xF), 1 << 40) : $0 }
    return digits.contains(UInt8(ascii: "-")) ? -value : value
}
