public import PushModel
import PushRouter
import PushSettings

/// Decides on requests: answers each, or makes a line for the daemon and answers by its reply. Has no sockets and no
/// clocks.
///
/// Only the daemon's `ok` leads to a 200 for a push.
public struct GatewayDesk {
    /// The next step for a request.
    public enum Step: Sendable {
        /// Answer, after a delay.
        case answer(GatewayResponse, after: Duration)
        /// Send a line, with its line feed, to the daemon's `inject.sock`, and continue with the reply.
        case query([UInt8], Exchange)
        /// Send the gateway's ``GatewayStatus`` as the answer.
        case status

        static func now(_ response: GatewayResponse) -> Step { .answer(response, after: .zero) }
    }

    /// A request that waits for the daemon's reply.
    public struct Exchange: Sendable {
        /// Indirect: an exchange is copied often.
        indirect enum Subject: Sendable {
            /// Waits for the device of a push.
            case resolving(Push, Indirect<PushSender>)
            /// Waits until the daemon accepts a push.
            case fcm(FCMSend, messageID: String)
            case apns(APNsSend)
            /// Waits until the daemon changes subscriptions, or lists them.
            case topics(TopicSubscriptionRequest)
            case topicBatch(TopicBatch, injected: [TopicBatch.Failure?])
            /// Waits for the device of an endpoint.
            case endpoint(id: String, Indirect<PushSender>)
            /// Waits until the daemon accepts a web push.
            case webPush(WebPushSend)
            case leadership
        }

        /// A push that waits for its device.
        enum Push: Sendable {
            case fcm(FCMSend, messageID: String)
            case apns(APNsSend, GatewayRequest)
        }

        let subject: Subject
        let incoming: Indirect<SenderRequest>
    }

    /// The current time, for one call.
    public struct Now: Sendable {
        /// The wall clock.
        public let wall: WallTime
        /// Monotonic nanoseconds.
        public let monotonic: Int64
        /// Microseconds since 1970, for message ids.
        public let microseconds: Int64

        /// Joins the parts.
        public init(wall: WallTime, monotonic: Int64, microseconds: Int64) {
            (self.wall, self.monotonic, self.microseconds) = (wall, monotonic, microseconds)
        }
    }

    /// The rules.
    public private(set) var rules: DeskRules
    /// Errors on demand.
    public var injected: InjectedErrors
    /// The keys of web push; `nil`: there are no endpoints.
    public var webPush: WebPushKeys?
    /// The remarks for the operator that nobody took yet, at most 16.
    public private(set) var remarks: [String] = []
    /// The numbers of senders' keys, for the status.
    public var credentials: [String: Int] = [:]
    private var verify: (WebToken, TokenSigner) -> SignatureVerdict
    private var tokens: AccessTokens
    private var updates: ProviderTokenUpdates
    private var sends: RecentSends
    var quotas: SendQuotas

    /// - Parameters:
    ///   - rules: the rules.
    ///   - injected: errors on demand.
    ///   - verify: the function that checks a signature.
    public init(
        _ rules: DeskRules = DeskRules(), injected: InjectedErrors = InjectedErrors(),
        verify: @escaping (WebToken, TokenSigner) -> SignatureVerdict = { _, _ in .unknownSigner }
    ) {
        self.rules = rules
        self.injected = injected
        self.verify = verify
        tokens = AccessTokens(limit: rules.remembered)
        updates = ProviderTokenUpdates(rules.providerTokens)
        sends = RecentSends(limit: rules.remembered, window: rules.retryWindow.nanoseconds)
        quotas = SendQuotas(rules.quotas)
    }

    /// Applies other rules from the next request on. Access tokens stay valid, and counts continue.
    public mutating func configure(_ other: GatewayDesk) {
        (rules, injected, verify) = (other.rules, other.injected, other.verify)
        credentials = other.credentials
        quotas.rules = other.rules.quotas
    }

    /// The number of sends over a quota of Google's or Apple's.
    public var sendsOverQuota: Int { quotas.over }

    /// Returns the remarks and clears them.
    public mutating func takeRemarks() -> [String] { exchange(&remarks, with: []) }

    mutating func remark(_ text: String) {
        if remarks.count < 16 { remarks.append(text) }
    }

