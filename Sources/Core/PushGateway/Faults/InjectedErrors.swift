public import PushModel
import PushRouter
import PushSettings

/// The facts of a request that rules for errors on demand match.
public struct FaultSubject: Hashable, Sendable {
    /// The service of the request.
    public var service: FaultService
    /// The registration, the installation id, or the token of a device; `nil` for a request to a topic or a condition.
    public var token: String?
    /// The topic, of FCM or of APNs.
    var topic: String?
    /// The project; `nil` for APNs.
    var project: String?
}

/// A rule that gives some requests another answer than the regular one.
public struct FaultRule: Hashable, Sendable {
    /// The service; `nil`: every service that has this answer.
    public var service: FaultService?
    /// The pattern of the token; `nil` matches every request, even one without a token.
    public var token: Glob?
    /// The pattern of the topic, with the same meaning of `nil`.
    var topic: Glob?
    /// The pattern of the project, with the same meaning of `nil`.
    var project: Glob?
    /// The answer.
    public var answer: InjectedAnswer
    /// The percentage of matching requests that get the answer.
    var probability = 100
    /// The remaining number of requests that get the answer; `nil`: unlimited.
    public var count: Int?
    /// The delay of the answer.
    public var delay: Duration = .zero

    /// Creates a rule for every request.
    public init(_ answer: InjectedAnswer) { self.answer = answer }

    fileprivate func matches(_ subject: FaultSubject) -> Bool {
        guard service == nil || service == subject.service else { return false }
        func matches(_ glob: Glob?, _ text: String?) -> Bool {
            glob.map { $0.matches(text ?? "") && text != nil } ?? true
        }
        return matches(token, subject.token) && matches(topic, subject.topic) && matches(project, subject.project)
            && answer.isOne(of: subject.service)
    }
}

/// The errors on demand. None by default.
public struct InjectedErrors: Sendable {
    /// An error in place of the regular answer.
    public struct Verdict: Hashable, Sendable {
        /// The answer.
        public let answer: InjectedAnswer
        /// The delay of the answer.
        public let delay: Duration
        /// The index of the rule that demands it; `nil` if the token demands it.
        let rule: Int?
    }

    /// Whether a token of `err-` and the name of an error gets that error.
    public let takesTokens: Bool
    /// The rules. The first one that matches, has uses left, and is drawn by its probability decides.
    public private(set) var rules: [FaultRule]

    /// - Parameters:
    ///   - takesTokens: whether a token of `err-` and the name of an error gets that error.
    ///   - rules: the rules, in the order of their evaluation.
    public init(takesTokens: Bool = false, rules: [FaultRule] = []) {
        self.takesTokens = takesTokens
        self.rules = rules
    }

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - subject: the request.
    ///   - generator: the source of chance for rules with a probability below 100.
    /// - Returns: `nil` for the regular answer.
    public mutating func verdict(
        on subject: FaultSubject, using generator: inout some RandomNumberGenerator
    ) -> Verdict? {
        let name = takesTokens ? subject.token.flatMap(Self.name) : nil
        if let known = name.flatMap({ InjectedAnswer.Name($0, of: subject.service) }) {
            return Verdict(answer: .named(known), delay: .zero, rule: nil)
        }
        for place in rules.indices where rules[place].matches(subject) {
            let rule = rules[place]
            guard rule.count ?? 1 > 0,
                rule.probability >= 100 || Int.random(in: 0..<100, using: &generator) < rule.probability
            else { continue }
            rules[place].count = rule.count.map { $0 - 1 }
            return Verdict(answer: rule.answer, delay: rule.delay, rule: place)
        }
        return name.map {
            let cause = Self.cause(ofUnknown: $0, among: InjectedAnswer.Name.all(of: subject.service))
            return Verdict(answer: .unknown(cause: cause), delay: .zero, rule: nil)
        }
    }

    /// The failure that one token of a batch demands, with the cause for people if the token names none; `nil` if it
    /// demands no failure.
    public func failure(ofToken token: String) -> (failure: TopicBatch.Failure, cause: String?)? {
        guard takesTokens, let name = Self.name(in: token) else { return nil }
        if let failure = TopicBatch.Failure(rawValue: name) { return (failure, nil) }
        guard let known = InjectedAnswer.Name(name, of: .topics) else {
            let names = TopicBatch.Failure.allCases.map(\.rawValue) + InjectedAnswer.Name.all(of: .topics)
            return (.invalidArgument, Self.cause(ofUnknown: name, among: names))
        }
        let status = InjectedAnswer.named(known).response(project: "").status
        return TopicBatch.Failure(ofStatus: status).map { ($0, nil) }
    }

    private static let mark = "err-"

    /// The name behind the prefix `err-` of a token.
    private static func name(in token: String) -> String? {
        token.hasPrefix(mark) ? String(token.dropFirst(mark.count)) : nil
    }

    private static func cause(ofUnknown name: String, among names: [String]) -> String {
        "there is no error on demand of the name \(name.showingControls())"
            + suggestion(for: name, among: names) { mark + $0 }
    }
}

extension InjectedAnswer {
    /// Whether a service has this answer.
    fileprivate func isOne(of service: FaultService) -> Bool {
        switch self {
        case .raw, .unknown: true
        case .named(let name): Name(name.text, of: service) != nil
        }
    }
}

