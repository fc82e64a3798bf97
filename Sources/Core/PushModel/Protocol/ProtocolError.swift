/// The error line in answer to a bad request.
public struct ProtocolError: Error, Hashable, Sendable {
    /// The closed set of codes.
    public enum Code: String, Sendable, CaseIterable {
        case invalidJSON = "invalid_json"
        case invalidUTF8 = "invalid_utf8"
        case tooLong = "too_long"
        case tooDeep = "too_deep"
        case duplicateKey = "duplicate_key"
        case unknownOperation = "unknown_op"
        case missingKey = "missing_key"
        case unknownKey = "unknown_key"
        case invalidType = "invalid_type"
        case invalidValue = "invalid_value"
        case invalidPayload = "invalid_payload"
        case idConflict = "id_conflict"
        case notAllowed = "not_allowed"
        case overloaded = "overloaded"
        case unavailable = "unavailable"

        /// Whether the same request may be accepted later.
        public var isTransient: Bool { self == .overloaded || self == .unavailable }
    }

    /// The kind of error.
    public var code: Code
    /// The path of the wrong key, such as `payload.message.data.badge`; `nil` for the line as a whole.
    public var field: String?
    /// The problem and its remedy, for people.
    public var message: String
    /// The delay after which the client may try again.
    public var retryAfter: Duration?
    /// The name of the leading machine, in an answer of another one.
    public var leader: String?
    /// The request's id, if it was readable.
    public var id: String?
    /// The file of `producers.d` that refused the request, without its extension; `nil`: none did.
    public var rule: String?

    /// Joins the parts.
    public init(
        _ code: Code, field: String? = nil, message: String, retryAfter: Duration? = nil, leader: String? = nil,
        id: String? = nil, rule: String? = nil
    ) {
        self.code = code
        self.field = field
        self.message = message
        self.retryAfter = retryAfter
        self.leader = leader
        self.id = id
        self.rule = rule
    }

    /// The error of a line that is not acceptable JSON.
    public init(_ error: JSONError) {
        let code: Code =
            switch error.code {
            case .invalidJSON: .invalidJSON
            case .invalidUTF8: .invalidUTF8
            case .tooDeep: .tooDeep
            case .tooLong: .tooLong
            case .duplicateKey: .duplicateKey
            }
        self.init(code, message: error.message)
    }

    /// Returns the error of a line above the limit.
    ///
    /// - Parameter setting: the setting of the limit, for the message; `nil` if there is none.
    public static func tooLong(limit: Int, setting: String? = "RequestLengthMax=") -> ProtocolError {
        let place = setting.map { " (\($0))" } ?? ""
        return ProtocolError(.tooLong, message: "the request is longer than \(limit) bytes\(place)")
    }
}