    /// The refusals since the start.
    public private(set) var refusals = Refusals()
    /// The lines for the daemon by which it keeps refused sends. Nobody waits for their replies.
    private var refusedSends: [[UInt8]] = []
    /// The remarks that are made once.
    private var remarkedOnce: Set<String> = []

    /// Whether there are remarks, or lines of refused sends.
    public var hasNews: Bool { !remarks.isEmpty || !refusedSends.isEmpty }

    /// Returns the lines of refused sends, and forgets them.
    public mutating func takeRefusedSends() -> [[UInt8]] { exchange(&refusedSends, with: []) }

    /// Tells the operator the cause of a refusal, which the services tell nobody, or only the sender.
    private mutating func tell(_ step: Step, of incoming: SenderRequest) -> Step {
        guard case .answer(let answer, _) = step, let refusal = answer.refusal else { return step }
        let request = incoming.request
        let refused = RefusedRequest(
            at: incoming.now.wall, connection: incoming.connection.name, client: request.client,
            request: "\(request.method) \(request.target.shortened)", answer: answer.status, refusal: refusal)
        let (mayBeTold, isLast) = refusals.note(refused, at: incoming.now.monotonic)
        guard mayBeTold else { return step }
        if let line = incoming.line(answer, refusal) { refusedSends.append(line) }
        guard !refusal.isOnDemand else { return step }
        let client = request.client.map { " (\($0))" } ?? ""
        let cause = refusal.cause.map { ": \($0)" } ?? ""
        let last = isLast ? "; further refusals of this minute are not told" : ""
        let service = refusal.service.map { " as \($0) would" } ?? ""
        remark(
            "\(refused.request) from \(refused.connection)\(client) was refused\(service), "
                + "\(answer.status) \(refusal.reason)\(cause)\(last)")
        return step
    }

    /// Tells the operator that no browser can read a push. The service tells nobody: it answers 201.
    mutating func note(_ fault: UnreadableBody, in incoming: SenderRequest) {
        let request = incoming.request
        let refused = RefusedRequest(
            at: incoming.now.wall, connection: incoming.connection.name, client: request.client,
            request: "\(request.method) \(request.target.shortened)", answer: 201,
            refusal: GatewayRefusal(nil, fault.word, fault.cause))
        guard refusals.note(refused, at: incoming.now.monotonic).mayBeTold else { return }
        remark(
            "\(refused.request) from \(refused.connection) is answered 201, and no browser can read it: \(fault.cause)")
    }

    /// Takes a request, and returns the first step.
    ///
    /// - Parameter generator: the source of ids and access tokens; must be secure if tokens are checked.
    public mutating func begin(
        _ request: GatewayRequest, from connection: ConnectionFacts, at now: Now,
        using generator: inout some RandomNumberGenerator
    ) -> Step {
        var request = request
        if request.isForAPNs, request.header(APNsHeader.id.rawValue) == nil {
            // APNs makes an id for a request without one, and returns it with refusals too (sideshow/apns2#105). Apple's
            // own ids are in capitals (UNVERIFIED).
            let id = UUID128(random: &generator).description.uppercased()
            request = request.with(GatewayRequest.Header(APNsHeader.id.rawValue, id))
        }
        var incoming = SenderRequest(request: request, connection: connection, now: now)
        let step: Step
        do {
            step = try self.step(&incoming, &generator)
        } catch let error as Unrouted {
            step = .now(error.response(to: request))
        } catch let error as GoogleError {
            step = .now(error.response)
        } catch let error as AccessTokenError {
            step = .now(error.response)
        } catch let error as TopicBatch.Fault {
            step = .now(error.response)
        } catch let error as APNsRejection {
            step = .now(error.response(to: request))
        } catch let error as WebPushRefusal {
            step = .now(error.error.response(of: rules.webPush, because: error.cause))
        } catch {
            // The calls throw no other error.
            step = .now(GatewayResponse(status: 500))
        }
        return tell(step, of: incoming)
    }

