/// The reason and the place at which a text is not acceptable JSON.
public struct JSONError: Error, Hashable, Sendable {
    /// The kind of error. The raw value is the protocol's error code.
    public enum Code: String, Sendable {
        /// A violation of the grammar of RFC 8259, or a number that is infinite as a double.
        case invalidJSON = "invalid_json"
        /// Overlong UTF-8, a surrogate, a scalar beyond U+10FFFF, or a truncated one.
        case invalidUTF8 = "invalid_utf8"
        /// More levels of nesting than the limit.
        case tooDeep = "too_deep"
        /// More values than the limit.
        case tooLong = "too_long"
        /// An object has the same key twice, compared after unescaping.
        case duplicateKey = "duplicate_key"
    }

    /// The kind of error.
    public var code: Code
    /// The offset of the first wrong byte; the length of the text if it ends too soon.
    public var offset: Int
    /// The place, the byte found and the remedy, for people.
    public var message: String

    /// `reason` is the problem and its remedy; the message puts the offset before it.
    init(_ code: Code = .invalidJSON, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        message = "at byte \(offset): \(reason)"
    }
}

/// A position of the text off the fast path of the scan: makes the error texts, and reads rare escapes.
struct JSONLocation {
    /// The text and its end.
    let text: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// The position of the scan.
    let cursor: UnsafePointer<UInt8>
    /// Whether the innermost open container is an array.
    var isInArray = false

    private var byte: UInt8 { cursor < end ? cursor.pointee : 0 }

    private var position: Int { cursor - text }

