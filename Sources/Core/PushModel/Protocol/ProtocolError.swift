/// The error of a refused request, which gets one error line.
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
        case overloaded = "overloaded"
        case unavailable = "unavailable"

        /// Whether the same request may be accepted later.
        public var isTransient: Bool { self == .overloaded || self == .unavailable }
    }

    /// The code of the error.
    public var code: Code
    /// The path of the wrong key, such as `payload.message.data.badge`; `nil` if the error is about the whole line.
    public var field: String?
    /// The fault and its remedy, for people.
    public var message: String
    /// The time to wait before the next try.
    public var retryAfter: Duration?
    /// The name of the leading machine, in a reply of a machine that follows.
    public var leader: String?
    /// The request's id, if it could be read.
    public var id: String?

    /// Joins the parts.
    public init(
        _ code: Code, field: String? = nil, message: String, retryAfter: Duration? = nil, leader: String? = nil,
        id: String? = nil
    ) {
        self.code = code
        self.field = field
        self.message = message
        self.retryAfter = retryAfter
        self.leader = leader
        self.id = id
    }

    /// Makes the error of a line that the JSON scanner refuses.
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
    /// - Parameter setting: the setting with the limit, for the message; `nil`: there is none.
    public static func tooLong(limit: Int, setting: String? = "RequestLengthMax=") -> ProtocolError {
        let place = setting.map { " (\($0))" } ?? ""
        return ProtocolError(.tooLong, message: "the request is longer than \(limit) bytes\(place)")
    }
}
