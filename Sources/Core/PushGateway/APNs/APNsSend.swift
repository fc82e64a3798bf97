import PushModel
import PushRouter

/// Unverified facts about APNs, and checks that an operator may change.
struct APNsRules: Hashable, Sendable {
    /// Whether the token of a device must look like Apple's: an even number of hexadecimal digits.
    var takesOnlyHexadecimalTokens = true
    /// The limit of a token in characters. Apple's have 64 or, some, 160; Apple asks developers to assume no length
    /// (UNVERIFIED).
    var longestToken = 200
    /// The answer to a body that is no JSON object (UNVERIFIED: sources agree on the status only).
    var unreadablePayload = APNsReason.payloadEmpty
    /// The answer to a push type whose topic has a suffix, for a topic without it; `nil` accepts it, with a remark in
    /// the journal: recorded clients send so, and reports name a reason for voip alone: DeviceTokenNotForTopic
    /// (laravel-notification-channels/apn#88, Pr0Ger/PyAPNs2#134).
    var topicWithoutSuffix: APNsReason?
    /// The answer to a topic with the suffix of another push type; `nil` accepts it. Two reports have this reason
    /// (AndrewBarba/apns2#23, Pr0Ger/PyAPNs2#87), one has DeviceTokenNotForTopic, perhaps for a token of alerts
    /// (react-native-webrtc/react-native-voip-push-notification#90).
    var suffixOfAnotherType: APNsReason? = .invalidPushType
    /// The topics that the provider may send to; `nil`: any.
    public var topics: Set<String>?

    /// Creates the likely rules.
    init() {}
}

/// A request to APNs, with APNs' own checks.
struct APNsSend: Sendable {
    /// The sender by its credentials, which decide the headers that it may omit.
    enum Provider: Sendable {
        /// Any sender: the header `authorization` is ignored.
        case any
        /// A sender with a token in the header `authorization`.
        case token
        /// A sender with a certificate, and the topics in it. The first one is the default of requests without a topic.
        case certificate(topics: [String])
    }

    /// The token of the device, unchanged.
    public let token: String
    /// The topic.
    let topic: APNsTopic
    /// `apns-id` of the answer: that of the request to the byte.
    public let id: String?
    /// The headers that control the push, sorted by name.
    public let headers: [GatewayRequest.Header]
    /// The payload.
    let payload: JSONNode
    /// A doubt whether APNs takes the accepted request, for people; `nil` without one.
    var doubt: String? {
        guard let type = pushType, topic.suffix == nil, !topic.suits(pushType: type) else { return nil }
        return
            "apns-push-type is \(type), and apns-topic \(topic.text.showingControls()) has no suffix of this type: APNs may refuse it"
    }

    /// The names of Apple's headers.
    private static let names = Set(APNsHeader.allCases.map(\.rawValue))

    /// The push type; `nil` if the request has none, which means an alert.
    var pushType: String? { header(.pushType) }

    /// `apns-priority`: 10, 5 or 1.
    var priority: Int { header(.priority).flatMap { Int($0) } ?? 10 }

    /// `apns-expiration`: the end of APNs' attempts in seconds since 1970; 0: one attempt; `nil` if the request does
    /// not tell.
    var expiration: Int64? { header(.expiration).flatMap { Int64($0) } }

    /// `apns-collapse-id`.
    var collapseID: String? { header(.collapseID) }

    private func header(_ name: APNsHeader) -> String? { headers.first { $0.name == name.rawValue }?.value }

    /// Reads and checks a request. The order of the checks is ours: for two mistakes Apple may report the other one.
    ///
    /// - Parameters:
    ///   - token: the token in the path.
    ///   - request: the request.
    ///   - provider: the sender.
    ///   - rules: the unverified facts and the operator's choices.
    ///   - limits: the limits of the daemon, which the line for it must keep.
    /// - Throws: APNs' refusal.
    init(
        token: String, _ request: GatewayRequest, from provider: Provider, _ rules: APNsRules = APNsRules(),
        limits: JSONLimits = JSONLimits()
    ) throws(APNsRejection) {
        var own = request.headers.filter { Self.names.contains($0.name) }
        own.sort { $0.name < $1.name }
        for name in Self.names.union(["authorization"]) where request.headers.count(where: { $0.name == name }) > 1 {
            throw APNsRejection(.duplicateHeaders, remark: "\(name) comes more than once")
        }
        self.token = try Self.checked(token, rules)
        id = request.header(APNsHeader.id.rawValue)
        (topic, headers) = try Self.checked(own, request, provider, rules)
        switch request.bodyFault {
        case .tooLong: throw APNsRejection(.payloadTooLarge, remark: request.bodyFault?.description)
        case .notGzip: throw APNsRejection(rules.unreadablePayload, remark: request.bodyFault?.description)
        case nil: payload = try Self.payload(request.body, headers, rules, limits)
        }
    }