    /// Continues with a request after the daemon's reply.
    ///
    /// - Parameters:
    ///   - exchange: the value from the last step.
    ///   - line: the daemon's reply without its line feed; `nil` if none came and none will come.
    ///   - generator: the source of ids.
    public mutating func proceed(
        _ exchange: Exchange, reply line: [UInt8]?, using generator: inout some RandomNumberGenerator
    ) -> Step {
        var incoming = exchange.incoming
        let step: Step =
            switch exchange.subject {
            case .resolving(let push, let sender): deliver(push, sender, DaemonDevice(line), exchange.incoming)
            case .fcm(let send, let messageID): .now(send.answer(to: DaemonReply(line), messageID: messageID))
            case .apns(let send):
                .now(
                    send.answer(
                        to: DaemonReply(line),
                        uniqueID: incoming.value.request.host == .apns(isSandbox: false)
                            ? nil : UUID128(random: &generator)))
            case .topics(let request): .now(request.answer(to: line))
            case .topicBatch(let batch, let injected): .now(batch.answer(to: line, injected: injected))
            case .leadership: .now(Leadership(DaemonDevice(line)).response)
            case .endpoint(let id, let sender):
                deliver(toEndpoint: id, sender, DaemonDevice(line), &incoming.value, using: &generator)
            case .webPush(let send):
                .now(send.answer(to: DaemonReply(line), rules.webPush, at: incoming.value.request.authority))
            }
        return tell(step, of: incoming.value)
    }

    // MARK: Steps

    private mutating func step(
        _ incoming: inout SenderRequest, _ generator: inout some RandomNumberGenerator
    ) throws -> Step {
        if let refusal = rules.guests.refusal(of: incoming.request, on: incoming.connection) { return .now(refusal) }
        return switch try GatewayRoute(incoming.request, rules.routing) {
        case .send(let project): try send(project, &incoming, &generator)
        case .accessToken: .now(try accessToken(incoming.request, incoming.now, &generator))
        case .subscriptions(let path, let action): try topics(path, action, incoming, &generator)
        case .topicBatch(let isAdding): try batch(isAdding, incoming)
        case .device where !incoming.connection.isHTTP2: .now(.unexpectedHTTP1(incoming.request))
        case .device(let token): try device(token, &incoming, &generator)
        case .push(let id): try push(id, &incoming, &generator)
        case .message(let id): .now(try withdraw(id))
        case .subscription where incoming.connection.isLocal:
            .now(try subscribe(incoming.request, using: &generator))
        case .subscription: throw Unrouted.noSuchPath(isApples: false)
        case .leader: .query(Leadership.question, Exchange(subject: .leadership, incoming: Indirect(incoming)))
        case .status where incoming.connection.isLocal: .status
        case .status: throw Unrouted.noSuchPath(isApples: false)
        }
    }

