import Testing

@testable import PushModel

@Suite("A change of a field")
struct AttributeChangeTests {
    private func apply(_ change: AttributeChange, to existing: String?) -> String? {
        change.apply(to: existing.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
    }

    private func bytes(_ values: [String]) -> [[UInt8]] { values.map { Array($0.utf8) } }

    @Test("to a value replaces any old one, and to null removes the field", arguments: [nil, "1", #"["a"]"#, "null"])
    func setAndRemove(existing: String?) {
        #expect(apply(.set(Array(#"{"x":1.50}"#.utf8)), to: existing) == #"{"x":1.50}"#)
        #expect(apply(.remove, to: existing) == nil)
    }

    @Test(
        "by add appends the element, once",
        arguments: [
            (nil, ["1", #""b""#], #"[1,"b"]"#),
            ("[]", [#""a""#], #"["a"]"#),
            (#"["a","b"]"#, [#""c""#, #""d""#], #"["a","b","c","d"]"#),
            (#"["a","b","c"]"#, [#""a""#], #"["b","c","a"]"#),
            (#"["a"]"#, [#""b""#, #""c""#, #""b""#], #"["a","c","b"]"#),
            (#"["\u0061",1]"#, [#""a""#], #"[1,"a"]"#),
            ("[1]", ["1.0", #""1""#], #"[1,1.0,"1"]"#),
            (#"["a"]"#, [], #"["a"]"#),
        ])
    func add(existing: String?, values: [String], expected: String) {
        #expect(apply(.add(bytes(values), elementsMax: 500), to: existing) == expected)
    }

    @Test("removes the first elements above the limit of an array")
    func addToFullArray() {
        #expect(apply(.add(bytes(["3", "4"]), elementsMax: 3), to: "[1,2]") == "[2,3,4]")
        #expect(apply(.add(bytes(["3"]), elementsMax: 3), to: "[1,2]") == "[1,2,3]")
        #expect(apply(.add(bytes(["1", "2", "3"]), elementsMax: 2), to: nil) == "[2,3]")
    }

    @Test(
        "the change remove takes every occurrence out of an array",
        arguments: [
            (nil, ["1"], nil),
            (#"["a","b","a"]"#, [#""a""#], #"["b"]"#),
            (#"["a"]"#, [#""a""#, #""x""#], "[]"),
            (#"["\u0061"]"#, [#""a""#], "[]"),
            (#"[{"x":1},2]"#, [#"{"x":1}"#], "[2]"),
        ])
    func drop(existing: String?, values: [String], expected: String?) {
        #expect(apply(.drop(bytes(values)), to: existing) == expected)
    }

    @Test(
        "by inc increases a number; an integer stays one, within 64 bits",
        arguments: [
            (nil, 3, "3"),
            ("4", -6, "-2"),
            ("2.5", 1, "3.5"),
            ("1e2", 1, "101.0"),
            ("9223372036854775806", 5, "9223372036854775807"),
            ("-9223372036854775808", -1, "-9223372036854775808"),
        ])
    func increment(existing: String?, step: Int64, expected: String) {
        #expect(apply(.increment(step), to: existing) == expected)
    }

    @Test(
        "by an operation keeps a value of another type", arguments: [#""text""#, "true", #"{"a":[1]}"#, "null"])
    func otherTypes(existing: String) {
        #expect(apply(.add(bytes(["1"]), elementsMax: 500), to: existing) == existing)
        #expect(apply(.drop(bytes(["1"])), to: existing) == existing)
        #expect(apply(.increment(1), to: existing) == existing)
        #expect(apply(.add(bytes(["1"]), elementsMax: 500), to: "7") == "7")
        #expect(apply(.increment(1), to: "[1]") == "[1]")
    }
}
