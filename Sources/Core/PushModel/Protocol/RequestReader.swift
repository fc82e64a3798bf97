extension Request {
    /// Reads one line of `inject.sock`.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - limits: the limits of the scan.
    /// - Throws: the error for the client, with the request's id if it is readable.
    public init(line: [UInt8], limits: JSONLimits = JSONLimits()) throws(ProtocolError) {
        try self.init(try Self.scanned(line, limits))
    }

    /// Reads a line that was accepted before: limits may have been higher then, and a name may contain a NUL.
    ///
    /// - Parameter line: the line from the ledger.
    /// - Throws: the error of the line.
    public init(acceptedLine line: [UInt8]) throws(ProtocolError) {
        try self.init(checked: try Self.scanned(line, JSONLimits(depth: .max)))
    }

    private static func scanned(_ line: [UInt8], _ limits: JSONLimits) throws(ProtocolError) -> JSONDocument {
        do {
            return try JSONDocument(scanning: line, limits: limits)
        } catch {
            throw ProtocolError(error)
        }
    }

    /// Reads a scanned request.
    ///
    /// - Parameters:
    ///   - document: the scanned line.
    ///   - keys: further keys to allow beside the protocol's own.
    /// - Throws: the error for the client, with the request's id if it is readable.
    public init(_ document: JSONDocument, allowing keys: Set<String> = []) throws(ProtocolError) {
        try self.init(checked: document, allowing: keys)
        if id?.hasNUL == true { throw Self.nul(in: .id) }
        if var error = target.nulError {
            error.id = id
            throw error
        }
    }

    /// The error for a name with a NUL: the NUL would cut a variable of a handler's environment, which would then have
    /// another name's value.
    fileprivate static func nul(in key: RequestKey) -> ProtocolError {
        ProtocolError(.invalidValue, field: key.word, message: "\(key.word) has a NUL (\\u0000); leave it out")
    }

    /// Reads a request without the checks that only new requests must pass.
    private init(checked document: JSONDocument, allowing keys: Set<String> = []) throws(ProtocolError) {
        let root = document.root
        guard root.kind == .object else {
            throw ProtocolError(
                .invalidType, message: "a request is one JSON object on one line; this is \(root.kind.name)")
        }
        self = try ObjectReader.read(root) { (reader) throws(ProtocolError) in
            do throws(ProtocolError) {
                return try Request(reader, document, allowing: keys)
            } catch {
                var error = error
                error.id = try? reader.name(.id)
                throw error
            }
        }
    }

    private init(
        _ reader: ObjectReader, _ document: JSONDocument, allowing keys: Set<String>
    ) throws(ProtocolError) {
        guard let operation = try reader.string(.op) else {
            throw reader.missing(.op, ": \(Self.operations)")
        }
        let action: Action
        switch Operation(rawValue: operation) {
        case .deliver:
            try reader.allow(DeliverRequest.keys, and: keys)
            action = .deliver(try DeliverRequest(reader))
        case .interact:
            try reader.allow(InteractRequest.keys, and: keys)
            action = .interact(try InteractRequest(reader))
        case .session:
            try reader.allow(SessionRequest.keys, and: keys)
            action = .session(try SessionRequest(reader))
        case .token:
            try reader.allow(TokenRequest.keys, and: keys)
            action = .token(try TokenRequest(reader))
        case .log:
            try reader.allow(LogRequest.keys, and: keys)
            action = .log(try LogRequest(reader, document.root))
        case .topic:
            try reader.allow(TopicRequest.keys, and: keys)
            action = .topic(try TopicRequest(reader))
        case .publish:
            try reader.allow(PublishRequest.keys, and: keys)
            action = .publish(try PublishRequest(reader))
        case .device:
            try reader.allow(DeviceRequest.keys, and: keys)
            action = .device(try DeviceRequest(reader))
        case nil:
            throw ProtocolError(.unknownOperation, field: "op", message: "inject.sock takes \(Self.operations)")
        }
        self.init(
            action: action, id: try reader.name(.id), at: try reader.time(.at),
            waitsForOutcome: try Self.wait(reader), document: document)
    }

    /// The keys of every op.
    static let keys = RequestKeys([.op, .id, .at, .wait])

    private static let operations =
        Operation.allCases.map(\.rawValue).joined(separator: ", ") + ", \(TopicQuestion.word) or \(TokenQuestion.word)"

    private static func wait(_ reader: ObjectReader) throws(ProtocolError) -> Bool {
        guard let value = reader[.wait] else { return false }
        guard value.isString else {
            throw reader.wrongType(.wait, value, wanted: "the string \"outcome\", or left out")
        }
        guard value.string == "outcome" else { throw reader.invalid(.wait, "wait is \"outcome\", or left out") }
        return true
    }
}