    private mutating func send(
        _ project: String, _ incoming: inout SenderRequest, _ generator: inout some RandomNumberGenerator
    ) throws -> Step {
        let (request, now) = (incoming.request, incoming.now)
        incoming.target = Target(platform: .android, app: project)
        let account = try account(of: request, now)
        if let fault = request.bodyFault { throw GoogleError(fault) }
        noteProject(project, of: account)
        let send = try FCMSend(
            project: project, body: request.body, limits: rules.lines, conditions: rules.conditions)
        var subject = FaultSubject(service: .fcm, project: project)
        var presumed = Target()
        switch send.recipient {
        case .registration(let token):
            subject.token = token
            presumed = send.presumedTarget(ofRegistration: token)
            incoming.target = presumed
        case .topic(let topic): subject.topic = topic
        case .condition: break
        }
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return .answer(verdict.answer.response(project: project), after: verdict.delay)
        }
        if let warning = quotas.take(project: project, token: subject.token, at: now.monotonic) { remark(warning) }
        let messageID = FCMSend.messageID(microseconds: now.microseconds, random: generator.next())
        var sender = sender(of: incoming, account ?? project)
        sender.account = account
        sender.project = project
        switch send.recipient {
        case .registration(let token):
            return .query(
                TokenQuestion.line(token: token, presumed: presumed),
                Exchange(
                    subject: .resolving(.fcm(send, messageID: messageID), Indirect(sender)),
                    incoming: Indirect(incoming)))
        case .topic, .condition:
            return .query(
                send.publish(messageID: messageID, sender: sender),
                Exchange(subject: .fcm(send, messageID: messageID), incoming: Indirect(incoming)))
        }
    }

    /// Makes a remark that repeats nothing; the first 64 of them.
    private mutating func remarkOnce(_ text: String) {
        guard remarkedOnce.count < 64, remarkedOnce.insert(text).inserted else { return }
        remark(text)
    }

    /// Tells once that an account sends for a project that is not its own: FCM answers 403 unless somebody granted it.
    private mutating func noteProject(_ project: String, of account: String?) {
        guard let account, let own = ServiceAccountName.project(account), own != project
        else { return }
        remarkOnce(
            "\(account.showingControls()) sends for the project \(project.showingControls()), and its own is "
                + "\(own.showingControls()): FCM answers 403 unless the account has a role there")
    }

    /// Delivers a push to the device that the daemon names.
    private func deliver(
        _ push: Exchange.Push, _ sender: Indirect<PushSender>, _ device: DaemonDevice,
        _ incoming: Indirect<SenderRequest>
    ) -> Step {
        if case .apns(let send, let request) = push, case .known(let target, _) = device {
            // The daemon knows whose token it is, as Apple does.
            if let platform = target.platform, !platform.hasAPNsHeaders {
                let cause = "the token is that of an app on \(platform.name)"
                return .now(APNsRejection(.badDeviceToken, remark: cause).response(to: request))
            }
            if let app = target.app, app != send.topic.app {
                let cause = "the token is that of \(app.showingControls()), and apns-topic names \(send.topic.app)"
                return .now(APNsRejection(.deviceTokenNotForTopic, remark: cause).response(to: request))
            }
        }
        switch (push, device.taken(rules.unknown)) {
        case (.fcm(let send, let messageID), .some(let (target, state))):
            var line = send.line(to: target, messageID: messageID).found(state)
            line.sender = sender
            return .query(line.bytes, Exchange(subject: .fcm(send, messageID: messageID), incoming: incoming))
        case (.apns(let send, _), .some(let (target, state))):
            var line = send.line(to: target).found(state)
            line.sender = sender
            return .query(line.bytes, Exchange(subject: .apns(send), incoming: incoming))
        case (_, nil): return .now(refusal(of: push, device))
        }
    }

    /// The answer to a push without a device.
    private func refusal(of push: Exchange.Push, _ device: DaemonDevice) -> GatewayResponse {
        switch (push, device) {
        case (.fcm(let send, let messageID), .refused(let refusal)):
            return send.answer(to: .refused(refusal), messageID: messageID)
        case (.fcm(let send, let messageID), .none): return send.answer(to: .none, messageID: messageID)
        case (.fcm, .ended(let time)):
            return GoogleError(fcm: .unregistered).caused(by: Self.words(ofEnd: time)).response
        case (.fcm, _):
            return GoogleError(fcm: .unregistered).caused(by: Self.noDevice).response
        case (.apns(let send, _), .refused(let refusal)):
            return send.answer(to: .refused(refusal), uniqueID: nil)
        case (.apns(let send, _), .none): return send.answer(to: .none, uniqueID: nil)
        case (.apns(_, let request), .ended(let time)):
            return APNsRejection(.unregistered, timestamp: time, remark: Self.words(ofEnd: time)).response(to: request)
        case (.apns(_, let request), _):
            // The time of the end is unknown: the epoch stands for it.
            return APNsRejection(.unregistered, timestamp: WallTime(milliseconds: 0), remark: Self.noDevice)
                .response(to: request)
        }
    }

    private static let noDevice = "no device registered the token (Unknown=unregistered)"

    private static func words(ofEnd time: WallTime) -> String {
        "the app of its device replaced or unregistered the token at \(time.rfc3339)"
    }

    private mutating func device(
        _ token: String, _ incoming: inout SenderRequest, _ generator: inout some RandomNumberGenerator
    ) throws -> Step {
        let (request, connection, now) = (incoming.request, incoming.connection, incoming.now)
        incoming.target = Target(
            platform: .ios, app: request.header(APNsHeader.topic.rawValue).flatMap(APNsTopic.init)?.app, device: token)
        let subject = FaultSubject(service: .apns, token: token, topic: request.header(APNsHeader.topic.rawValue))
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return .answer(verdict.answer.response(to: request, timestamp: now.wall), after: verdict.delay)
        }
        let provider = try provider(request, connection, now)
        let send = try APNsSend(
            token: token, request, from: provider, rules.apns, limits: rules.lines)
        if let warning = quotas.take(appleToken: token, at: now.monotonic) { remark(warning) }
        if let doubt = send.doubt { remarkOnce(doubt) }
        let proof = try? ProviderToken(request.header("authorization"))
        var sender = sender(of: incoming, proof?.team ?? "")
        sender.account = proof?.keyID ?? connection.certificateTopics?.first
        sender.team = proof?.team
        return .query(
            TokenQuestion.line(token: token, presumed: send.presumedTarget),
            Exchange(subject: .resolving(.apns(send, request), Indirect(sender)), incoming: Indirect(incoming)))
    }

    // MARK: Authentication

    /// The account of a send; `nil` if it is unknown and the rules do not demand one.
    private func account(of request: GatewayRequest, _ now: Now) throws(GoogleError) -> String? {
        let account = BearerToken(request.header("authorization")).flatMap {
            tokens.account(of: $0.text, at: now.wall)
        }
        guard account != nil || rules.accounts == .anybody else { throw .badAccessToken }
        return account
    }

    private mutating func accessToken(
        _ request: GatewayRequest, _ now: Now, _ generator: inout some RandomNumberGenerator
    ) throws(AccessTokenError) -> GatewayResponse {
        if let fault = request.bodyFault { throw AccessTokenError(.invalidRequest, fault.description) }
        let asked = try AccessTokenRequest(body: request.body)
        if rules.accounts == .strict {
            guard case .assertion(let token) = asked, let account = asked.account else {
                throw AccessTokenError(.invalidGrant, "Token has been expired or revoked.")
            }
            if let problem = rules.assertions.problem(of: token, at: now.wall) { throw problem }
            switch verify(token, .account(account)) {
            case .good: break
            case .bad: throw .badSignature
            case .unknownSigner: throw .unknownAccount
            }
        }
        let token = "ya29." + [generator.next(), generator.next(), generator.next()].map(\.hexadecimal).joined()
        let seconds: Int64 = 3599
        tokens.add(
            token, of: asked.account ?? "", until: WallTime(milliseconds: now.wall.milliseconds + seconds * 1000))
        return AccessTokenRequest.response(token: token, validForSeconds: Int(seconds))
    }

    private mutating func provider(
        _ request: GatewayRequest, _ connection: ConnectionFacts, _ now: Now
    ) throws(APNsRejection) -> APNsSend.Provider {
        let hasToken = request.header("authorization") != nil
        if !hasToken, let topics = connection.certificateTopics, rules.providers == .anybody {
            return .certificate(topics: topics)
        }
        guard rules.providers == .strict else { return .any }
        let token: ProviderToken
        do { token = try ProviderToken(request.header("authorization")) } catch {
            let form = "the provider token is a JWT with alg ES256 and kid in its header, iss and iat in its claims"
            throw APNsRejection(error, remark: error == .invalidProviderToken ? form : nil)
        }
        if let reason = rules.providerTokens.refusal(of: token, at: now.wall) {
            throw APNsRejection(reason, remark: token.remark(at: now.wall))
        }
        switch verify(token.token, .providerKey(id: token.keyID, team: token.team)) {
        case .good: break
        case .bad:
            throw APNsRejection(
                .invalidProviderToken,
                remark:
                    "the signature does not fit the key \(token.keyID.showingControls()); that of a JWT is 64 bytes, "
                    + "and not DER as OpenSSL makes it")
        case .unknownSigner:
            throw APNsRejection(
                .invalidProviderToken,
                remark: "no key with kid \(token.keyID.showingControls()) of the team iss "
                    + "\(token.team.showingControls()) is known; kid is the key id, and iss the team")
        }
        if let reason = updates.use(token, on: connection.number) {
            let cause =
                "this connection had another token of the key less than 20 minutes ago: use one for 20 to 60 minutes"
            throw APNsRejection(reason, remark: cause)
        }
        return .token
    }

    // MARK: The sender

    mutating func sender(of incoming: SenderRequest, _ name: String) -> PushSender {
        let request = incoming.request
        var sender = incoming.sender
        sender.answer = 200
        var digest = stableDigest(name.utf8)
        digest = digest &* 31 &+ stableDigest(request.target.description.utf8)
        digest = digest &* 31 &+ stableDigest(request.body)
        // The same body with another topic or push type is another send; apns-id differs with each repeat.
        var ofAPNs = request.headers.filter {
            $0.name.hasPrefix("apns-") && $0.name != APNsHeader.id.rawValue && APNsHeader(rawValue: $0.name) != nil
        }
        ofAPNs.sort { $0.name < $1.name }
        for header in ofAPNs {
            digest = digest &* 31 &+ stableDigest("\(header.name): \(header.value)".utf8)
        }
        let times = sends.take(digest, at: incoming.now.monotonic)
        if times > 1 { sender.times = times }
        return sender
    }
}