/// The services for which errors can be demanded.
public enum FaultService: String, Hashable, Sendable, CaseIterable {
    /// Sends of FCM.
    case fcm
    /// Single subscriptions of FCM's topics.
    case topics
    /// Sends of APNs.
    case apns
    /// Web pushes.
    case webpush
}

/// An answer on demand in place of the regular one.
public enum InjectedAnswer: Hashable, Sendable {
    /// An answer of the service, by its name.
    case named(Name)
    /// Any answer.
    case raw(status: Int, headers: [GatewayRequest.Header], body: [UInt8])
    /// The refusal of a token that names no answer: a test with a misspelt name must not pass.
    case unknown(cause: String)

    /// The name of an answer: `UNREGISTERED`, `Unregistered`; the suffix `+ra` adds a `Retry-After`.
    public struct Name: Hashable, Sendable {
        /// The name, without `+ra`.
        public let text: String
        /// The seconds of `Retry-After`; `nil` for an answer without one.
        let retryAfter: Int64?

        /// - Parameter text: the name of an answer of a service.
        /// - Returns: `nil` if the service has no such answer.
        init?(_ text: String, of service: FaultService) {
            let says = text.hasSuffix(Self.retryMark)
            self.text = says ? String(text.dropLast(Self.retryMark.count)) : text
            retryAfter = says ? RefusalMeaning.secondsWithoutWord : nil
            let isKnown =
                switch service {
                case .apns: APNsReason(rawValue: self.text) != nil
                case .webpush: WebPushError(named: self.text) != nil
                case .fcm, .topics: FCMErrorCode(rawValue: self.text) != nil || Self.special[self.text] != nil
                }
            guard isKnown else { return nil }
        }

        /// The names of a service's answers.
        static func all(of service: FaultService) -> [String] {
            switch service {
            case .apns: APNsReason.allCases.map(\.rawValue)
            case .webpush: WebPushError.names
            case .fcm, .topics: FCMErrorCode.allCases.map(\.rawValue) + special.keys
            }
        }

        private static let retryMark = "+ra"

        fileprivate static let badToken = GoogleError(.badToken(field: "message.token"))

        /// Google's answers without an `errorCode` of this name, or with more than the code, as functions of the project.
        fileprivate static let special: [String: @Sendable (_ project: String) -> GatewayResponse] = [
            // The commonest error of this code; no answer has the code alone.
            FCMErrorCode.invalidArgument.rawValue: { _ in badToken.response },
            "BADREQUEST": { _ in badToken.response },
            "APNS": { _ in
                let reason = APNsReason.badDeviceToken
                return GoogleError.refusedByAPNs(statusCode: reason.status, reason: reason.rawValue).response
            },
            "401": { _ in GoogleError.badAccessToken.response },
            "403API": { GoogleError.disabled(project: $0).response },
            "409": { _ in TopicSubscriptionOutcome.exists.response },
            "NODETAIL404": { _ in GoogleError.notFound.response },
            "HTML502": { _ in
                GatewayResponse(
                    status: 502, headers: [GatewayRequest.Header("content-type", "text/html; charset=UTF-8")],
                    body: Array("<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>".utf8))
            },
        ]
    }

    /// Returns the answer to a request to FCM.
    ///
    /// - Parameter project: the project of the request.
    public func response(project: String) -> GatewayResponse {
        switch self {
        case .unknown(let cause): Name.badToken.caused(by: cause).response
        case .raw(let status, let headers, let body): GatewayResponse(status: status, headers: headers, body: body)
        case .named(let name):
            (Name.special[name.text]?(project)
                ?? GoogleError(fcm: FCMErrorCode(rawValue: name.text) ?? .unspecified).response)
                .retried(afterSeconds: name.retryAfter).onDemand()
        }
    }

    /// Returns the answer to a web push.
    ///
    /// - Parameter service: the service whose answer it is.
    func response(of service: GatewaySettings.WebPushService) -> GatewayResponse {
        switch self {
        case .unknown(let cause): return WebPushError.invalidToken.response(of: service, because: cause)
        case .raw(let status, let headers, let body):
            return GatewayResponse(status: status, headers: headers, body: body)
        case .named(let name):
            let error = WebPushError(named: name.text) ?? .internalError
            return error.response(of: service, retryAfter: name.retryAfter).onDemand()
        }
    }

    /// Returns the answer to a request to APNs.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - timestamp: the time since which a token is invalid, for a reason with a timestamp.
    public func response(to request: GatewayRequest, timestamp: WallTime) -> GatewayResponse {
        switch self {
        case .unknown(let cause): return APNsRejection(.badDeviceToken, remark: cause).response(to: request)
        case .raw(let status, let headers, let body):
            let id = request.header("apns-id").map { [GatewayRequest.Header("apns-id", $0)] } ?? []
            let hasID = headers.contains { $0.name == "apns-id" }
            return GatewayResponse(status: status, headers: (hasID ? [] : id) + headers, body: body)
        case .named(let name):
            let reason = APNsReason(rawValue: name.text) ?? .internalServerError
            return APNsRejection(reason, timestamp: timestamp, retryAfter: name.retryAfter).response(to: request)
                .onDemand()
        }
    }
}
