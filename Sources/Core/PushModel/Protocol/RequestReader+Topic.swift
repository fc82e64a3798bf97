extension TopicName {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        let (project, topic) = (try Self.part(.project, reader), try Self.part(.topic, reader))
        // `part` has checked both.
        guard let name = TopicName(project: project, topic: topic) else { throw reader.invalid(.topic, Self.form) }
        self = name
    }

    static let form =
        "a project or a topic has at most \(lengthMax) printable characters of ASCII, no space and no slash"

    static func part(_ key: RequestKey, _ reader: ObjectReader) throws(ProtocolError) -> String {
        guard let text = try reader.string(key) else { throw reader.missing(key) }
        guard isPart(text) else { throw reader.invalid(key, "\(key.word): \(form)") }
        return text
    }
}

extension TopicRequest {
    // It takes no id, since repeating it changes nothing.
    static let keys = RequestKeys([.op, .kind, .project, .topic, .tokens, .unknown, .platform, .app])

    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, Kind.self) else {
            throw reader.missing(.kind, ": \(Kind.inWords)")
        }
        self.init(
            target: Target(platform: try reader.word(.platform, Platform.self), app: try reader.name(.app)), kind: kind,
            topic: try TopicName(reader), tokens: try Self.tokens(reader),
            unknown: try reader.word(.unknown, Unknown.self) ?? .refuse)
    }

    private static func tokens(_ reader: ObjectReader) throws(ProtocolError) -> [String] {
        let value = try reader.required(.tokens)
        let list = reader.node(value)
        guard list.kind == .array else { throw reader.wrongType(.tokens, value, wanted: "a list of strings") }
        guard (0...tokensMax).contains(list.count) else {
            throw reader.invalid(.tokens, "tokens has at most \(tokensMax) tokens, not \(list.count)")
        }
        var tokens: [String] = []
        for (place, element) in list.elements.enumerated() {
            guard let token = element.string, !token.isEmpty, token.utf8.count <= TokenRequest.longestToken else {
                throw ProtocolError(
                    .invalidValue, field: "tokens[\(place)]",
                    message: "a token is a string of 1 to \(TokenRequest.longestToken) bytes")
            }
            tokens.append(token)
        }
        return tokens
    }
}

extension PublishRequest {
    static let keys =
        Request.keys + [
            .project, .topic, .condition, .app, .payload, .messageID, .headers, .sender,
        ]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        if reader[.wait] != nil {
            throw ProtocolError(
                .invalidValue, field: RequestKey.wait.word,
                message: "the deliveries of a publish have outcomes of their own; leave wait out")
        }
        let audience: Audience
        switch (reader[.topic] != nil, reader[.condition] != nil) {
        case (true, false): audience = .topic(try TopicName.part(.topic, reader))
        case (false, true): audience = .condition(try reader.string(.condition) ?? "")
        case (true, true): throw reader.invalid(.condition, "a publish has a topic or a condition, not both")
        case (false, false): throw reader.missing(.topic, "; a publish has a topic or a condition")
        }
        self.init(
            project: try TopicName.part(.project, reader), audience: audience, deliver: try DeliverRequest(reader))
    }
}

extension DeviceRequest {
    static let keys = Request.keys + Target.keys + [.state, .locked, .osVersion, .notifications, .sdk]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        let target = try Target(reader)
        guard target.device != nil else { throw reader.missing(.device) }
        self.init(target: target, state: try DeviceState(reader))
    }
}

extension DeviceState {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        self.init()
        state = try reader.word(.state, AppState.self)
        locked = try reader.bool(.locked)
        osVersion = try DeliverRequest.osVersion(reader)
        notifications = try reader.word(.notifications, NotificationPermission.self)
        sdk = try reader.word(.sdk, SDKState.self)
    }

    /// Reads the state from a reply.
    public init(reply: JSONNode) {
        self.init()
        state = reply[RequestKey.state.word]?.string.flatMap(AppState.init)
        locked = reply[RequestKey.locked.word]?.bool
        osVersion = reply[RequestKey.osVersion.word]?.string
        notifications = reply[RequestKey.notifications.word]?.string.flatMap(NotificationPermission.init)
        sdk = reply[RequestKey.sdk.word]?.string.flatMap(SDKState.init)
    }
}

extension JSONWriter {
    /// Writes the members of the state of a device.
    public mutating func members(of state: DeviceState) {
        if let app = state.state { member(RequestKey.state.word, app.rawValue) }
        if let locked = state.locked { member(RequestKey.locked.word, locked) }
        if let version = state.osVersion { member(RequestKey.osVersion.word, version) }
        if let notifications = state.notifications { member(RequestKey.notifications.word, notifications.rawValue) }
        if let sdk = state.sdk { member(RequestKey.sdk.word, sdk.rawValue) }
    }
}

extension DeviceRequest {
    /// The request line, without a line feed.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member(RequestKey.op.word, Operation.device.rawValue)
            $0.members(of: target)
            $0.members(of: state)
        }
        return writer.bytes
    }
}

extension PublishRequest {
    /// Returns the line of a delivery to one device.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - state: the state of the device.
    ///   - request: the publish request.
    public func line(to device: KnownDevice, in state: DeviceState, of request: Request) -> [UInt8] {
        let deliver = deliver.found(by: device.target, state)
        var writer = JSONWriter(reserving: deliver.payload.rawBytes.count + 512)
        writer.object { writer in
            writer.members(of: deliver)
            if let at = request.at { writer.member(RequestKey.at.word, at.milliseconds) }
            if let sender = request.document.root[RequestKey.sender.word] {
                writer.member(RequestKey.sender.word, raw: sender.onOneLine)
            }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the members for the audience of a publish.
    public mutating func members(ofPublishTo audience: PublishRequest.Audience, project: String) {
        member(RequestKey.op.word, Operation.publish.rawValue)
        member(RequestKey.project.word, project)
        switch audience {
        case .topic(let topic): member(RequestKey.topic.word, topic)
        case .condition(let condition): member(RequestKey.condition.word, condition)
        }
    }

    /// Writes the members for the payload of a publish.
    public mutating func members(ofPublish deliver: DeliverRequest) {
        if let app = deliver.target.app { member(RequestKey.app.word, app) }
        if let id = deliver.messageID { member(RequestKey.messageID.word, id) }
        if let headers = deliver.headers { member(RequestKey.headers.word, raw: headers.onOneLine) }
        member(RequestKey.payload.word, raw: deliver.payload.onOneLine)
    }
}
