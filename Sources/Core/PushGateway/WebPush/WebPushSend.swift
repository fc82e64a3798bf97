import PushModel
import PushRouter
import PushSettings

/// A web push with the headers that its service reads, checked in the order of the service.
///
/// Source: RFC 8030 (5 to 8), RFC 8291, RFC 8292.
struct WebPushSend: Sendable {
    /// The text in the form of a payload, with a remark for people; or why no browser can read it.
    enum Content: Sendable {
        case payload(JSONNode, remark: String?)
        case unreadable(UnreadableBody, body: [UInt8])
    }

    /// The id of the message, the last part of its `Location`.
    let messageID: String
    /// `TTL`, shortened to the longest of the service.
    let ttl: Int64
    let content: Content
    private let urgency: String?
    private let topic: String?
    private let proof: VAPID?

    /// The longest body that every service takes (RFC 8030, 7.2).
    static let longestBody = 4096

    /// Checks a request, and decrypts its body.
    ///
    /// - Throws: the answer of the service.
    init(
        _ request: GatewayRequest, to id: String, messageID: String, at now: WallTime, _ keys: WebPushKeys,
        _ service: GatewaySettings.WebPushService, limits: JSONLimits
    ) throws(WebPushRefusal) {
        self.messageID = messageID
        guard let text = request.header("ttl") else { throw WebPushRefusal(.noTTL, "a push needs the header TTL") }
        guard let seconds = Int64(text), seconds >= 0 else {
            throw WebPushRefusal(.invalidTTL, "TTL is \(Self.shown(text)), and must be a whole number of seconds")
        }
        ttl = min(seconds, service.longestTTL)
        topic = request.header("topic")
        if let topic, !(1...32).contains(topic.utf8.count) || !topic.utf8.allSatisfy(Base64URL.isDigit) {
            throw WebPushRefusal(
                .invalidTopic, "Topic is \(Self.shown(topic)), and has 1 to 32 of A-Z, a-z, 0-9, - and _")
        }
        urgency = request.header("urgency")
        if let urgency, !["very-low", "low", "normal", "high"].contains(urgency) {
            throw WebPushRefusal(.invalidUrgency, "Urgency is \(Self.shown(urgency))")
        }
        switch request.bodyFault {
        case .tooLong(let limit): throw WebPushRefusal(.payloadTooLarge, "the body has more than \(limit) bytes")
        case .notGzip: throw WebPushRefusal(.invalidEncryption, request.bodyFault?.description)
        case nil: break
        }
        guard request.body.count <= Self.longestBody else {
            throw WebPushRefusal(
                .payloadTooLarge,
                "the body has \(request.body.count) bytes, and every service takes \(Self.longestBody): a text of 3,993 in aes128gcm"
            )
        }
        proof = try VAPID(request)
        if let proof {
            if let cause = proof.fault(in: request, at: now, keys.cryptography) {
                throw WebPushRefusal(.invalidVAPID, cause)
            }
            guard keys.isSender(proof.key, of: id) else {
                throw WebPushRefusal(.invalidVAPID, "the subscription is for another key (applicationServerKey)")
            }
        } else if keys.hasSender(id) {
            throw WebPushRefusal(.noVAPID, "the subscription is for one sender, who must prove its key (VAPID)")
        }
        content = try Self.content(of: request, for: id, keys, limits)
    }

    private static func shown(_ text: String) -> String { "\"\(text.cut(toBytes: 40).showingControls())\"" }

    private static func content(
        of request: GatewayRequest, for id: String, _ keys: WebPushKeys, _ limits: JSONLimits
    ) throws(WebPushRefusal) -> Content {
        let encoding = request.header("content-encoding")?.lowercased()
        // A push without a body is an event without data.
        guard !request.body.isEmpty else { return payload(of: [], limits) }
        var old: (salt: [UInt8], key: [UInt8])?
        switch encoding {
        case "aes128gcm": break
        case "aesgcm":
            guard let salt = parameter("salt", of: request.header("encryption")),
                let key = parameter("dh", of: request.header("crypto-key"))
            else {
                throw WebPushRefusal(.invalidEncryption, "aesgcm needs Encryption: salt=... and Crypto-Key: dh=...")
            }
            old = (salt, key)
        default:
            throw WebPushRefusal(
                .invalidEncryption,
                "Content-Encoding is \(encoding.map(shown) ?? "missing"), and must be aes128gcm or aesgcm")
        }
        do throws(UnreadableBody) {
            let body = try WebPushBody(request.body, salt: old?.salt, senderKey: old?.key)
            return payload(of: try body.text(for: keys.subscription(id), keys.cryptography), limits)
        } catch {
            return .unreadable(error, body: request.body)
        }
    }

    /// A parameter of a header of the old draft, in base64url.
    static func parameter(_ name: String, of header: String?) -> [UInt8]? {
        HeaderParameters(header ?? "")[name].flatMap { Base64URL.decoded($0) }
    }

    private static func payload(of text: [UInt8], _ limits: JSONLimits) -> Content {
        // The line has one level around the payload.
        let read = WebPushText(text, limits: JSONLimits(depth: limits.depth - 1, values: limits.values))
        return .payload(read.payload, remark: read.remark)
    }
}

extension WebPushSend {
    /// Returns the line that delivers the push, or keeps the unreadable one.
    func line(to target: Target, _ state: DeviceState, from known: PushSender) -> DeliverLine {
        var sender = known
        sender.answer = 201
        sender.account = proof?.subject
        sender.key = proof.map { Base64URL.encoded($0.key) }
        (sender.urgency, sender.topic, sender.ttl) = (urgency, topic, ttl)
        let payload: JSONNode
        switch content {
        case .payload(let node, let remark):
            payload = node
            sender.cause = remark
        case .unreadable(let fault, let body):
            (sender.reason, sender.cause) = (fault.word, fault.cause)
            payload = WebPushText.wrapped("encrypted", Base64URL.encoded(body))
        }
        let deliver = DeliverRequest(target: target, transport: .webPush, payload: payload, messageID: messageID)
        return DeliverLine(deliver, sender: Indirect(sender)).found(state)
    }