    private static func checked(_ token: String, _ rules: APNsRules) throws(APNsRejection) -> String {
        guard !token.isEmpty else { throw APNsRejection(.missingDeviceToken) }
        guard token.utf8.count <= rules.longestToken else {
            throw APNsRejection(.badDeviceToken, remark: "the token has more than \(rules.longestToken) characters")
        }
        guard rules.takesOnlyHexadecimalTokens else { return token }
        guard token.utf8.count.isMultiple(of: 2), token.utf8.allSatisfy({ hexadecimalValue(of: $0) != nil }) else {
            throw APNsRejection(.badDeviceToken, remark: "the token is not an even number of hexadecimal digits")
        }
        return token
    }

    private static func checked(
        _ own: [GatewayRequest.Header], _ request: GatewayRequest, _ provider: Provider, _ rules: APNsRules
    ) throws(APNsRejection) -> (APNsTopic, [GatewayRequest.Header]) {
        var headers = own
        func header(_ name: APNsHeader) -> String? { headers.first { $0.name == name.rawValue }?.value }
        if case .token = provider, request.header("authorization") == nil {
            throw APNsRejection(.missingProviderToken)
        }
        if let refusal = APNsRefusal.ofHeaders(header).first {
            throw APNsRejection(refusal.reason, remark: "\(refusal)")
        }
        let allowed: [String]?
        if case .certificate(let topics) = provider { allowed = topics } else { allowed = rules.topics.map(Array.init) }
        var text = header(.topic)
        if text == nil, case .certificate(let topics) = provider, let first = topics.first {
            headers.append(GatewayRequest.Header("apns-topic", first))
            text = first
        }
        guard let text else { throw APNsRejection(.missingTopic) }
        guard let topic = APNsTopic(text), text.utf8.count <= 255 else { throw APNsRejection(.badTopic) }
        guard allowed?.contains(text) ?? true else { throw APNsRejection(.topicDisallowed) }
        // Without a push type the topic decides (Pr0Ger/PyAPNs2#87).
        if let type = header(.pushType), !topic.suits(pushType: type),
            let reason = topic.suffix == nil ? rules.topicWithoutSuffix : rules.suffixOfAnotherType
        {
            throw APNsRejection(
                reason, remark: "apns-push-type is \(type), and apns-topic \(text) is not one of this type")
        }
        headers.sort { $0.name < $1.name }
        return (topic, headers)
    }

    private static func payload(
        _ body: [UInt8], _ headers: [GatewayRequest.Header], _ rules: APNsRules, _ limits: JSONLimits
    ) throws(APNsRejection) -> JSONNode {
        guard !body.isEmpty else { throw APNsRejection(.payloadEmpty) }
        let limit = APNsRefusal.longestPayload(ofType: headers.first { $0.name == "apns-push-type" }?.value)
        guard body.count <= limit else {
            let refusal = APNsRefusal.payloadTooLarge(length: body.count, limit: limit)
            throw APNsRejection(refusal.reason, remark: "\(refusal)")
        }
        // Two levels are reserved for the line: the object around the payload, and perhaps `userInfo`.
        let limits = JSONLimits(depth: limits.depth - 2, values: limits.values)
        let root: JSONNode
        do {
            root = try JSONDocument(scanning: body, limits: limits).root
        } catch {
            throw APNsRejection(rules.unreadablePayload, remark: "the payload: \(error.message)")
        }
        guard root.kind == .object else {
            throw APNsRejection(rules.unreadablePayload, remark: "the payload is \(root.kind.name), not an object")
        }
        return root
    }
}

// The answer.
extension APNsSend {
    /// The target of an unknown device: the app of the topic, with the token as the device.
    var presumedTarget: Target { Target(platform: .ios, app: topic.app, device: token) }

    /// Returns the request line that delivers the payload to the device.
    public func line(to target: Target) -> DeliverLine {
        DeliverLine(
            DeliverRequest(
                target: target, transport: .apns, payload: payloadOfLine,
                headers: GatewayRequest.Header.object(headers)))
    }

