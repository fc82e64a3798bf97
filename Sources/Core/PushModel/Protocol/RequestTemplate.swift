/// The common members of all requests of a source: turns a payload into a request, and adds missing members to a
/// request.
public struct RequestTemplate: Sendable {
    /// A member of a request; the value is JSON.
    private struct Member {
        let key: String
        let value: [UInt8]
        /// The operations that take the member.
        let operations: Set<Operation>
    }

    private var members: [Member] = []
    private var platform: String?

    /// Creates a template with a platform at most.
    ///
    /// - Parameter platform: the word of the platform; `nil`: iOS for a payload with a form of iOS.
    public init(platform: String? = nil) { self.platform = platform }

    /// Adds a member with a text, unless the text is `nil`.
    ///
    /// - Parameters:
    ///   - key: the key of the member.
    ///   - text: its value.
    ///   - operations: the operations that take it.
    public mutating func add(_ key: String, _ text: String?, to operations: Set<Operation>) {
        guard let text else { return }
        var writer = JSONWriter()
        writer.string(text)
        add(key, raw: writer.bytes, to: operations)
    }

    /// Adds a member whose value is JSON already.
    public mutating func add(_ key: String, raw value: [UInt8], to operations: Set<Operation>) {
        members.append(Member(key: key, value: value, operations: operations))
    }

    /// The platform of all requests; `nil`: each payload decides.
    public var chosenPlatform: Platform? { platform.flatMap(Platform.init(rawValue:)) }

    /// Adds the facts that the payload's own form names; values of the template take precedence.
    ///
    /// - Parameters:
    ///   - platform: the platform.
    ///   - app: the app.
    ///   - transport: the service that carries the payload.
    ///   - headers: the headers of the request to APNs, as a JSON object.
    public func completed(
        platform: Platform?, app: String?, transport: Transport? = nil, headers: [UInt8]? = nil
    ) -> RequestTemplate {
        var template = self
        template.platform = self.platform ?? platform?.rawValue
        func has(_ key: String) -> Bool { members.contains { $0.key == key } }
        if !has("app") { template.add("app", app, to: Set(Operation.allCases)) }
        guard template.platform == nil || template.platform == platform?.rawValue else { return template }
        if !has("transport") { template.add("transport", transport?.rawValue, to: [.deliver]) }
        if let headers, !has("headers") { template.add("headers", raw: headers, to: [.deliver]) }
        return template
    }

    /// Returns the request line for an object, without its line feed.
    ///
    /// - Parameters:
    ///   - object: a payload, or a request.
    ///   - isAPNs: whether the object comes from an `.apns` file, and so is for iOS.
    public func line(for object: JSONNode, isAPNs: Bool) -> [UInt8] {
        var template = self
        let operation = object["op"]?.string.flatMap(Operation.init(rawValue:))
        let isRequest = operation != nil || object["op"] != nil && object["payload"] != nil
        let isApple = isAPNs || !isRequest && object.isApplePayload
        template.add("platform", platform ?? (isApple ? Platform.ios.rawValue : nil), to: Set(Operation.allCases))
        if isRequest { return template.filling(object, operation) }
        var writer = JSONWriter(reserving: object.rawBytes.count + 256)
        writer.object { writer in
            writer.member("op", Operation.deliver.rawValue)
            for member in template.members { writer.member(member.key, raw: member.value) }
            writer.member("payload", raw: object.rawBytes)
        }
        return writer.bytes
    }

    /// A request with the missing members added; unchanged if none is missing.
    private func filling(_ request: JSONNode, _ operation: Operation?) -> [UInt8] {
        let missing = members.filter { member in
            request[member.key] == nil && operation.map(member.operations.contains) ?? false
        }
        guard !missing.isEmpty else { return Array(request.rawBytes) }
        var writer = JSONWriter(reserving: request.rawBytes.count + 256)
        writer.object { writer in
            for (key, value) in request.members { writer.member(key, raw: value.rawBytes) }
            for member in missing { writer.member(member.key, raw: member.value) }
        }
        return writer.bytes
    }
}

extension JSONNode {
    /// Whether it is an APNs payload, with `aps` as an object: the values of an Android data map are strings.
    public var isApplePayload: Bool { self["aps"]?.kind == .object }
}

extension JSONWriter {
    /// Writes the members of a `deliver` in the words that ``Request/init(line:limits:)`` reads, without those that
    /// have the default value. The payload keeps its spaces, on one line.
    public mutating func members(of deliver: DeliverRequest) {
        member(RequestKey.op.word, Operation.deliver.rawValue)
        members(of: deliver.target)
        if let transport = deliver.transport { member(RequestKey.transport.word, transport.rawValue) }
        if deliver.state != .background { member(RequestKey.state.word, deliver.state.rawValue) }
        if deliver.locked { member(RequestKey.locked.word, true) }
        if let version = deliver.osVersion { member(RequestKey.osVersion.word, version) }
        if deliver.notifications != .allowed {
            member(RequestKey.notifications.word, deliver.notifications.rawValue)
        }
        if deliver.sdk != .ready { member(RequestKey.sdk.word, deliver.sdk.rawValue) }
        if let id = deliver.messageID { member(RequestKey.messageID.word, id) }
        if let headers = deliver.headers { member(RequestKey.headers.word, raw: headers.onOneLine) }
        member(RequestKey.payload.word, raw: deliver.payload.onOneLine)
    }

    mutating func members(of target: Target) {
        if let platform = target.platform { member(RequestKey.platform.word, platform.rawValue) }
        if let app = target.app { member(RequestKey.app.word, app) }
        if let device = target.device { member(RequestKey.device.word, device) }
        if let user = target.externalID { member(RequestKey.externalID.word, user) }
    }
}

extension JSONNode {
    /// Its bytes with spaces in place of line feeds, which are white space between the tokens and never occur in
    /// strings. Most values have none: a publish copies its payload for each device.
    var onOneLine: ArraySlice<UInt8> {
        let bytes = rawBytes
        let hasLineFeed = bytes.withUnsafeBufferPointer { bytes in
            // Without an early end, so that the compiler compares many bytes at once.
            bytes.reduce(0 as UInt8) { $0 | ($1 == 0x0A || $1 == 0x0D ? 1 : 0) } != 0
        }
        return hasLineFeed ? bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }[...] : bytes
    }
}
