import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("The lines of a payload that people paste")
struct PastedLinesTests {
    @Test(
        "have no prefix of a log, a frame, a number, a comment or a difference",
        arguments: [
            "I/flutter ( 123): ", "flutter: ", "web_1  | 2026-11-30T00:00:00Z ", "  12| ", "10:21:33 [INFO] ", "│ ",
            "I/flutter (31507): │ 🐛 ", "+", "I/f( 10): ", "1 ", "// ",
            "2026-01-01 10:00:00.000  1234-5678  MyFcm  com.x  D  ",
        ])
    func prefix(_ prefix: String) throws {
        let lines = [
            "{", "  \"data\": {\"k\": \"v\"},", "", "  \"notification\": {", "    \"title\": \"T\"", "  }", "}",
        ]
        // Digits count on, as those of times and lines do.
        let text = lines.enumerated().map { index, line in
            prefix.replacing("3", with: "\((3 + index) % 10)") + line
        }
        let other = "and another line"
        let read = try PayloadEnvelope.read(
            Array((text + [other]).joined(separator: "\n").utf8), for: .android, limits: JSONLimits(), repairs: true)
        #expect(
            String(decoding: read.object.compactBytes, as: UTF8.self)
                == #"{"data":{"k":"v"},"notification":{"title":"T"}}"#)
    }

    @Test(
        "keep what two lines of an object or of code have in common",
        arguments: [
            ["a: 'x' b {", "a: 'x' b 1"], ["a: {} b {", "a: {} b 1"], ["a: x= b {", "a: x= b 1"],
            ["a: [ b {", "a: [ b 1"],
            ["{", "  \"a\": 1"], ["  \"a\": {", "    \"b\": 1"], ["aps = {", "alert = 1"], ["\"a: {", "\"a: 1"],
            ["$a = [", "$a"], ["  .set({", "  .set(1"], ["{1: {", "{1: 2"], ["[a {", "[a b"],
        ])
    func noPrefix(_ lines: [String]) {
        let bytes = lines.map { Array($0.utf8) }
        #expect(!LinePrefix.isOpen(bytes[0]) || LinePrefix(of: bytes[0], bytes[1], isFirst: true) == nil)
    }

    @Test("in a comment are those of the text, if it begins with them")
    func comment() {
        let lines = ["// {", "//  a: 1"].map { Array($0.utf8) }
        #expect(LinePrefix(of: lines[0], lines[1], isFirst: true) != nil)
        #expect(LinePrefix(of: lines[0], lines[1], isFirst: false) == nil)
    }

    @Test("stay as they are where others follow an object without an end")
    func noEnd() throws {
        let lines = ["a: {", "a: b", "c"].map { Array($0.utf8) }
        let prefix = try #require(LinePrefix(of: lines[0], lines[1], isFirst: true))
        #expect(prefix.taken(off: lines[...], isAll: true) == nil && prefix.isOf(Array("a:".utf8)))
        #expect(prefix.taken(off: lines[..<2], isAll: true).map { $0.count } == 2)
        #expect(prefix.taken(off: lines[..<2], isAll: false) == nil)
    }

    @Test("begin no object behind the words of a declaration or a statement")
    func label() {
        let statements = [
            "class Push {", "struct A {", "try {", "} else {", "a = {}; {", "func a() {", "\"message\": {",
        ]
        for line in statements {
            #expect(PayloadStart(in: Array(line.utf8))?.isBehindLabel != true, "\(line)")
        }
        for line in ["second: {", "12:00 sending {", "the two {"] {
            #expect(PayloadStart(in: Array(line.utf8))?.isBehindLabel == true, "\(line)")
        }
    }

    @Test(
        "are a fence of Markdown where three marks stand alone or before the name of a language",
        arguments: [
            ("```", true), ("~~~", true), ("  ```json", true), ("~~~ yaml", true), ("``", false), ("~~", false),
            ("```{", false), ("~~~[1", false), ("```a:", false), ("~~`", false), ("", false), ("x```", false),
        ])
    func fence(_ line: String, _ isFence: Bool) { #expect(PayloadStart.isFence(Array(line.utf8)) == isFence) }

    @Test(
        "begin with a word or a mark of Markdown, or with what may be a value",
        arguments: [
            ("a", true), ("z", true), ("A", true), ("Z", true), ("  m", true), ("`", true), (">", true), ("*", true),
            ("#", true), ("{", false), ("[", false), ("@", false), ("_", false), ("^", false), ("1", false),
            ("\"", false), ("-", false), ("", false), ("  ", false), ("é", false),
        ])
    func word(_ line: String, _ isWord: Bool) { #expect(PayloadStart.isWord(Array(line.utf8)) == isWord, "\(line)") }
}