extension Target {
    /// The limit of the name of an app, a device or a user in bytes: the daemon remembers many of them.
    public static let longestName = 255

    static let keys = RequestKeys([.platform, .app, .device, .externalID])

    init(_ reader: ObjectReader) throws(ProtocolError) {
        self.init(
            platform: try reader.word(.platform, Platform.self), app: try reader.name(.app),
            device: try reader.name(.device), externalID: try reader.name(.externalID))
    }

    /// The error for a name with a NUL; `nil` if no name has one.
    var nulError: ProtocolError? {
        // No list of the three names: it would allocate memory for each request.
        if app?.hasNUL == true { return Request.nul(in: .app) }
        if device?.hasNUL == true { return Request.nul(in: .device) }
        return externalID?.hasNUL == true ? Request.nul(in: .externalID) : nil
    }
}

extension String {
    fileprivate var hasNUL: Bool { withBytes { $0.contains(0) } }
}

extension DeliverRequest {
    static let keys =
        Request.keys + Target.keys + [
            .transport, .payload, .state, .locked, .osVersion, .notifications, .sdk, .messageID, .headers, .sender,
        ]

    convenience init(_ reader: ObjectReader) throws(ProtocolError) {
        let target = try Target(reader)
        var refusal: SendRefusal?
        if let sender = reader[.sender] {
            guard sender.isObject else { throw reader.wrongType(.sender, sender, wanted: "an object") }
            if try PushSender.check(sender) { refusal = PushSender(reader.node(sender)).refusal }
        }
        self.init(
            target: target, transport: try Self.transport(reader, to: target.platform),
            state: try reader.word(.state, AppState.self) ?? .background,
            locked: try reader.bool(.locked) ?? false, osVersion: try Self.osVersion(reader),
            notifications: try reader.word(.notifications, NotificationPermission.self) ?? .allowed,
            sdk: try reader.word(.sdk, SDKState.self) ?? .ready, payload: try reader.object(.payload),
            messageID: try Self.messageID(reader), headers: try Self.headers(reader, to: target.platform),
            refusal: refusal)
    }

    private static func messageID(_ reader: ObjectReader) throws(ProtocolError) -> String? {
        guard let id = try reader.name(.messageID) else { return nil }
        guard !id.hasNUL else { throw Request.nul(in: .messageID) }
        return id
    }

    private static func headers(
        _ reader: ObjectReader, to platform: Platform?
    ) throws(ProtocolError) -> JSONNode? {
        guard reader[.headers] != nil else { return nil }
        let headers = try reader.object(.headers)
        if let platform, !platform.hasAPNsHeaders {
            throw reader.invalid(
                .headers, "only platform ios has the headers of APNs; platform is \(platform.rawValue)")
        }
        for (name, value) in headers.members {
            let field = "headers.\(name)"
            guard APNsHeader(rawValue: name) != nil else {
                throw ProtocolError(
                    .unknownKey, field: field,
                    message: "headers has no such key; it has "
                        + APNsHeader.allCases.map(\.rawValue).joined(separator: ", "))
            }
            guard value.kind == .string else {
                throw ProtocolError(
                    .invalidType, field: field, message: "\(field) is a string; this is \(value.kind.name)")
            }
        }
        return headers
    }

    private static func transport(
        _ reader: ObjectReader, to platform: Platform?
    ) throws(ProtocolError) -> Transport? {
        guard let transport = try reader.word(.transport, Transport.self) else { return nil }
        guard let platform, platform != transport.platform else { return transport }
        throw reader.invalid(
            .transport,
            "\(transport.rawValue) is a transport of \(transport.platform.rawValue); platform is \(platform.rawValue)"
        )
    }

    static func osVersion(_ reader: ObjectReader) throws(ProtocolError) -> String? {
        guard let text = try reader.name(.osVersion) else { return nil }
        guard OSVersion(text) != nil else {
            throw reader.invalid(
                .osVersion, "os_version is major[.minor[.patch]] in digits, such as 17 or 17.4.1")
        }
        return text
    }
}

extension SessionRequest {
    static let keys = Request.keys + Target.keys + [.kind]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, Kind.self) else {
            throw reader.missing(.kind, ": \(Kind.inWords)")
        }
        self.init(target: try Target(reader), kind: kind)
    }
}

extension TokenRequest {
    static let keys = Request.keys + Target.keys + [.kind, .token]

    /// The limit of a token in bytes. The tokens of all services have at most a few hundred bytes today.
    public static let longestToken = 4096

