import Testing

@testable import PushModel

@Suite("Equivalence of values")
struct JSONEquivalenceTests {
    @Test(
        "ignores the order of members, the white space and the escapes",
        arguments: [
            ("null", " null "), ("true", "true"), ("1.50", "1.50"), (#""a\/\u00e9""#, #""a/é""#), ("[]", "[ ]"),
            (#"{"a":1,"b":[{"c":2,"d":{}}]}"#, #"{ "b":[{"d":{},"c":2}], "\u0061":1 }"#),
        ])
    func equivalent(left: String, right: String) throws {
        #expect(try root(left).isEquivalent(to: root(right)))
        #expect(try root(right).isEquivalent(to: root(left)))
    }

    @Test(
        "two values with any other difference are not equivalent",
        arguments: [
            ("1", "1.0"), ("1", "\"1\""), ("true", "false"), ("null", "false"), ("\"a\"", "\"b\""), ("[]", "{}"),
            ("\"\u{E9}\"", "\"e\u{301}\""), ("[1,2]", "[2,1]"), ("[1]", "[1,1]"), ("[[1],[]]", "[[],[1]]"),
            (#"{"a":1}"#, #"{"b":1}"#), (#"{"a":1}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"a":1,"b":1}"#),
            (#"{"a":{"b":[1]}}"#, #"{"a":{"b":[2]}}"#),
        ])
    func different(left: String, right: String) throws {
        #expect(try !root(left).isEquivalent(to: root(right)))
        #expect(try !root(right).isEquivalent(to: root(left)))
    }

    @Test("values within larger documents are compared")
    func parts() throws {
        let left = try root(#"{"id":1,"payload":{"a":[1,2]}}"#)
        let right = try root(#"{"payload":{"a":[1,2]},"id":2}"#)
        #expect(!left.isEquivalent(to: right))
        let (first, second) = try (#require(left["payload"]), #require(right["payload"]))
        #expect(first.isEquivalent(to: second))
    }

    private func root(_ text: String) throws -> JSONNode { try JSONDocument(scanning: Array(text.utf8)).root }
}
