/// The sender of a push that a gateway passed on: the program, its proof, and its request. Kept in the request's line.
public struct PushSender: Hashable, Sendable {
    /// `User-Agent`.
    public var client: String?
    /// The service account, or the key of a provider token.
    public var account: String?
    /// The project of FCM.
    public var project: String?
    /// The team of a provider token.
    public var team: String?
    /// The connection: the peer's address or user, and the connection's number.
    public var connection: String?
    /// The method of the request.
    public var method: String?
    /// The path of the request; secrets in it are shortened.
    public var path: String?
    /// The status of the answer to a push that the daemon takes.
    public var answer: Int64?
    /// How often the same push was sent, this time included; `nil`: once.
    public var times: Int64?

    /// A sender of whom nothing is known.
    public init() {}

    /// Reads the member `sender` of a line; `nil`: the line has none.
    ///
    /// - Parameter line: the root of a request of `inject.sock`.
    public init?(ofLine line: JSONNode) {
        guard let sender = line[RequestKey.sender.word] else { return nil }
        try? self.init(sender)
    }

    /// The texts, by their keys in their order.
    fileprivate static var texts: [(key: String, path: WritableKeyPath<PushSender, String?>)] {
        [
            ("client", \.client), ("account", \.account), ("project", \.project), ("team", \.team),
            ("connection", \.connection), ("method", \.method), ("path", \.path),
        ]
    }

    /// The numbers, by their keys in their order.
    fileprivate static var numbers: [(key: String, path: WritableKeyPath<PushSender, Int64?>)] {
        [("answer", \.answer), ("times", \.times)]
    }

    /// How long a text may be, in bytes.
    public static let longestText = 255

    /// Reads it.
    ///
    /// - Throws: what is wrong with a member.
    init(_ object: JSONNode) throws(ProtocolError) {
        for (name, value) in object.members {
            let field = "\(RequestKey.sender.word).\(name)"
            if let text = Self.texts.first(where: { $0.key == name }) {
                guard let given = value.string else {
                    throw ProtocolError(
                        .invalidType, field: field, message: "\(field) is a string; this is \(value.kind.name)")
                }
                guard given.utf8.count <= Self.longestText else {
                    throw ProtocolError(
                        .invalidValue, field: field, message: "\(field) is longer than \(Self.longestText) bytes")
                }
                self[keyPath: text.path] = given
            } else if let number = Self.numbers.first(where: { $0.key == name }) {
                guard let given = value.int64 else {
                    throw ProtocolError(
                        .invalidType, field: field, message: "\(field) is a whole number; this is \(value.kind.name)")
                }
                self[keyPath: number.path] = given
            } else {
                let keys = (Self.texts.map(\.key) + Self.numbers.map(\.key)).joined(separator: ", ")
                throw ProtocolError(
                    .unknownKey, field: field, message: "\(RequestKey.sender.word) has no such key; it has \(keys)")
            }
        }
    }

    /// Shows each known fact as a text, under its key.
    public func forEachFact(_ body: (_ key: String, _ value: String) -> Void) {
        for text in Self.texts { if let value = self[keyPath: text.path] { body(text.key, value) } }
        for number in Self.numbers { if let value = self[keyPath: number.path] { body(number.key, String(value)) } }
    }
}

extension JSONWriter {
    /// Writes a sender as the member of a line. Texts that are too long are cut.
    public mutating func member(_ sender: PushSender) {
        member(
            RequestKey.sender.word,
            object: { writer in
                for text in PushSender.texts {
                    if let value = sender[keyPath: text.path] {
                        writer.member(text.key, value.cut(toBytes: PushSender.longestText))
                    }
                }
                for number in PushSender.numbers {
                    if let value = sender[keyPath: number.path] { writer.member(number.key, value) }
                }
            })
    }
}

extension String {
    /// The beginning that has so many bytes at most, without a part of a character.
    fileprivate func cut(toBytes limit: Int) -> String {
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