    /// The payload for the line. Wraps one without `aps`, such as one of `voip`, in `userInfo`: otherwise its keys
    /// could make it a message of FCM, for example.
    private var payloadOfLine: JSONNode {
        guard payload["aps"] == nil else { return payload }
        var writer = JSONWriter(reserving: payload.rawBytes.count + 16)
        writer.object { $0.member("userInfo", raw: payload.rawBytes) }
        // The wrapped payload has one level more than the limit of the scan.
        return (try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: .max)))?.root ?? payload
    }

    /// Returns the answer for the daemon's reply.
    ///
    /// - Parameter uniqueID: the value of `apns-unique-id`, by which Apple's console finds a push; `nil` omits the
    ///   header, as Apple does outside the development environment ("Handling notification responses from APNs").
    public func answer(to reply: DaemonReply, uniqueID: UUID128?) -> GatewayResponse {
        switch reply {
        case .accepted:
            var headers = id.map { [GatewayRequest.Header("apns-id", $0)] } ?? []
            if let uniqueID { headers.append(GatewayRequest.Header("apns-unique-id", uniqueID.description)) }
            return GatewayResponse(status: 200, headers: headers)
        case .none:
            return APNsRejection(
                .serviceUnavailable, retryAfter: RefusalMeaning.secondsWithoutWord, remark: "the daemon gave no answer"
            ).response(id: id)
        case .refused(let refusal): return Self.rejection(refusal).response(id: id)
        }
    }

    /// Translates a refusal of the daemon to APNs' reasons. APNs has none for errors inside a payload, since it does
    /// not look there (UNVERIFIED).
    static func rejection(_ refusal: ProtocolError, _ rules: APNsRules = APNsRules()) -> APNsRejection {
        switch RefusalMeaning(refusal) {
        case .later(let seconds):
            APNsRejection(.serviceUnavailable, retryAfter: seconds, remark: refusal.message)
        case .gatewaysFault: APNsRejection(.internalServerError, remark: refusal.message)
        case .notAllowed: APNsRejection(.forbidden, remark: refusal.message)
        case .sendersFault(field: "device"): APNsRejection(.badDeviceToken, remark: refusal.message)
        case .sendersFault(field: "app"): APNsRejection(.badTopic, remark: refusal.message)
        case .sendersFault where refusal.code == .tooLong: APNsRejection(.payloadTooLarge, remark: refusal.message)
        case .sendersFault: APNsRejection(rules.unreadablePayload, remark: refusal.message)
        }
    }
}

/// A refusal of a request to APNs, in APNs' words.
struct APNsRejection: Error, Hashable, Sendable {
    /// APNs' reason, which has the status.
    public let reason: APNsReason
    /// The time since which the token is invalid, for a reason with a timestamp.
    let timestamp: WallTime?
    /// The seconds after which the client may try again; `nil` if the answer does not tell.
    let retryAfter: Int64?
    /// A remark for people, which the answer does not contain.
    public let remark: String?

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - reason: APNs' reason.
    ///   - timestamp: the time since which the token is invalid. A 410 always has one, since clients fail without it
    ///     (apns2-up).
    ///   - retryAfter: the seconds after which the client may try again.
    ///   - remark: a remark for people.
    init(
        _ reason: APNsReason, timestamp: WallTime? = nil, retryAfter: Int64? = nil, remark: String? = nil
    ) {
        self.reason = reason
        self.timestamp = reason.hasTimestamp ? timestamp ?? WallTime(milliseconds: 0) : nil
        self.retryAfter = retryAfter
        self.remark = remark
    }

    /// Returns the answer to a request.
    public func response(to request: GatewayRequest) -> GatewayResponse { response(id: request.header("apns-id")) }

    /// Returns the answer.
    ///
    /// - Parameter id: `apns-id` of the request, unchanged to the byte: aioapns matches answers by it, and waits
    ///   forever without it.
    public func response(id: String?) -> GatewayResponse {
        var writer = JSONWriter()
        writer.object {
            $0.member("reason", reason.rawValue)
            if let timestamp { $0.member("timestamp", timestamp.milliseconds) }
        }
        return GatewayResponse(
            status: reason.status, headers: id.map { [GatewayRequest.Header("apns-id", $0)] } ?? [], body: writer.bytes
        ).retried(afterSeconds: retryAfter).because("APNs", reason.rawValue, remark)
    }
}
