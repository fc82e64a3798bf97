import TestSupport
import Testing

@testable import PushGateway
@testable import PushRouter

@Suite("A condition over topics")
struct TopicConditionTests {
    private func isMet(_ text: String, by topics: Set<String>, leftToRight: Bool = true) throws -> Bool {
        var rules = TopicCondition.Rules()
        rules.isLeftToRight = leftToRight
        return try TopicCondition(text, rules).isMet(topics.contains)
    }

    @Test("is evaluated as Firebase's page says")
    func examples() throws {
        let text = "'TopicA' in topics && ('TopicB' in topics || 'TopicC' in topics)"
        #expect(try isMet(text, by: ["TopicA", "TopicB"]))
        #expect(try isMet(text, by: ["TopicA", "TopicC"]))
        #expect(try !isMet(text, by: ["TopicB", "TopicC"]))
        #expect(try isMet("!('TopicA' in topics)", by: []))
        #expect(try TopicCondition("!('TopicA' in topics)").includesNonMembers)
        #expect(try !TopicCondition(text).includesNonMembers)
        #expect(try TopicCondition(text).topics == ["TopicA", "TopicB", "TopicC"])
        #expect(try TopicCondition("'b' in topics||'a' in topics||'b' in topics").topics == ["b", "a"])
    }

    @Test("is read from left to right, or && before ||, depending on the rules")
    func order() throws {
        let text = "'a' in topics || 'b' in topics && 'c' in topics"
        #expect(try !isMet(text, by: ["a"]))
        #expect(try isMet(text, by: ["a"], leftToRight: false))
    }

    @Test("allows spaces between any parts, and needs none beside a quote or a sign")
    func spaces() throws {
        for text in ["'a'in topics", " 'a' in topics ", "( ! 'a'\tin\n topics )", "!'a' in topics"] {
            #expect(throws: Never.self) { try TopicCondition(text) }
        }
    }

    @Test(
        "that is malformed gives the place of the error",
        arguments: [
            ("", "at byte 0: a topic in single quotes"), ("news in topics", "at byte 0: a topic in single quotes"),
            ("'a' in topics &&", "at byte 16: a topic"),
            ("'a' in topics & 'b' in topics", "at byte 14: &&, || or the end"),
            ("('a' in topics", "at byte 14: ) is expected"), ("'a' in topics)", "at byte 13: &&, || or the end"),
            ("'a in topics", "at byte 0: the quote has no end"), ("'a' in topicsx", "at byte 7: in topics"),
            ("'a'", "at byte 3: in topics"), ("'a' on topics", "at byte 4: in topics"),
            ("'' in topics", "at byte 0: a topic is 1 to 900"),
            ("'/topics/a' in topics", "at byte 0: a topic is 1 to 900"),
            ("\"a\" in topics", "at byte 0: a topic in single quotes"),
            ("'a' in topics and 'b' in topics", "at byte 14"),
            ("'ä' in topics", "at byte 0: a topic is 1 to 900"),
        ])
    func faults(_ text: String, _ message: String) {
        #expect {
            try TopicCondition(text)
        } throws: { error in
            (error as? TopicCondition.Fault)?.message.hasPrefix(message) == true
        }
    }

    @Test("has at most five topics, a bounded depth and a bounded length")
    func limits() throws {
        func text(_ count: Int) -> String { (0..<count).map { "'t\($0)' in topics" }.joined(separator: " || ") }
        #expect(throws: Never.self) { try TopicCondition(text(5)) }
        #expect(throws: TopicCondition.Fault.self) { try TopicCondition(text(6)) }
        var rules = TopicCondition.Rules()
        rules.topicsMax = 6
        #expect(throws: Never.self) { try TopicCondition(text(6), rules) }
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "'a' in topics" + String(repeating: close, count: depth)
        }
        for (open, close) in [("(", ")"), ("!", "")] {
            #expect(throws: Never.self) { try TopicCondition(nested(31, open, close)) }
            #expect(throws: TopicCondition.Fault.self) { try TopicCondition(nested(32, open, close)) }
            // This depth would overflow the stack of a recursive parser.
            rules.lengthMax = 10_000_000
            #expect(throws: TopicCondition.Fault.self) { try TopicCondition(nested(1_000_000, open, close), rules) }
        }
        #expect(throws: TopicCondition.Fault.self) { try TopicCondition(nested(5000, " ", " ")) }
    }

    @Test("agrees with a naive evaluator that rewrites the text", arguments: [true, false])
    func naive(_ leftToRight: Bool) throws {
        var generator = SeededGenerator(seed: Search.firstSeed + (leftToRight ? 0 : 1))
        var rules = TopicCondition.Rules()
        rules.isLeftToRight = leftToRight
        rules.topicsMax = .max
        var met = 0
        let cases = Search.cases(3000)
        for _ in 0..<cases {
            let text = randomCondition(depth: Int.random(in: 0...4, using: &generator), &generator)
            let condition = try TopicCondition(text, rules)
            for bits in 0..<8 {
                let topics = Set((0..<3).filter { bits >> $0 & 1 == 1 }.map { ["a", "bb", "c.~%-_9"][$0] })
                let isMet = condition.isMet(topics.contains)
                #expect(isMet == naively(text, topics, leftToRight), "\(text) for \(topics)")
                met += isMet ? 1 : 0
            }
        }
        #expect(cases * 2..<cases * 6 ~= met, "the conditions are no good test")
    }

    @Test("is read or refused, and never ends the program, with any text")
    func anyText() {
        let parts = ["'a'", "'", "in", "topics", "&&", "||", "!", "(", ")", " ", "&", "|", "ä", "\"", "a", "\0"]
        var generator = SeededGenerator(seed: 13)
        var read = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                parts[Int.random(in: 0..<parts.count, using: &generator)]
            }.joined(separator: " ")
            if (try? TopicCondition(text)) != nil { read += 1 }
        }
        #expect(read > 0)
    }
}

