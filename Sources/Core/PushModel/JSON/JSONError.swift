/// Why a text is not JSON that is accepted, and where.
public struct JSONError: Error, Hashable, Sendable {
    /// What kind of wrong; the raw value is the protocol's error code.
    public enum Code: String, Sendable {
        /// Not the grammar of RFC 8259, or a number that no double holds.
        case invalidJSON = "invalid_json"
        /// Overlong, a surrogate, beyond U+10FFFF, or cut short.
        case invalidUTF8 = "invalid_utf8"
        /// More levels of nesting than the limit.
        case tooDeep = "too_deep"
        /// More values than the limit.
        case tooLong = "too_long"
        /// One object has the same key twice, compared after unescaping.
        case duplicateKey = "duplicate_key"
    }

    /// What kind of wrong.
    public var code: Code
    /// The offset of the first byte that is wrong; the length of the text where it ends too soon.
    public var offset: Int
    /// Where, what was found and what to do, for people.
    public var message: String

    /// `reason` says what was found and what to do; the message puts the place before it.
    init(_ code: Code = .invalidJSON, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        message = "at byte \(offset): \(reason)"
    }
}
