public import PushModel

/// A request, as far as errors on demand look at it.
public struct DemandSubject: Hashable, Sendable {
    /// The service that is asked.
    public var service: DemandedService
    /// The registration, the installation id, or the token of a device; `nil`: a topic or a condition is asked for.
    public var token: String?
    /// The topic, of FCM or of APNs.
    public var topic: String?
    /// The project; `nil` at APNs.
    public var project: String?

    /// Joins the parts.
    public init(service: DemandedService, token: String? = nil, topic: String? = nil, project: String? = nil) {
        self.service = service
        self.token = token
        self.topic = topic
        self.project = project
    }
}

/// A rule by which some requests get another answer than the one that is due.
public struct DemandRule: Hashable, Sendable {
    /// The service; `nil`: each one for which the answer is one.
    public var service: DemandedService?
    /// The pattern of the token; `nil`: anything, also none.
    public var token: Glob?
    /// The pattern of the topic, likewise.
    public var topic: Glob?
    /// The pattern of the project, likewise.
    public var project: Glob?
    /// The answer.
    public var answer: DemandedAnswer
    /// Of a hundred requests that match, how many get it.
    public var probability = 100
    /// How many requests get it at most; `nil`: any number.
    public var count: Int?
    /// How long the answer waits.
    public var delay: Duration = .zero

    /// A rule for each request.
    public init(_ answer: DemandedAnswer) { self.answer = answer }

    fileprivate func matches(_ subject: DemandSubject) -> Bool {
        guard service == nil || service == subject.service else { return false }
        func matches(_ glob: Glob?, _ text: String?) -> Bool {
            glob.map { $0.matches(text ?? "") && text != nil } ?? true
        }
        return matches(token, subject.token) && matches(topic, subject.topic) && matches(project, subject.project)
            && answer.isOne(of: subject.service)
    }
}

/// The errors that somebody asked for. Without an order there are none.
public struct DemandedErrors: Sendable {
    /// An error instead of the answer that is due.
    public struct Verdict: Hashable, Sendable {
        /// The answer.
        public let answer: DemandedAnswer
        /// How long it waits.
        public let delay: Duration
        /// The rule that asks for it, from 0; `nil`: the token itself does.
        public let rule: Int?
    }

    /// Whether tokens that begin with `err-` and the name of an error get it.
    public let takesTokens: Bool
    /// The rules, of which the first one that matches and has its turn decides.
    public private(set) var rules: [DemandRule]

    /// - Parameters:
    ///   - takesTokens: whether tokens that begin with `err-` get the error that they name.
    ///   - rules: in the order in which they are looked at.
    public init(takesTokens: Bool = false, rules: [DemandRule] = []) {
        self.takesTokens = takesTokens
        self.rules = rules
    }

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - subject: the request.
    ///   - generator: for rules that are not for each request.
    /// - Returns: `nil`: the request gets the answer that is due.
    public mutating func verdict(
        on subject: DemandSubject, using generator: inout some RandomNumberGenerator
    ) -> Verdict? {
        if takesTokens, let name = subject.token.flatMap(Self.name),
            let known = DemandedAnswer.Name(name, of: subject.service)
        {
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
        return nil
    }

    /// The failure that a token of many asks for; `nil`: none.
    public func failure(ofToken token: String) -> TopicBatch.Failure? {
        takesTokens ? Self.name(in: token).flatMap(TopicBatch.Failure.init) : nil
    }

    /// The name behind the mark with which a token asks for an error.
    private static func name(in token: String) -> String? {
        let mark = "err-"
        return token.hasPrefix(mark) ? String(token.dropFirst(mark.count)) : nil
    }
}

extension DemandedAnswer {
    /// Whether a service can answer so.
    fileprivate func isOne(of service: DemandedService) -> Bool {
        switch self {
        case .raw: true
        case .named(let name): Name(name.text, of: service) != nil
        }
    }
}