/// A condition of three topics, with random spaces.
private func randomCondition(depth: Int, _ generator: inout SeededGenerator) -> String {
    func space(_ generator: inout SeededGenerator) -> String { Bool.random(using: &generator) ? " " : "" }
    guard depth > 0 else {
        let topic = ["a", "bb", "c.~%-_9"][Int.random(in: 0..<3, using: &generator)]
        return "'\(topic)'\(space(&generator))in topics\(space(&generator))"
    }
    let left = randomCondition(depth: depth - 1, &generator)
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: return "!\(space(&generator))(\(left))"
    case 1: return "(\(space(&generator))\(left))\(space(&generator))"
    case 2:
        return "!'a' in topics \(Bool.random(using: &generator) ? "&&" : "||") \(left)"
    default:
        let right = randomCondition(depth: Int.random(in: 0..<depth, using: &generator), &generator)
        return left + space(&generator) + (Bool.random(using: &generator) ? "&&" : "||") + space(&generator) + right
    }
}

/// Replaces each topic by 1 or 0, and then rewrites the text until it is 1 or 0.
private func naively(_ text: String, _ topics: Set<String>, _ leftToRight: Bool) -> Bool {
    var line = ""
    var quoted: String?
    for character in text {
        if character == "'" {
            if let name = quoted { line += topics.contains(name) ? "1" : "0" }
            quoted = quoted == nil ? "" : nil
        } else if quoted != nil {
            quoted?.append(character)
        } else if "&|!()".contains(character) {
            line.append(character)
        }
    }
    // Each step applies one rewrite that matches anywhere; those of a later group only if none of an earlier one
    // matches.
    let groups: [[(String, String)]] = [
        [("!0", "1"), ("!1", "0"), ("(0)", "0"), ("(1)", "1")],
        leftToRight ? [] : [("0&&0", "0"), ("0&&1", "0"), ("1&&0", "0"), ("1&&1", "1")],
    ]
    while line.count > 1 {
        if let next = groups.lazy.compactMap({ replacedOnce($0, in: line) }).first {
            line = next
        } else if let next = firstInOrder(in: line) {
            line = next
        } else {
            Issue.record("no step applies to \(line)")
            return false
        }
    }
    return line == "1"
}

private func replacedOnce(_ rules: [(String, String)], in line: String) -> String? {
    for start in line.indices {
        for (from, to) in rules where line[start...].hasPrefix(from) {
            return String(line[..<start]) + to + String(line[start...].dropFirst(from.count))
        }
    }
    return nil
}

/// Evaluates the first operation of two values in the innermost parentheses.
private func firstInOrder(in line: String) -> String? {
    let start = line.lastIndex(of: "(").map { line.index(after: $0) } ?? line.startIndex
    let part = line[start...].prefix(4)
    guard part.count == 4, let left = part.first, let right = part.last else { return nil }
    let isAnd = part.dropFirst().hasPrefix("&&")
    let result = isAnd ? left == "1" && right == "1" : left == "1" || right == "1"
    return String(line[..<start]) + (result ? "1" : "0") + String(line[start...].dropFirst(4))
}
