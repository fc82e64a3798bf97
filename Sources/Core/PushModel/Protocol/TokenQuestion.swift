/// `op: resolve` of `inject.sock`: asks for the device of a token. It changes nothing, and the daemon stores nothing of
/// it.
public struct TokenQuestion: Sendable {
    /// The word of the operation.
    public static let word = "resolve"

    /// The first bytes of a question as ``line(token:presumed:)`` writes it.
    public static let beginning = Array("{\"\(RequestKey.op.word)\":\"\(word)\"".utf8)

    /// The token, or the installation id.
    public let token: String
    /// The platform and the app that the sender presumes for a token that nobody registered.
    public let presumed: Target
    /// The id of the request.
    public let id: String?

    /// Reads a line; `nil` if it has another operation.
    ///
    /// - Throws: the error for the client.
    public init?(line: [UInt8], limits: JSONLimits) throws(ProtocolError) {
        let document: JSONDocument
        do { document = try JSONDocument(scanning: line, limits: limits) } catch { throw ProtocolError(error) }
        guard document.root["op"]?.string == Self.word else { return nil }
        self = try ObjectReader.read(document.root) { (reader) throws(ProtocolError) in
            try TokenQuestion(reader)
        }
    }

    private init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(RequestKeys([.op, .id, .token, .platform, .app]))
        id = try reader.name(.id)
        guard let token = try reader.string(.token) else { throw reader.missing(.token) }
        self.token = token
        presumed = Target(platform: try reader.word(.platform, Platform.self), app: try reader.name(.app))
    }

    /// Returns the line of a question, with its line feed.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - presumed: the platform and the app for a token that nobody registered.
    public static func line(token: String, presumed: Target) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member(RequestKey.op.word, word)
            $0.member(RequestKey.token.word, token)
            if let platform = presumed.platform { $0.member(RequestKey.platform.word, platform.rawValue) }
            if let app = presumed.app { $0.member(RequestKey.app.word, app) }
        }
        return writer.line()
    }

    /// Returns the reply, with its line feed.
    ///
    /// - Parameters:
    ///   - owner: the device of the token, and its state; `nil` if nobody registered the token.
    ///   - reported: the state of the presumed device.
    ///   - ended: the time since which no device has the token; `nil` if none had it.
    public func reply(
        _ owner: (target: Target, state: DeviceState)?, reported: DeviceState, ended: WallTime? = nil
    ) -> [UInt8] {
        Reply.line { writer in
            writer.member("ok", true)
            if let id { writer.member("id", id) }
            writer.member("known", owner != nil)
            if owner == nil, let ended { writer.member("ended", ended.rfc3339) }
            let platform = owner?.target.platform ?? presumed.platform ?? .android
            writer.member(RequestKey.platform.word, platform.rawValue)
            if let app = owner.map(\.target.app) ?? presumed.app { writer.member(RequestKey.app.word, app) }
            writer.member(RequestKey.device.word, owner?.target.device ?? token)
            if let user = owner?.target.externalID { writer.member(RequestKey.externalID.word, user) }
            writer.members(of: owner?.state ?? reported)
        }
    }
}
