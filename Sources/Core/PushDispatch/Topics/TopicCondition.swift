/// A boolean expression over topics, as in FCM's `condition`: `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// Source: Firebase's page on topics: parentheses first, then from left to right; `&&`, `||`, `!`; at most five topics.
public struct TopicCondition: Hashable, Sendable {
    /// Rules of expressions that no documentation states clearly.
    public struct Rules: Hashable, Sendable {
        /// The limit of topics in an expression, repetitions counted.
        public var topicsMax = 5
        /// Whether `&&` and `||` have the same precedence, so that only parentheses and the order count, as the page
        /// says (UNVERIFIED in this form). Otherwise `&&` comes first, as in most languages.
        public var isLeftToRight = true
        /// The nesting limit of parentheses and negations (UNVERIFIED that there is one): the parser is recursive.
        public var depthMax = 32
        /// The limit of an expression in bytes (UNVERIFIED): five topics of 900 bytes, and the operators.
        public var lengthMax = 8 << 10

        /// The likely rules.
        public init() {}
    }

    /// The reason why a text is no valid condition.
    public struct Fault: Error, Hashable, Sendable {
        /// The fault and its position in bytes, for people.
        public let message: String

        /// Google's only message for any fault (firebase/quickstart-python#11).
        public var googleMessage: String { "Invalid condition expression provided." }
    }

    indirect enum Expression: Hashable, Sendable {
        case topic(String)
        case not(Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
    }

    /// The text of the expression, unchanged.
    public let text: String
    /// The topics in the expression, in order, each once.
    public let topics: [String]
    private let expression: Expression

    /// Parses an expression.
    ///
    /// - Throws: `Fault` for the first fault.
    public init(_ text: String, _ rules: Rules = Rules()) throws(Fault) {
        guard text.utf8.count <= rules.lengthMax else {
            throw Fault(message: "the condition has \(text.utf8.count) bytes, more than \(rules.lengthMax)")
        }
        var reader = TopicConditionReader(text, rules)
        self.text = text
        expression = try reader.whole()
        topics = reader.topics.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Whether a device gets the message.
    ///
    /// - Parameter isSubscribed: whether the device is subscribed to a topic.
    public func isMet(_ isSubscribed: (String) -> Bool) -> Bool { expression.isMet(isSubscribed) }

    /// Whether a device without subscriptions gets the message: then the members of the topics are not the whole
    /// audience.
    public var includesNonMembers: Bool { isMet { _ in false } }
}

extension TopicCondition.Expression {
    fileprivate func isMet(_ isSubscribed: (String) -> Bool) -> Bool {
        switch self {
        case .topic(let name): isSubscribed(name)
        case .not(let inner): !inner.isMet(isSubscribed)
        case .and(let left, let right): left.isMet(isSubscribed) && right.isMet(isSubscribed)
        case .or(let left, let right): left.isMet(isSubscribed) || right.isMet(isSubscribed)
        }
    }
}
