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
