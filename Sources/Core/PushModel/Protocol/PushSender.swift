/// The sender of a push that a gateway passed on: the program, its credentials, and its HTTP request. Stored in the
/// request line.
public struct PushSender: Hashable, Sendable {
    /// `X-Firebase-Client`, or without it `User-Agent`.
    public var client: String?
    /// The service account, the key of a provider token, or `sub` of a web push's proof.
    public var account: String?
    /// The project of FCM.
    public var project: String?
    /// The team of a provider token.
    public var team: String?
    /// The public key of a web push's sender.
    public var key: String?
    /// The header `Urgency` of a web push.
    public var urgency: String?
    /// The header `Topic` of a web push.
    public var topic: String?
    /// The connection: the peer's address or user, and the connection's number.
    public var connection: String?
    /// The method of the request.
    public var method: String?
    /// The path of the request, with secrets shortened.
    public var path: String?
    /// The HTTP status of the answer: 200 or 201 for a push that the daemon accepts, 400 and more for a refused one.
    public var answer: Int64?
    /// The header `TTL` of a web push, in seconds.
    public var ttl: Int64?
    /// The number of times that the sender sent this push, this time included; `nil`: once.
    public var times: Int64?
    /// The reason in the word of the service, if the gateway refused the push, or why no browser can read it.
    public var reason: String?
    /// The cause of the refusal, or a remark, for people.
    public var cause: String?

    /// Creates a sender without any fact.
    public init() {}

    /// Reads the member `sender` of a line; `nil` if the line has none.
    ///
    /// - Parameter line: the root of a request of `inject.sock`.
    public init?(ofLine line: JSONNode) {
        guard let sender = line[RequestKey.sender.word], sender.kind == .object else { return nil }
        self.init(sender)
    }

    /// Reads a checked object.
    init(_ object: JSONNode) {
        for (name, value) in object.members {
            if let key = TextKey(rawValue: name) {
                self[key] = value.string
            } else if let key = NumberKey(rawValue: name) {
                self[key] = value.int64
            }
        }
    }

    /// The keys of texts, in their order.
    enum TextKey: String, RequestWord {
        case client, account, project, team, key, urgency, topic, connection, method, path, reason, cause

        static let words = table()
    }

    /// The keys of numbers, in their order.
    enum NumberKey: String, RequestWord {
        case answer, ttl, times

        static let words = table()
    }

    subscript(key: TextKey) -> String? {
        get {
            switch key {
            case .client: client
            case .account: account
            case .project: project
            case .team: team
            case .key: self.key
            case .urgency: urgency
            case .topic: topic
            case .connection: connection
            case .method: method
            case .path: path
            case .reason: reason
            case .cause: cause
            }
        }
        set {
            switch key {
            case .client: client = newValue
            case .account: account = newValue
            case .project: project = newValue
            case .team: team = newValue
            case .key: self.key = newValue
            case .urgency: urgency = newValue
            case .topic: topic = newValue
            case .connection: connection = newValue
            case .method: method = newValue
            case .path: path = newValue
            case .reason: reason = newValue
            case .cause: cause = newValue
            }
        }
    }

    subscript(key: NumberKey) -> Int64? {
        get {
            switch key {
            case .answer: answer
            case .ttl: ttl
            case .times: times
            }
        }
        set {
            switch key {
            case .answer: answer = newValue
            case .ttl: ttl = newValue
            case .times: times = newValue
            }
        }
    }

    /// Why the push reaches no code: `400 BadDeviceToken: the token is ...`; `nil` for one that does.
    var refusal: SendRefusal? {
        let words = "\(reason.map { " \($0)" } ?? "")\(cause.map { ": \($0)" } ?? "")"
        if let answer, answer >= 400 { return .refused("\(answer)\(words)") }
        return reason.map { .unreadable(cause ?? $0) }
    }

    /// The limit of a text, in bytes.
    static let longestText = 255

    /// Checks the member `sender` of a line without decoding it: the daemon keeps the line.
    ///
    /// - Returns: whether the push reaches no code.
    /// - Throws: the error of the first wrong member.
    static func check(_ object: JSONView) throws(ProtocolError) -> Bool {
        var isRefusal = false
        for (name, value) in object.members {
            if let key = TextKey.words.value(for: name) {
                if key == .reason { isRefusal = true }
                guard value.isString, value.textLength <= longestText else {
                    throw fault(of: name, value.isString, value.kind, "a string", "longer than \(longestText) bytes")
                }
            } else if let key = NumberKey.words.value(for: name) {
                guard let number = value.int64 else {
                    throw fault(of: name, false, value.kind, "a whole number", "")
                }
                if key == .answer, number >= 400 { isRefusal = true }
            } else {
                let keys = (TextKey.allCases.map(\.rawValue) + NumberKey.allCases.map(\.rawValue))
                throw ProtocolError(
                    .unknownKey, field: "\(RequestKey.sender.word).\(name.string ?? "")",
                    message: "\(RequestKey.sender.word) has no such key; it has \(keys.joined(separator: ", "))")
            }
        }
        return isRefusal
    }

    private static func fault(
        of name: JSONView, _ isOfType: Bool, _ kind: JSONNode.Kind, _ wanted: String, _ fault: String
    ) -> ProtocolError {
        let field = "\(RequestKey.sender.word).\(name.string ?? "")"
        guard isOfType else {
            return ProtocolError(.invalidType, field: field, message: "\(field) is \(wanted); this is \(kind.name)")
        }
        return ProtocolError(.invalidValue, field: field, message: "\(field) is \(fault)")
    }

    /// Calls `body` with each known fact as a text, under its key.
    public func forEachFact(_ body: (_ key: String, _ value: String) -> Void) {
        for key in TextKey.allCases { if let value = self[key] { body(key.rawValue, value) } }
        for key in NumberKey.allCases { if let value = self[key] { body(key.rawValue, String(value)) } }
    }
}

/// Why a push that a gateway passed on reaches no code.
public enum SendRefusal: Hashable, Sendable {
    /// The gateway refused it, with this answer in words.
    case refused(String)
    /// No browser can read it, for this cause.
    case unreadable(String)
}

extension JSONWriter {
    /// Writes a sender as the member `sender` of a line. Cuts texts above the largest length.
    public mutating func member(_ sender: PushSender) {
        member(
            RequestKey.sender.word,
            object: { writer in
                for key in PushSender.TextKey.allCases {
                    if let value = sender[key] {
                        writer.member(key.rawValue, value.cut(toBytes: PushSender.longestText))
                    }
                }
                for key in PushSender.NumberKey.allCases {
                    if let value = sender[key] { writer.member(key.rawValue, value) }
                }
            })
    }
}

extension String {
    /// The longest beginning of at most `limit` bytes that ends between two characters.
    public func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var kept = 0
        var end = startIndex
        for scalar in unicodeScalars.indices {
            let length = unicodeScalars[scalar].utf8.count
            guard kept + length <= limit else { break }
            kept += length
            end = unicodeScalars.index(after: scalar)
        }
        return String(self[..<end])
    }
}