    /// Returns the answer for the daemon's reply.
    func answer(
        to reply: DaemonReply, _ service: GatewaySettings.WebPushService, at authority: String?
    ) -> GatewayResponse {
        switch reply {
        case .accepted:
            return GatewayResponse(
                status: 201,
                headers: [
                    GatewayRequest.Header("location", "https://\(authority ?? "localhost")/m/\(messageID)"),
                    GatewayRequest.Header("ttl", String(ttl)),
                ])
        case .none:
            return WebPushError.unavailable.response(
                of: service, because: "the daemon gave no answer", retryAfter: RefusalMeaning.secondsWithoutWord)
        case .refused(let refusal): return Self.answer(to: refusal, service)
        }
    }

    /// Returns the answer for a refusal of the daemon.
    static func answer(to refusal: ProtocolError, _ service: GatewaySettings.WebPushService) -> GatewayResponse {
        switch RefusalMeaning(refusal) {
        case .later(let seconds):
            WebPushError.unavailable.response(of: service, because: refusal.message, retryAfter: seconds)
        // RFC 8292 has no other status for a sender that may not send.
        case .notAllowed: WebPushError.invalidVAPID.response(of: service, because: refusal.message)
        case .gatewaysFault, .sendersFault: WebPushError.internalError.response(of: service, because: refusal.message)
        }
    }
}

/// The proof of a sender (RFC 8292), with an unchecked signature.
struct VAPID: Sendable {
    private let token: WebToken
    /// The sender's public key.
    let key: [UInt8]

    /// The claim `sub`, by which a service reaches the sender.
    var subject: String? { token.text("sub") }

    /// The longest time until `exp`, in seconds.
    private static let longestLife: Int64 = 86400

    /// Reads `Authorization`, and of the old draft `Crypto-Key`; `nil`: the request has no proof.
    ///
    /// - Throws: if it has no form that services read.
    init?(_ request: GatewayRequest) throws(WebPushRefusal) {
        guard let header = request.header("authorization") else { return nil }
        let scheme = header.prefix { $0 != " " }.lowercased()
        let rest = String(header.dropFirst(scheme.utf8.count + 1))
        let text: String?
        let key: [UInt8]?
        switch scheme {
        case "vapid":
            let parameters = HeaderParameters(rest)
            text = parameters["t"].map { String(decoding: $0, as: UTF8.self) }
            key = parameters["k"].flatMap { Base64URL.decoded($0) }
        case "webpush", "bearer":
            (text, key) = (rest, WebPushSend.parameter("p256ecdsa", of: request.header("crypto-key")))
        default:
            throw WebPushRefusal(
                .invalidVAPID,
                "Authorization has the scheme \(scheme.cut(toBytes: 20).showingControls()), and must be vapid")
        }
        guard let token = text.flatMap({ WebToken($0) }) else {
            throw WebPushRefusal(.invalidVAPID, "Authorization has no JWT in t=")
        }
        guard let key, key.count == 65 else {
            throw WebPushRefusal(.invalidVAPID, "k= is no public key of 65 bytes in base64url")
        }
        (self.token, self.key) = (token, key)
    }

    /// The fault of the proof, for people; `nil`: it is good.
    func fault(in request: GatewayRequest, at now: WallTime, _ cryptography: some WebPushCryptography) -> String? {
        guard token.algorithm == "ES256" else { return "alg of the JWT must be ES256" }
        guard let audience = token.text("aud"), let authority = request.authority?.lowercased() else {
            return "the JWT has no aud"
        }
        guard ["https", "http"].contains(where: { Self.isOrigin(audience, $0, authority) }) else {
            return
                "aud is \(audience.cut(toBytes: 100).showingControls()), and the endpoint's origin is https://\(authority.cut(toBytes: 100).showingControls())"
        }
        guard let end = token.time("exp") else { return "the JWT has no exp" }
        guard end > now else { return "exp was \(now.seconds - end.seconds) s ago" }
        guard end.seconds - now.seconds <= Self.longestLife else {
            return "exp is \(end.seconds - now.seconds) s ahead, and at most 24 hours are allowed"
        }
        guard cryptography.isSignature(token.signature, of: token.signedBytes, by: key) else {
            return "the signature of the JWT is not by the key in k="
        }
        return nil
    }

    private static func isOrigin(_ audience: String, _ scheme: String, _ authority: String) -> Bool {
        let port = scheme == "https" ? ":443" : ":80"
        func plain(_ text: String) -> String { text.hasSuffix(port) ? String(text.dropLast(port.utf8.count)) : text }
        return plain(audience.lowercased()) == plain("\(scheme)://\(authority)")
    }
}

/// The parameters of a header: `t=..., k=...`, or `dh=...;p256ecdsa=...`.
struct HeaderParameters {
    private let values: [(name: String, value: Substring.UTF8View)]

    init(_ header: String) {
        values = header.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }.compactMap { part in
            let part = part.drop { $0 == 0x20 || $0 == 0x09 }
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let quote = UInt8(ascii: "\"")
            var value = part.dropFirst(name.count + 1)
            while let last = value.last, last == 0x20 || last == 0x09 || last == quote { value.removeLast() }
            return (String(decoding: name, as: UTF8.self).lowercased(), value.drop { $0 == quote })
        }
    }

    /// The first value of a name.
    subscript(_ name: String) -> Substring.UTF8View? { values.first { $0.name == name }?.value }
}
