/// An expression over topics, the `condition` of FCM: `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// Source: Firebase's page on topics: parentheses, then from left to right; `&&`, `||`, `!`; at most five topics.
public struct TopicCondition: Hashable, Sendable {
    /// The facts about expressions that the documentation leaves uncertain.
    public struct Rules: Hashable, Sendable {
        /// The limit of topics in an expression, repeated ones counted.
        public var topicsMax = 5
        /// Whether `&&` and `||` have the same precedence, so that only parentheses and the order count: the page's
        /// words (UNVERIFIED in this form). If not, `&&` has precedence, as in most languages.
        public var isLeftToRight = true
        /// The limit of nested parentheses and negations (UNVERIFIED that there is one): the reader recurses.
        public var depthMax = 32
        /// The limit of an expression in bytes (UNVERIFIED): five topics of 900 bytes, and the rest.
        public var lengthMax = 8 << 10

        /// Creates the likely rules.
        public init() {}
    }

    /// The reason why a text is no condition.
    public struct Fault: Error, Hashable, Sendable {
        /// The fault and its byte, for people.
        public let message: String

        /// Google's message for any fault (firebase/quickstart-python#11).
        public var googleMessage: String { "Invalid condition expression provided." }
    }

    indirect enum Expression: Hashable, Sendable {
        case topic(String)
        case not(Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
    }

    /// The expression as received.
    public let text: String
    /// The topics in the expression in order, each once.
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

    /// Whether a device with these subscriptions gets the message.
    public func isMet(bySubscriptions subscriptions: Set<String>) -> Bool { expression.isMet(by: subscriptions) }

    /// Whether a device without a subscription gets the message: then the topics' members are not all receivers.
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
