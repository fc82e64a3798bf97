/// An expression over topics, as `condition` of FCM has it: `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// Source: Firebase's page on topics: parentheses, then from left to right; `&&`, `||`, `!`; at most five topics.
public struct TopicCondition: Hashable, Sendable {
    /// The facts about expressions that no page is sure of.
    public struct Rules: Hashable, Sendable {
        /// How many topics an expression may name, each time counted.
        public var topicsMax = 5
        /// Whether `&&` binds as tightly as `||`, so that only parentheses and the order count: so the page says it
        /// (UNVERIFIED in this form). Otherwise `&&` comes first, as in most languages.
        public var isLeftToRight = true
        /// How deep parentheses and negations may be (UNVERIFIED that there is a limit): the reader recurses.
        public var depthMax = 32
        /// How long an expression may be, in bytes (UNVERIFIED): five topics of 900 bytes, and what is around them.
        public var lengthMax = 8 << 10

        /// Those that are likely.
        public init() {}
    }

    /// Why a text is no condition.
    public struct Fault: Error, Hashable, Sendable {
        /// The fault and its byte, for people.
        public let message: String

        /// All that Google says of it, whatever is wrong (firebase/quickstart-python#11).
        public var googleMessage: String { "Invalid condition expression provided." }
    }

    indirect enum Expression: Hashable, Sendable {
        case topic(String)
        case not(Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
    }

    /// The expression as it came.
    public let text: String
    /// The topics that it names, in their order, each once.
    public let topics: [String]
    private let expression: Expression

    /// Reads an expression.
    ///
    /// - Throws: the first fault.
    public init(_ text: String, _ rules: Rules = Rules()) throws(Fault) {
        guard text.utf8.count <= rules.lengthMax else {
            throw Fault(message: "the condition has \(text.utf8.count) bytes, more than \(rules.lengthMax)")
        }
        var reader = TopicConditionReader(text, rules)
        self.text = text
        expression = try reader.whole()
        topics = reader.topics.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Whether somebody with these subscriptions gets the message.
    public func isMet(bySubscriptions subscriptions: Set<String>) -> Bool { expression.isMet(by: subscriptions) }

    /// Whether somebody without a subscription gets the message: then the topics' own members are not all who do.
    public var includesNonMembers: Bool { isMet(bySubscriptions: []) }
}

extension TopicCondition.Expression {
    fileprivate func isMet(by subscriptions: Set<String>) -> Bool {
        switch self {
        case .topic(let name): subscriptions.contains(name)
        case .not(let inner): !inner.isMet(by: subscriptions)
        case .and(let left, let right): left.isMet(by: subscriptions) && right.isMet(by: subscriptions)
        case .or(let left, let right): left.isMet(by: subscriptions) || right.isMet(by: subscriptions)
        }
    }
}
