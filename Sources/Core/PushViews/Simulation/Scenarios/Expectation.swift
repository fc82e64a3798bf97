import PushModel
import PushRouter

/// An expectation of a scenario: a condition that must hold when the simulation reaches its line.
struct Expectation: Sendable {
    /// The request whose invocations are meant.
    enum RequestName: Sendable {
        case seq(Int64)
        case id(String)
    }

    /// A condition.
    enum Condition: Sendable {
        /// At least one line matches.
        case some(Pattern)
        /// No line matches.
        case none(Pattern)
        /// This many lines match.
        case count(Pattern, Int64)
        /// Exactly these invocations were decided, in order; of one request, or of all.
        case invocations([Pattern], of: RequestName?)
        /// The previous request was refused with this error.
        case error(Pattern)
        /// This many requests have no outcome yet.
        case pending(Int64)
    }

    /// The purpose of the expectation, in the author's words.
    let name: String?
    /// The time of the check; `nil`: after all decisions before the next line with a time.
    let at: WallTime?
    /// The condition.
    let condition: Condition
    /// The JSON text of the condition.
    let text: String

    /// - Parameter line: the object of the line, with a member `expect`.
    init(_ line: JSONNode) throws(ExpectationError) {
        for (key, _) in line.members where !["expect", "at", "name"].contains(key) {
            throw ExpectationError("\(key): beside expect a line may have only at and name")
        }
        guard let expect = line["expect"], expect.kind == .object, expect.count > 0 else {
            throw ExpectationError("expect: must be an object, such as {\"outcome\":\"handled\"}")
        }
        name = try line["name"].map { node throws(ExpectationError) in
            guard let name = node.string else {
                throw ExpectationError("name: must be a string that says what the expectation shows")
            }
            return name
        }
        at = try line["at"].map { node throws(ExpectationError) in
            let time = node.string.map(WallTime.init(rfc3339:)) ?? node.int64.map(WallTime.init(milliseconds:))
            guard let time, Step.span.contains(time.milliseconds) else {
                throw ExpectationError("at: must be RFC 3339 or Unix milliseconds, of the years 1970 to 2200")
            }
            return time
        }
        condition = try Condition(expect)
        text = PushViews.text(of: expect)
    }
}

extension Expectation.Condition {
    fileprivate init(_ expect: JSONNode) throws(ExpectationError) {
        if let pattern = expect["none"] {
            try Self.allow(["none"], in: expect)
            self = .none(try Self.lines(pattern, path: "expect.none"))
        } else if let pattern = expect["count"] {
            try Self.allow(["count", "is"], in: expect)
            self = .count(try Self.lines(pattern, path: "expect.count"), try Self.number("is", of: expect))
        } else if let list = expect["invocations"] {
            try Self.allow(["invocations", "of"], in: expect)
            self = try Self.invocations(list, of: expect["of"])
        } else if Self.subjects.contains(where: { expect[$0.rawValue] != nil }) {
            self = .some(try Self.lines(expect, path: "expect"))
        } else if let pattern = expect["error"] {
            try Self.allow(["error"], in: expect)
            self = .error(try Pattern(pattern, .error, path: "expect.error"))
        } else if expect["pending"] != nil {
            try Self.allow(["pending"], in: expect)
            self = .pending(try Self.number("pending", of: expect))
        } else {
            self = .some(try Pattern(expect, .invocation, path: "expect"))
        }
    }

    /// The subjects other than an invocation; the pattern is then in a member of that name.
    private static let subjects = [Pattern.Subject.event, .entry, .interaction, .breaker]

    private static func lines(_ node: JSONNode, path: String) throws(ExpectationError) -> Pattern {
        for subject in subjects {
            let name = subject.rawValue
            guard let pattern = node[name] else { continue }
            guard node.count == 1 else { throw ExpectationError("\(path): \(name) stands alone") }
            return try Pattern(pattern, subject, path: "\(path).\(name)")
        }
        return try Pattern(node, .invocation, path: path)
    }

    private static func invocations(_ list: JSONNode, of name: JSONNode?) throws(ExpectationError) -> Self {
        guard list.kind == .array else {
            throw ExpectationError("expect.invocations: must be a list with an object for each invocation")
        }
        var patterns: [Pattern] = []
        for (index, element) in list.elements.enumerated() {
            patterns.append(try Pattern(element, .invocation, path: "expect.invocations[\(index)]"))
        }
        guard let name else { return .invocations(patterns, of: nil) }
        if let id = name.string { return .invocations(patterns, of: .id(id)) }
        guard let seq = name.int64 else {
            throw ExpectationError("expect.of: must be the id (a string) or the seq (a number) of a request")
        }
        return .invocations(patterns, of: .seq(seq))
    }

    private static func number(_ key: String, of expect: JSONNode) throws(ExpectationError) -> Int64 {
        guard let number = expect[key]?.int64, number >= 0 else {
            throw ExpectationError("expect.\(key): must be the expected number, a whole number")
        }
        return number
    }

    private static func allow(_ keys: [String], in expect: JSONNode) throws(ExpectationError) {
        for (key, _) in expect.members where !keys.contains(key) {
            throw ExpectationError("expect.\(key): cannot stand beside \(keys[0])")
        }
    }
}

extension Expectation.Condition {
    /// The interaction that the condition expects, even one without a push; `nil` for any other condition.
    var interaction: Pattern? {
        switch self {
        case .some(let pattern): pattern.subject == .interaction ? pattern : nil
        case .count(let pattern, let count): pattern.subject == .interaction && count > 0 ? pattern : nil
        case .none, .invocations, .error, .pending: nil
        }
    }
}

/// The result of a scenario.
public struct ScenarioResult: Hashable, Sendable {
    /// A fact that the reader of the scenario should know, whatever the expectations.
    public struct Warning: Hashable, Sendable {
        /// The line of the scenario, from 1.
        public let line: Int
        /// The fact, as a sentence without a full stop.
        public let message: String
    }

    /// The checks, in the order of the lines: one for each expectation, each unexpected refusal, and each interaction
    /// that unexpectedly found no push.
    public internal(set) var checks: [Check] = []
    /// The warnings, in the order of the lines.
    public internal(set) var warnings: [Warning] = []
}

/// One expectation of a scenario, and its result.
public struct Check: Hashable, Sendable {
    /// The difference from the expectation.
    public struct Failure: Hashable, Sendable {
        /// The difference as a sentence.
        public let message: String
        /// The decided lines that are closest, or that should not exist, each with its differences.
        public let lines: [String]
        /// The end of standard error of the handlers of these lines, with their names.
        public let errors: [String]

        /// The difference in one line: that of the closest line, where there is one.
        public var difference: String { lines.first ?? message }

        init(_ message: String, _ lines: [String] = [], errors: [String] = []) {
            (self.message, self.lines, self.errors) = (message, lines, errors)
        }
    }

    /// The line of the scenario, from 1.
    public let line: Int
    /// The purpose of the expectation, in the author's words.
    public let name: String?
    /// The JSON text of the expectation.
    public let expected: String
    /// The difference; `nil` if the expectation holds.
    public let failure: Failure?
}