// Topics. The daemon stores the subscriptions with the devices.
extension GatewayDesk {
    private mutating func topics(
        _ path: TopicPath, _ action: TopicPath.Action, _ incoming: SenderRequest,
        _ generator: inout some RandomNumberGenerator
    ) throws -> Step {
        _ = try account(of: incoming.request, incoming.now)
        let asked = try TopicSubscriptionRequest(path, action, incoming.request)
        let subject = FaultSubject(service: .topics, token: path.registration, project: path.project)
        if let verdict = injected.verdict(on: subject, using: &generator) {
            return .answer(verdict.answer.response(project: path.project), after: verdict.delay)
        }
        return .query(
            try asked.line(unknown: rules.unknown), Exchange(subject: .topics(asked), incoming: Indirect(incoming)))
    }

    private mutating func batch(_ isAdding: Bool, _ incoming: SenderRequest) throws -> Step {
        let account = try account(of: incoming.request, incoming.now)
        let project = account.flatMap(ServiceAccountName.project) ?? TopicName.anyProject
        if let fault = incoming.request.bodyFault { throw TopicBatch.Fault(message: fault.description) }
        let batch = try TopicBatch(isAdding: isAdding, body: incoming.request.body)
        let failures = batch.tokens.map { token -> TopicBatch.Failure? in
            guard GoogleError.fault(inRegistration: token) == nil else { return .invalidArgument }
            let demanded = injected.failure(ofToken: token)
            if let cause = demanded?.cause { remark(cause) }
            return demanded?.failure
        }
        return .query(
            try batch.line(project: project, unknown: rules.unknown, without: failures),
            Exchange(subject: .topicBatch(batch, injected: failures), incoming: Indirect(incoming)))
    }
}

