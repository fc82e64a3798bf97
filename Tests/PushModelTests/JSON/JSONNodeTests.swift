import Testing

@testable import PushModel

@Suite("A scanned document")
struct JSONNodeTests {
    @Test(
        "may be any kind of value, with white space around it",
        arguments: [
            ("{}", .object), ("[]", .array), ("\"\"", .string), ("0", .number), ("true", .bool), ("false", .bool),
            ("null", .null), ("{ \"a\" : [ ] }", .object), ("[ \n]", .array),
        ] as [(String, JSONNode.Kind)])
    func kinds(text: String, kind: JSONNode.Kind) throws {
        for surrounded in [text, " \t\r\n\(text)", "\(text)\n\n", " \(text) "] {
            let node = try root(surrounded)
            #expect(node.kind == kind)
            #expect(raw(node) == text)
        }
    }

    @Test("keeps its bytes, and those of each value, unchanged")
    func rawBytes() throws {
        let text = #" {"n": 4503599627370497.5 , "o" : { "x":[ 1 ] }, "s":"\u0041"} "#
        let document = try JSONDocument(scanning: Array(text.utf8))
        #expect(document.bytes == Array(text.utf8))
        #expect(raw(document.root["n"]) == "4503599627370497.5")
        #expect(raw(document.root["o"]) == #"{ "x":[ 1 ] }"#)
        #expect(raw(document.root["s"]) == #""\u0041""#)
    }

