import PushModel

/// A boolean expression over topics, as in FCM's `condition`: `'a' in topics && ('b' in topics || !('c' in topics))`.
///
/// Source: Firebase's page on topics: parentheses first, then from left to right; `&&`, `||`, `!`; at most five topics.
public struct TopicCondition: Hashable, Sendable {
    /// Rules of expressions that no documentation states clearly.
    public struct Rules: Hashable, Sendable {
        /// The limit of topics in an expression, repetitions counted.
        var topicsMax = 5
        /// Whether `&&` and `||` have the same precedence, so that only parentheses and the order count, as the page
        /// says (UNVERIFIED in this form). Otherwise `&&` comes first, as in most languages.
        var isLeftToRight = true
        /// The nesting limit of parentheses and negations (UNVERIFIED that there is one): the parser is recursive.
        public var depthMax = 32
        /// The limit of an expression in bytes (UNVERIFIED): five topics of 900 bytes, and the operators.
        var lengthMax = 8 << 10

        /// The likely rules.
        public init() {}
    }

    /// The reason why a text is no valid condition.
    public struct Fault: Error, Hashable, Sendable {
        /// The fault and its position in bytes, for people.
        public let message: String
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
    func isMet(_ isSubscribed: (String) -> Bool) -> Bool { expression.isMet(isSubscribed) }

    /// Whether a device without subscriptions gets the message: then the members of the topics are not the whole
    /// audience.
    var includesNonMembers: Bool { isMet { _ in false } }
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

/// A parser for the text of a condition, from left to right.
struct TopicConditionReader {
    typealias Expression = TopicCondition.Expression
    typealias Fault = TopicCondition.Fault

    /// The topics so far, with repetitions.
    private(set) var topics: [String] = []
    private let text: [UInt8]
    private let rules: TopicCondition.Rules
    private var place = 0

    init(_ text: String, _ rules: TopicCondition.Rules) {
        self.text = Array(text.utf8)
        self.rules = rules
    }

    /// Parses the whole text.
    mutating func whole() throws(Fault) -> Expression {
        let expression = try alternatives(depth: 0)
        skipSpace()
        guard place == text.count else { throw unexpected("&&, || or the end") }
        return expression
    }

    private mutating func alternatives(depth: Int) throws(Fault) -> Expression {
        guard !rules.isLeftToRight else { return try inOrder(depth: depth) }
        var left = try conjunction(depth: depth)
        while take("||") { left = .or(left, try conjunction(depth: depth)) }
        return left
    }

    private mutating func conjunction(depth: Int) throws(Fault) -> Expression {
        var left = try operand(depth: depth)
        while take("&&") { left = .and(left, try operand(depth: depth)) }
        return left
    }

    private mutating func inOrder(depth: Int) throws(Fault) -> Expression {
        var left = try operand(depth: depth)
        while true {
            if take("&&") {
                left = .and(left, try operand(depth: depth))
            } else if take("||") {
                left = .or(left, try operand(depth: depth))
            } else {
                return left
            }
        }
    }

    private mutating func operand(depth: Int) throws(Fault) -> Expression {
        guard depth < rules.depthMax else {
            throw Fault(
                message: "at byte \(place): more than \(rules.depthMax) levels of parentheses and negations")
        }
        if take("!") { return .not(try operand(depth: depth + 1)) }
        guard take("(") else { return try topic() }
        let inner = try alternatives(depth: depth + 1)
        guard take(")") else { throw unexpected(")") }
        return inner
    }

    /// Parses `'name' in topics`. No documentation shows other quotes.
    private mutating func topic() throws(Fault) -> Expression {
        skipSpace()
        guard place < text.count, text[place] == UInt8(ascii: "'") else {
            throw unexpected("a topic in single quotes, ! or (")
        }
        let name = text[(place + 1)...].prefix { $0 != UInt8(ascii: "'") }
        guard name.endIndex < text.count else {
            throw Fault(message: "at byte \(place): the quote has no end")
        }
        let topic = String(decoding: name, as: UTF8.self)
        guard V1Body.isTopic(topic) else {
            throw Fault(message: "at byte \(place): \(V1Body.topicForm)")
        }
        place = name.endIndex + 1
        guard takeWord("in"), takeWord("topics") else { throw unexpected("in topics") }
        topics.append(topic)
        guard topics.count <= rules.topicsMax else {
            throw Fault(message: "the condition names more than \(rules.topicsMax) topics, repetitions counted")
        }
        return .topic(topic)
    }

    private mutating func take(_ token: StaticString) -> Bool {
        skipSpace()
        guard text[place...].starts(with: token.bytes) else { return false }
        place += token.utf8CodeUnitCount
        return true
    }

    /// Reads a word that is not the beginning of a longer one.
    private mutating func takeWord(_ word: StaticString) -> Bool {
        skipSpace()
        let start = place
        guard take(word) else { return false }
        guard place < text.count, text[place] | 0x20 >= UInt8(ascii: "a"), text[place] | 0x20 <= UInt8(ascii: "z")
        else {
            return true
        }
        place = start
        return false
    }

    private mutating func skipSpace() {
        while place < text.count, text[place].isJSONWhiteSpace { place += 1 }
    }

    private func unexpected(_ wanted: String) -> Fault {
        Fault(message: "at byte \(place): \(wanted) is expected")
    }
}
