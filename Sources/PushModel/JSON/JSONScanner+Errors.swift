// The texts of what can be wrong; none of this runs for a text that is accepted.
extension JSONScanner {
    /// The error for a byte that cannot stand at the position.
    func unexpected(_ expectation: String) -> JSONError {
        if byte >= 0x80, multibyteLength(at: position) == 0 { return notUTF8() }
        return JSONError(at: position, "\(expectation); \(found)")
    }

    func notUTF8() -> JSONError {
        JSONError(
            .invalidUTF8, at: position, "byte 0x\(hexadecimal(text[position], digits: 2)) is not part of valid UTF-8")
    }

    func separatorMissing(inObject: Bool) -> JSONError {
        unexpected("a comma or '\(inObject ? "}" : "]")' is expected")
    }

    func keyMissing() -> JSONError {
        switch byte {
        case UInt8(ascii: "}"): unexpected("a comma before the end of an object is one too many")
        default: unexpected("a key in double quotes is expected")
        }
    }

    func valueMissing() -> JSONError {
        switch byte {
        case 0 where text.allSatisfy { $0 <= 0x20 && $0 != 0 }: JSONError(at: position, "the text is empty")
        case UInt8(ascii: "]") where innermost != Self.outside && tape[innermost].kind == .array:
            unexpected("a comma before the end of an array is one too many")
        case UInt8(ascii: "'"): unexpected("a string stands in double quotes")
        case UInt8(ascii: "+"), UInt8(ascii: "."): unexpected("a number begins with a digit or '-'")
        case UInt8(ascii: "/"), UInt8(ascii: "#"): unexpected("JSON has no comments")
        case 0xEF where text[position...].starts(with: [0xEF, 0xBB, 0xBF]):
            unexpected("a byte order mark does not belong before JSON")
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            JSONError(at: position, "the only words are true, false and null, in lower case; found '\(word)'")
        default: unexpected("a value is expected")
        }
    }

    /// The letters at the position, shortened.
    private var word: String {
        String(decoding: text[position...].prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }.prefix(20), as: UTF8.self)
    }

    /// What stands at the position, for people.
    private var found: String {
        guard position < text.count else { return "the text ends here" }
        switch byte {
        case 0x21...0x7E: return "found '\(Unicode.Scalar(byte))'"
        case 0x80...:
            let character = String(decoding: text[position..<position + multibyteLength(at: position)], as: UTF8.self)
            return "found " + character.unicodeScalars.map { "U+\(hexadecimal($0.value, digits: 4))" }.joined()
        default: return "found byte 0x\(hexadecimal(byte, digits: 2))"
        }
    }
}

/// `value` in at least so many hexadecimal digits.
func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
