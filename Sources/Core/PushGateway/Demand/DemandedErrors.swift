public import PushModel

/// The fields of a request that rules for errors on demand match.
public struct DemandSubject: Hashable, Sendable {
    /// The service.
    public var service: DemandedService
    /// The registration, the installation id, or the token of a device; `nil`: the request is for a topic or a
    /// condition.
    public var token: String?
    /// The topic, of FCM or of APNs.
    public var topic: String?
    /// The project; `nil` for APNs.
    public var project: String?

    /// Joins the parts.
    public init(service: DemandedService, token: String? = nil, topic: String? = nil, project: String? = nil) {
        self.service = service
        self.token = token
        self.topic = topic
        self.project = project
    }
}

/// A rule by which some requests get another answer than the regular one.
public struct DemandRule: Hashable, Sendable {
    /// The service; `nil`: every service that has the answer.
    public var service: DemandedService?
    /// The pattern of the token; `nil`: any token, or none.
    public var token: Glob?
    /// The pattern of the topic; `nil`: any topic, or none.
    public var topic: Glob?
    /// The pattern of the project; `nil`: any project, or none.
    public var project: Glob?
    /// The answer.
    public var answer: DemandedAnswer
    /// The percentage of matching requests that get the answer.
    public var probability = 100
    /// The remaining number of requests that get the answer; `nil`: any number.
    public var count: Int?
    /// The delay of the answer.
    public var delay: Duration = .zero

    /// Makes a rule that matches every request.
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

/// The errors on demand; none by default.
public struct DemandedErrors: Sendable {
    /// An answer in place of the regular one.
    public struct Verdict: Hashable, Sendable {
        /// The answer.
        public let answer: DemandedAnswer
        /// Its delay.
        public let delay: Duration
        /// The index of its rule, from 0; `nil`: the token itself names the error.
        public let rule: Int?
    }

    /// Whether a token with `err-` and the name of an error gets this error.
    public let takesTokens: Bool
    /// The rules. The first one that matches decides, unless its count is used up or its probability does not hit.
    public private(set) var rules: [DemandRule]

    /// - Parameters:
    ///   - takesTokens: whether a token with `err-` gets the error that it names.
    ///   - rules: the rules in the order of evaluation.
    public init(takesTokens: Bool = false, rules: [DemandRule] = []) {
        self.takesTokens = takesTokens
        self.rules = rules
    }

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - subject: the request.
    ///   - generator: the source of random numbers, for rules with a probability below 100.
    /// - Returns: the answer on demand; `nil`: the request gets the regular answer.
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

    /// Returns the failure that a token of a batch names; `nil` if there is none.
    public func failure(ofToken token: String) -> TopicBatch.Failure? {
        takesTokens ? Self.name(in: token).flatMap(TopicBatch.Failure.init) : nil
    }

    /// Returns the name after `err-` in a token; `nil` if it does not begin so.
    private static func name(in token: String) -> String? {
        let mark = "err-"
        return token.hasPrefix(mark) ? String(token.dropFirst(mark.count)) : nil
    }
}

extension DemandedAnswer {
    /// Whether a service has this answer.
    fileprivate func isOne(of service: DemandedService) -> Bool {
        switch self {
        case .raw: true
        case .named(let name): Name(name.text, of: service) != nil
        }
    }
}