    init(_ reader: ObjectReader) throws(ProtocolError) {
        let kind = try reader.word(.kind, Kind.self) ?? .new
        let token = try reader.string(.token)
        guard token != nil || kind == .unregistered else {
            throw reader.missing(.token, "; only kind unregistered may leave it out")
        }
        guard token?.utf8.count ?? 0 <= Self.longestToken else {
            throw reader.invalid(.token, "token is longer than \(Self.longestToken) bytes")
        }
        self.init(target: try Target(reader), kind: kind, token: token)
    }
}

extension InteractRequest {
    static let keys = Request.keys + Target.keys + [.kind, .message, .payload, .action, .text, .sdk]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, Kind.self) else {
            throw reader.missing(.kind, ": \(Kind.inWords)")
        }
        let target = try Target(reader)
        let subject = try Self.subject(reader)
        let action = try reader.name(.action)
        guard kind != .action || action != nil else {
            throw reader.missing(.action, ": the id of the button that was pressed")
        }
        for key in [RequestKey.action, .text] where kind != .action && reader[key] != nil {
            throw reader.invalid(key, "only kind action has \(key.word); this is \(kind.rawValue)")
        }
        self.init(
            target: target, kind: kind, subject: subject, action: action, text: try reader.text(.text),
            sdk: try reader.word(.sdk, SDKState.self) ?? .ready)
    }

    private static func subject(_ reader: ObjectReader) throws(ProtocolError) -> Subject {
        switch (reader[.message], reader[.payload]) {
        case (let message?, nil): return try subject(message, reader)
        case (nil, .some): return .payload(try reader.object(.payload))
        case (nil, nil):
            throw ProtocolError(
                .missingKey, field: RequestKey.message.word,
                message: "give message or payload to name the notification")
        case (.some, .some):
            throw reader.invalid(.payload, "give message or payload, not both")
        }
    }

    private static func subject(_ message: JSONView, _ reader: ObjectReader) throws(ProtocolError) -> Subject {
        switch message.kind {
        case .number:
            guard let seq = message.int64, seq > 0 else {
                throw reader.invalid(.message, "message as a number is a seq: a whole number above 0")
            }
            return .delivery(SequenceNumber(seq))
        case .string:
            guard let text = try reader.name(.message) else { preconditionFailure("a member vanished") }
            return .message(text)
        default:
            throw reader.wrongType(.message, message, wanted: "a seq (a number) or a message id (a string)")
        }
    }
}

extension LogRequest {
    /// The keys of an entry beside those of its target.
    static let entryKeys = RequestKeys([.kind, .suite, .brazeID, .name, .properties, .attributes])

    static let keys = Request.keys + Target.keys + entryKeys

    /// Reads the kind and the destination of an entry. The custom data checks later whether its contents keep the
    /// provider's rules, and sets aside, instead of refusing, an entry that breaks them.
    init(_ reader: ObjectReader, _ root: JSONNode) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, EntryKind.self) else {
            throw reader.missing(.kind, ": \(EntryKind.inWords)")
        }
        for key in kind.foreignKeys where reader[key] != nil {
            throw ProtocolError(
                .unknownKey, field: key.word,
                message: "kind \(kind.rawValue) has no \(key.word); it has "
                    + kind.ownKeys.map(\.word).joined(separator: " and "))
        }
        if let attributes = reader[.attributes], attributes.count > Self.attributesMax {
            throw reader.invalid(
                .attributes,
                "attributes has \(attributes.count) members; one request has at most \(Self.attributesMax)")
        }
        self.init(
            target: try Target(reader), suite: try reader.name(.suite), brazeID: try reader.name(.brazeID),
            kind: kind,
            object: root)
    }

    /// The keys that an element of a handler's `log` may have: app, device and user, and those of an entry.
    private static let handlerKeys = RequestKeys([.app, .device, .externalID]) + entryKeys

    /// Reads an element of a handler's `log`.
    ///
    /// - Throws: the error of the first wrong member.
    public init(loggedByHandler element: JSONNode) throws(ProtocolError) {
        guard element.kind == .object else {
            throw ProtocolError(.invalidType, message: "an entry is an object; this is \(element.kind.name)")
        }
        self = try ObjectReader.read(element) { (reader) throws(ProtocolError) in
            try reader.allow(Self.handlerKeys, of: "an entry")
            return try LogRequest(reader, element)
        }
        if let error = target.nulError { throw error }
    }
}

extension EntryKind {
    /// The keys for the contents of an entry of this kind.
    fileprivate var ownKeys: [RequestKey] { self == .customEvent ? [.name, .properties] : [.attributes] }

    fileprivate var foreignKeys: [RequestKey] { self == .customEvent ? [.attributes] : [.name, .properties] }
}