extension DaemonReply {
    fileprivate init(_ line: [UInt8]?) { self = line.map(DaemonReply.init(line:)) ?? .none }
}

extension Leadership {
    /// A question that changes nothing, and that a daemon refuses while it takes no pushes.
    static let question = TokenQuestion.line(token: "leader", presumed: Target())

    /// Reads the daemon's answer to `question`.
    init(_ reply: DaemonDevice) {
        switch reply {
        case .none: self = .elsewhere("the daemon does not answer")
        case .refused(let refusal): self = .elsewhere(refusal.message)
        case .known, .presumed, .ended: self = .leads
        }
    }
}

extension UInt64 {
    /// The number in 16 hexadecimal digits.
    var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64((15 - place) * 4)) & 0xF
                digits.initializeElement(at: place, to: digit < 10 ? 48 + digit : 87 + digit)
            }
            return 16
        }
    }
}

extension UUID128 {
    /// A random UUID (RFC 9562, version 4).
    init(random generator: inout some RandomNumberGenerator) {
        self.init(
            high: generator.next() & ~0xF000 | 0x4000, low: generator.next() & ~(3 << 62) | 2 << 62)
    }
}

extension RequestTarget {
    /// The path for people, with the middle of each long part, such as a token, cut out.
    var shortened: String {
        if isShort { return description }
        let path = description.utf8.prefix { $0 != UInt8(ascii: "?") }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { part -> String in
            let text = String(decoding: part, as: UTF8.self)
            guard text.utf8.count > 32 else { return text }
            return "\(text.prefix(8))…\(text.suffix(4))"
        }
        return parts.joined(separator: "/")
    }

    /// Whether nothing is cut out: it has no query, and no long part.
    private var isShort: Bool {
        description.withBytes { path in
            var (longest, length, hasQuery) = (0, 0, false)
            for byte in path {
                length = byte == UInt8(ascii: "/") ? 0 : length + 1
                longest = max(longest, length)
                if byte == UInt8(ascii: "?") { hasQuery = true }
            }
            return longest <= 32 && !hasQuery
        }
    }
}