    @Test("finds members by key, and skips the members of nested values")
    func subscripting() throws {
        let node = try root(#"{"a":{"x":1,"z":[{"b":0}]},"b":2,"c\u0064\n":3,"é😀":4,"":5}"#)
        #expect(node.count == 5)
        #expect(node["a"]?["x"]?.int64 == 1)
        #expect(node["b"]?.int64 == 2)
        #expect(node["cd\n"]?.int64 == 3)
        #expect(node["é😀"]?.int64 == 4)
        #expect(node[""]?.int64 == 5)
        #expect(node["x"] == nil)
        #expect(node["c\\u0064\\n"] == nil)
        #expect(node.members.map(\.key) == ["a", "b", "cd\n", "é😀", ""])
        #expect(node.members.map(\.value.kind) == [.object, .number, .number, .number, .number])
    }

    @Test("distinguishes keys that Unicode calls canonically equivalent")
    func canonicalEquivalence() throws {
        let node = try root("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(node["\u{E9}"]?.int64 == 1)
        #expect(node["e\u{301}"]?.int64 == 2)
        #expect(node.members.count == 2)
    }

    @Test("returns the elements in order, nested ones as one")
    func elements() throws {
        let node = try root(#"[1,[2,[3]],{"a":4},"5",[]]"#)
        #expect(node.count == 5)
        #expect(node.elements.map(raw) == ["1", "[2,[3]]", "{\"a\":4}", "\"5\"", "[]"])
        #expect(node.elements[1].elements[1].elements[0].int64 == 3)
    }

    @Test("returns nil or nothing for another kind")
    func otherKinds() throws {
        let texts = ["{\"a\":1}", "[1]", "\"true\"", "1", "true", "null"]
        for text in texts {
            let node = try root(text)
            #expect((node["a"] != nil) == (node.kind == .object))
            #expect(node.members.isEmpty == (node.kind != .object))
            #expect(node.elements.isEmpty == (node.kind != .array))
            #expect((node.count == 1) == (node.kind == .object || node.kind == .array))
            #expect((node.string != nil) == (node.kind == .string))
            #expect(node.equals("true") == (node.kind == .string))
            #expect((node.bool != nil) == (node.kind == .bool))
            #expect((node.int64 != nil) == (node.kind == .number))
            #expect((node.double != nil) == (node.kind == .number))
        }
        #expect(try root("true").bool == true)
        #expect(try root("false").bool == false)
    }

    @Test(
        "a scanned document unescapes its strings",
        arguments: [
            (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude00 \uDBFF\uDFFF""#, "😀 \u{10FFFF}"),
            (#""\uD7FF\uE000\uFFFD""#, "\u{D7FF}\u{E000}\u{FFFD}"), (#""a\u0000b""#, "a\0b"),
            ("\"\u{7F}\u{80}\u{2028}\u{2029}\u{FEFF}\u{10FFFF}\"", "\u{7F}\u{80}\u{2028}\u{2029}\u{FEFF}\u{10FFFF}"),
            (#""12345678\n12345678""#, "12345678\n12345678"), (#""\\u0041""#, "\\u0041"),
        ])
    func unescaping(text: String, expected: String) throws {
        let string = try root(text).string
        #expect(string.map { Array($0.utf8) } == Array(expected.utf8))
        #expect(try root("{\(text.replacing("\\u0000", with: "")):1}").members.count == 1)
    }

    @Test("compares strings with and without escapes, by their whole length")
    func equals() throws {
        #expect(try root(#""true""#).equals("true"))
        #expect(try root(#""tru\u0065""#).equals("true"))
        #expect(try !root(#""true ""#).equals("true"))
        #expect(try !root(#""tru""#).equals("true"))
        #expect(try root(#""""#).equals(""))
        #expect(try root(#""Gr\u00fc\u00DFe""#).equals("Grüße"))
        #expect(try !root("\"e\u{301}\"").equals("\u{E9}"))
    }

    @Test(
        "reads integers of 64 bits, and no other numbers, as such",
        arguments: [
            ("0", 0), ("-0", 0), ("41", 41), ("-7", -7), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("18446744073709551615", nil), ("1.0", nil), ("1e2", nil), ("1E0", nil), ("4503599627370497.5", nil),
        ] as [(String, Int64?)])
    func integers(text: String, expected: Int64?) throws {
        #expect(try root(text).int64 == expected)
    }

    @Test(
        "reads numbers as the nearest double",
        arguments: [
            ("0", 0), ("-0", -0.0), ("-0.0", -0.0), ("1.5e3", 1500), ("1E+2", 100), ("1e-2", 0.01),
            ("4503599627370497.5", 4503599627370497.5), ("9007199254740993", 9007199254740992),
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("5e-324", .leastNonzeroMagnitude),
            ("2.4703282292062327e-324", 0), ("2.2250738585072011e-308", Double.leastNormalMagnitude.nextDown),
            ("1e-99999999999999999999", 0), ("0e99999999999999999999", 0), ("0.0e400", 0),
            ("1.7976931348623158e308", .greatestFiniteMagnitude), ("0.000000001e316", 1e307),
            ("100000000000000000000000e-20", 1000),
        ] as [(String, Double)])
    func doubles(text: String, expected: Double) throws {
        let value = try #require(try root(text).double)
        #expect(value.bitPattern == expected.bitPattern)
    }

    @Test("accepts numbers with more digits than an exponent could express, if they are finite")
    func longNumbers() throws {
        let zeros = String(repeating: "0", count: 400)
        #expect(try root("1" + String(repeating: "0", count: 308)).double == 1e308)
        #expect(try root("0.\(zeros)1").double == 0)
        #expect(try root("0.\(zeros)1e401").double == 1)
        #expect(try root("1\(zeros)e-400").double == 1)
        #expect(try root("0." + String(repeating: "9", count: 100_000)).double == 1)
    }

    @Test("may be as deep as its limit, far beyond the stack")
    func depth() throws {
        let levels = 200_000
        let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let document = try JSONDocument(scanning: Array(text.utf8), limits: JSONLimits(depth: levels))
        #expect(document.root.count == 1)
        #expect(document.root.isEquivalent(to: document.root))
        // The default is 32 levels; siblings do not add up.
        let widest = "[" + Array(repeating: nested(31), count: 50).joined(separator: ",") + "]"
        #expect(try root(widest).count == 50)
    }

    @Test("a document of 16 MiB is scanned")
    func length() throws {
        let text = [0x22] + [UInt8](repeating: 0x61, count: 16 << 20) + [0x22]
        #expect(try JSONDocument(scanning: text).root.rawBytes.count == text.count)
    }

    @Test("may have 50,000 keys, with and without escapes")
    func manyKeys() throws {
        let keys = (0..<50_000).map { $0.isMultiple(of: 2) ? "\"\($0)\":0" : "\"\\u0061\($0)\":0" }
        let node = try root("{" + keys.joined(separator: ",") + "}")
        #expect(node.count == 50_000)
        #expect(node["a49999"]?.int64 == 0)
    }

    private func root(_ text: String) throws -> JSONNode { try JSONDocument(scanning: Array(text.utf8)).root }

    private func raw(_ node: JSONNode) -> String { String(decoding: node.rawBytes, as: UTF8.self) }

    private func raw(_ node: JSONNode?) -> String? { node.map { raw($0) as String } }

    private func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
}