    private var rest: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: cursor, count: end - cursor) }

    private func moved(to cursor: UnsafePointer<UInt8>) -> JSONLocation {
        JSONLocation(text: text, end: end, cursor: cursor)
    }

    /// The error for a byte that is not allowed here.
    func unexpected(_ expectation: String) -> JSONError {
        if byte >= 0x80, multibyteLength(cursor, end) == 0 { return notUTF8 }
        return JSONError(at: position, "\(expectation); \(found)")
    }

    var notUTF8: JSONError {
        JSONError(
            .invalidUTF8, at: position, "byte 0x\(hexadecimal(byte, digits: 2)) is not part of valid UTF-8")
    }

    var rawControlCharacter: JSONError {
        JSONError(
            at: position, "a raw control character in a string; write \\u\(hexadecimal(byte, digits: 4))")
    }

    var leadingZero: JSONError { JSONError(at: position, "a number does not begin with a 0 before other digits") }

    var infiniteNumber: JSONError {
        JSONError(at: position, "the number is beyond what a double holds (about 1.8e308)")
    }

    func tooDeep(limit: Int) -> JSONError {
        JSONError(.tooDeep, at: position, "arrays and objects are nested more than \(limit) deep")
    }

    func tooManyValues(limit: Int) -> JSONError {
        JSONError(.tooLong, at: position, "there are more than \(limit) values, keys counted too")
    }

    var separatorMissing: JSONError { unexpected("a comma or '\(isInArray ? "]" : "}")' is expected") }

    var keyMissing: JSONError {
        switch byte {
        case UInt8(ascii: "}"): unexpected("remove the comma before the end of the object")
        default: unexpected("a key in double quotes is expected")
        }
    }

    var valueMissing: JSONError {
        switch byte {
        case 0 where UnsafeBufferPointer(start: text, count: end - text).allSatisfy { $0 <= 0x20 && $0 != 0 }:
            JSONError(at: position, "the text is empty")
        case UInt8(ascii: "]") where isInArray: unexpected("remove the comma before the end of the array")
        case UInt8(ascii: "'"): unexpected("a string needs double quotes")
        case UInt8(ascii: "+"), UInt8(ascii: "."): unexpected("a number begins with a digit or '-'")
        case UInt8(ascii: "/"), UInt8(ascii: "#"): unexpected("JSON has no comments")
        case 0xEF where rest.starts(with: [0xEF, 0xBB, 0xBF]):
            unexpected("remove the byte order mark before the JSON")
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            JSONError(at: position, "JSON has only the words true, false and null, in lower case; found '\(word)'")
        default: unexpected("a value is expected")
        }
    }

    // MARK: Strings

    /// Scans any string that begins here, and writes its entry.
    ///
    /// - Returns: the byte after its closing quote.
    @inline(never)
    func scanString(
        to entry: UnsafeMutablePointer<JSONEntry>, isKey: Bool
    ) throws(JSONError) -> UnsafePointer<UInt8> {
        var escapes = JSONEscapes()
        var stop = cursor + 1
        while true {
            stop = endOfPlainASCII(from: stop, to: end)
            guard stop < end else {
                throw JSONError(at: end - text, "the text ends within the string that begins at byte \(position)")
            }
            switch stop.pointee {
            case UInt8(ascii: "\""):
                let link = isKey ? keyHash(cursor + 1, stop, escapes) : 1
                entry.initialize(
                    to: JSONEntry(stringFrom: position, to: stop + 1 - text, escapes: escapes, link: link))
                return stop + 1
            case UInt8(ascii: "\\"):
                if end - stop >= 2, JSONEscapes.isUsual(stop[1]) {
                    escapes.addUsual()
                    stop += 2
                } else {
                    let escape = try moved(to: stop).unusualEscape(inKey: isKey)
                    escapes.addUnusual(saving: escape.saved)
                    stop += escape.length
                }
            case 0x80...:
                repeat {
                    let length = multibyteLength(stop, end)
                    guard length > 0 else { throw moved(to: stop).notUTF8 }
                    stop += length
                } while stop < end && stop.pointee >= 0x80
            default: throw moved(to: stop).rawControlCharacter
            }
        }
    }

    /// Reads `\/` or `\uXXXX`; a pair of surrogates as one escape.
    ///
    /// - Returns: its length, and the bytes by which it is longer than its character in UTF-8.
    private func unusualEscape(inKey isKey: Bool) throws(JSONError) -> (length: Int, saved: Int) {
        guard end - cursor >= 2 else { throw JSONError(at: end - text, "the text ends within an escape") }
        switch cursor[1] {
        case UInt8(ascii: "/"): return (2, 1)
        case UInt8(ascii: "u"):
            let unit = try escapedUnit()
            if unit == 0, isKey {
                throw JSONError(
                    at: position, "\\u0000 in a key; programs that end a string there would read another key")
            }
            guard unit & 0xF800 == 0xD800 else { return (6, unit < 0x80 ? 5 : unit < 0x800 ? 4 : 3) }
            let next = moved(to: cursor + 6)
            guard unit < 0xDC00, end - cursor >= 8, next.cursor[0] == UInt8(ascii: "\\"),
                next.cursor[1] == UInt8(ascii: "u"), try next.escapedUnit() & 0xFC00 == 0xDC00
            else { throw JSONError(at: position, "one half of a surrogate pair is missing") }
            return (12, 8)
        default:
            throw moved(to: cursor + 1).unexpected("an escape is one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX")
        }
    }

    /// Reads the value of `\uXXXX`.
    @inline(__always)
    private func escapedUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for distance in 2..<6 {
            guard end - cursor > distance, let digit = hexadecimalValue(of: cursor[distance]) else {
                throw moved(to: cursor + distance).unexpected("four hexadecimal digits are expected after \\u")
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: Words

    /// The letters at the position, at most 20.
    private var word: String {
        String(decoding: rest.prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }.prefix(20), as: UTF8.self)
    }

    /// The character at the position, for people.
    private var found: String {
        guard cursor < end else { return "the text ends here" }
        switch byte {
        case 0x21...0x7E: return "found '\(Unicode.Scalar(byte))'"
        case 0x80...:
            let character = String(decoding: rest.prefix(multibyteLength(cursor, end)), as: UTF8.self)
            return "found " + character.unicodeScalars.map { "U+\(hexadecimal($0.value, digits: 4))" }.joined()
        default: return "found byte 0x\(hexadecimal(byte, digits: 2))"
        }
    }
}

extension JSONScanner {
    /// The current position of the scan.
    @inline(__always)
    var location: JSONLocation { location(cursor) }

    /// A position that the scan has reached.
    @inline(__always)
    func location(_ cursor: UnsafePointer<UInt8>) -> JSONLocation {
        JSONLocation(text: text, end: end, cursor: cursor, isInArray: isInContainer && !isInObject)
    }
}

/// `value` in at least `digits` hexadecimal digits.
func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
