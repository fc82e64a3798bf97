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
