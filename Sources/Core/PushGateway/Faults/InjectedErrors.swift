public import PushModel

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
