/// The reason and the place of a fault in a JSON text.
public struct JSONError: Error, Hashable, Sendable {
    /// The kind of fault; the raw value is the protocol's error code.
    public enum Code: String, Sendable {
        /// The text breaks the grammar of RFC 8259, or a number is beyond a double.
        case invalidJSON = "invalid_json"
        /// A sequence is overlong, a surrogate, beyond U+10FFFF, or incomplete.
        case invalidUTF8 = "invalid_utf8"
        /// More levels of nesting than the limit.
        case tooDeep = "too_deep"
        /// More values than the limit.
        case tooLong = "too_long"
        /// One object has the same key twice, compared after unescaping.
        case duplicateKey = "duplicate_key"
    }

    /// The kind of fault.
    public var code: Code
    /// The offset of the first wrong byte; the length of the text if it ends too soon.
    public var offset: Int
    /// The place, the fault and its remedy, for people.
    public var message: String

    /// Makes an error whose message is the offset and `reason`: the fault and its remedy.
    init(_ code: Code = .invalidJSON, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        message = "at byte \(offset): \(reason)"
    }
}
