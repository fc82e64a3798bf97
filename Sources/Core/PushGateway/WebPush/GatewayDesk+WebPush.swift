import PushModel
import PushRouter
import PushSettings

// Web push. The daemon keeps the subscriptions: the id of an endpoint is the token of a device of the web.
extension GatewayDesk {
    /// Takes a push to an endpoint: asks for its device, which a guessed endpoint never reaches.
    mutating func push(
        _ id: String, _ incoming: inout SenderRequest, _ generator: inout some RandomNumberGenerator
    ) throws -> Step {
        let subject = FaultSubject(service: .webpush, token: id, topic: incoming.request.header("topic"))
        if let verdict = injected.verdict(on: subject, using: &generator) {
            if case .named = verdict.answer { incoming.target = Target(platform: .web, device: id) }
            return .answer(verdict.answer.response(of: rules.webPush), after: verdict.delay)
        }
        guard let webPush, webPush.isOwn(id, .endpoint) else {
            throw WebPushRefusal(.invalidToken, "this gateway made no such endpoint")
        }
        incoming.target = Target(platform: .web, device: id)
        if let warning = quotas.take(project: nil, token: id, at: incoming.now.monotonic) { remark(warning) }
        let sender = sender(of: incoming, id)
        return .query(
            TokenQuestion.line(token: id, presumed: Target(platform: .web)),
            Exchange(subject: .endpoint(id: id, Indirect(sender)), incoming: Indirect(incoming)))
    }

    /// Checks a push to a device that the daemon named, and delivers it.
    mutating func deliver(
        toEndpoint id: String, _ sender: Indirect<PushSender>, _ device: DaemonDevice,
        _ incoming: inout SenderRequest, using generator: inout some RandomNumberGenerator
    ) -> Step {
        let service = rules.webPush
        let (target, state): (Target, DeviceState)
        switch device {
        case .known(let known, let knownState) where known.platform == Transport.webPush.platform:
            (target, state) = (known, knownState)
        case .known, .presumed:
            return .now(WebPushError.noSubscription.response(of: service, because: "no device has the endpoint"))
        case .ended(let time):
            let cause = "the subscription ended at \(time.rfc3339)"
            return .now(WebPushError.noSubscription.response(of: service, because: cause))
        case .refused(let refusal): return .now(WebPushSend.answer(to: refusal, service))
        case .none:
            return .now(
                WebPushError.unavailable.response(
                    of: service, because: "the daemon gave no answer", retryAfter: RefusalMeaning.secondsWithoutWord))
        }
        guard let webPush else { return .now(WebPushError.invalidToken.response(of: service)) }
        incoming.target = target
        do throws(WebPushRefusal) {
            let messageID = webPush.makeID(.message, using: &generator)
            let send = try WebPushSend(
                incoming.request, to: id, messageID: messageID, at: incoming.now.wall, webPush, service,
                limits: rules.lines)
            if case .unreadable(let fault, _) = send.content { note(fault, in: incoming) }
            return .query(
                send.line(to: target, state, from: sender.value).bytes,
                Exchange(subject: .webPush(send), incoming: Indirect(incoming)))
        } catch {
            return .now(error.error.response(of: service, because: error.cause))
        }
    }

    /// Answers the withdrawal of a message: nothing is left to withdraw, since devices take each push at once.
    func withdraw(_ id: String) throws -> GatewayResponse {
        guard let webPush, webPush.isOwn(id, .message) else {
            throw WebPushRefusal(.invalidToken, "this gateway made no such message")
        }
        return GatewayResponse(status: 204)
    }

    /// Makes an endpoint and its keys. It is nobody's until the daemon knows the id as the token of a device.
    func subscribe(
        _ request: GatewayRequest, using generator: inout some RandomNumberGenerator
    ) throws -> GatewayResponse {
        guard let webPush else { throw WebPushRefusal(.unavailable) }
        var sender: [UInt8]?
        if let text = request.target.query("key") {
            sender = Base64URL.decoded(text.utf8)
            guard let sender, sender.count == 65, webPush.isPoint(sender) else {
                throw WebPushRefusal(.invalidVAPID, "key is no public key on P-256 in base64url")
            }
        }
        let subscription = webPush.subscription(webPush.makeID(.endpoint, for: sender, using: &generator))
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", subscription.id)
            writer.member(
                "keys",
                object: {
                    $0.member("p256dh", Base64URL.encoded(subscription.publicKey))
                    $0.member("auth", Base64URL.encoded(subscription.secret))
                })
        }
        let type = GatewayRequest.Header("content-type", "application/json")
        return GatewayResponse(status: 200, headers: [type], body: writer.line())
    }
}

extension WebPushKeys {
    /// Whether bytes are a point on P-256.
    func isPoint(_ bytes: [UInt8]) -> Bool {
        cryptography.sharedSecret([UInt8](repeating: 0, count: 31) + [1], bytes) != nil
    }
}

extension GatewayRequest {
    /// The word for the service of the request, in the gateway's status.
    public var service: String {
        target.begins(with: "/push/") || target.begins(with: "/m/") ? "webpush" : host.word
    }
}
