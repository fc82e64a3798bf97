/// `op: topics` of `inject.sock`: asks for the topics of a token. It changes nothing, and the daemon stores nothing of
/// it.
public struct TopicQuestion: Sendable {
    /// The word of the operation.
    public static let word = "topics"
    /// The limit of topics in one reply.
    private static let limitMax = TopicRequest.topicsMax

    /// The project.
    public let project: String
    /// The token, or the installation id.
    public let token: String
    /// The one topic to look for; `nil`: all.
    public let topic: String?
    /// The limit of topics in the reply.
    public let limit: Int
    /// The topic after which the reply begins; `nil`: begins with the first.
    public let after: String?

    /// Reads a line; `nil` if it has another operation.
    ///
    /// - Throws: the error for the client.
    public init?(line: [UInt8], limits: JSONLimits) throws(ProtocolError) {
        let document: JSONDocument
        do { document = try JSONDocument(scanning: line, limits: limits) } catch { throw ProtocolError(error) }
        guard document.root["op"]?.string == Self.word else { return nil }
        self = try ObjectReader.read(document.root) { (reader) throws(ProtocolError) in
            try TopicQuestion(reader)
        }
    }

    private init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(RequestKeys([.op, .project, .token, .topic, .limit, .after]))
        project = try TopicName.part(.project, reader)
        guard let token = try reader.string(.token) else { throw reader.missing(.token) }
        self.token = token
        topic = try reader.string(.topic)
        after = try reader.string(.after)
        let limit = reader[.limit].flatMap(\.int64)
        guard reader[.limit] == nil || limit.map({ (1...Int64(Self.limitMax)).contains($0) }) == true else {
            throw reader.invalid(.limit, "limit is a whole number from 1 to \(Self.limitMax)")
        }
        self.limit = limit.map(Int.init) ?? Self.limitMax
    }

    /// Returns the line of a question, with its line feed.
    public static func line(project: String, token: String, topic: String?, limit: Int?, after: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member(RequestKey.op.word, word)
            $0.member(RequestKey.project.word, project)
            $0.member(RequestKey.token.word, token)
            if let topic { $0.member(RequestKey.topic.word, topic) }
            if let limit { $0.member(RequestKey.limit.word, limit) }
            if let after { $0.member(RequestKey.after.word, after) }
        }
        return writer.line()
    }

    /// Returns the reply, with its line feed.
    ///
    /// - Parameter device: the device that registered the token; `nil` if none did.
    public func reply(_ device: KnownDevice?) -> [UInt8] {
        let own = device?.detail.topics.filter { $0.topic.isOf(project: project) } ?? []
        let wanted = own.filter { topic == nil || $0.topic.topic == topic }.sorted { $0.topic.topic < $1.topic.topic }
        let page = wanted.filter { subscription in after.map { subscription.topic.topic > $0 } ?? true }
        return Reply.line { writer in
            writer.member("ok", true)
            writer.member("known", device != nil)
            writer.member(
                Self.word,
                array: { list in
                    for subscription in page.prefix(limit) {
                        list.object { writer in
                            writer.member(RequestKey.topic.word, subscription.topic.topic)
                            let since = WallTime(milliseconds: subscription.since * 1000)
                            writer.member("created_at", since.rfc3339)
                        }
                    }
                })
            if page.count > limit, let last = page.prefix(limit).last { writer.member("next", last.topic.topic) }
        }
    }
}

extension TopicRequest {
    /// The request line, with its line feed.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member(RequestKey.op.word, Operation.topic.rawValue)
            $0.member(RequestKey.kind.word, kind.rawValue)
            $0.member(RequestKey.project.word, topic.project)
            $0.member(RequestKey.topic.word, topic.topic)
            if unknown != .refuse { $0.member(RequestKey.unknown.word, unknown.rawValue) }
            if let platform = target.platform { $0.member(RequestKey.platform.word, platform.rawValue) }
            if let app = target.app { $0.member(RequestKey.app.word, app) }
            $0.member(RequestKey.tokens.word, array: { list in tokens.forEach { list.string($0) } })
        }
        return writer.line()
    }
}

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
