import Testing

@testable import PushModel

@Suite("Exec= and Environment= are split as systemd splits them")
struct QuotedWordsTests {
    private func split(_ text: String) throws(ValueError) -> [String] {
        var words = QuotedWords(text)
        var all: [String] = []
        while let word = try words.next() { all.append(word) }
        return all
    }

    @Test(
        "quotes and escapes in Exec= and Environment= are resolved",
        arguments: [
            ("/usr/lib/crm/push --json", ["/usr/lib/crm/push", "--json"]),
            ("  a \t b  ", ["a", "b"]),
            (#"a "b c" 'd e'"#, ["a", "b c", "d e"]),
            (#"a"b c"d"#, ["ab cd"]),
            (#""it's" '"x"'"#, ["it's", #""x""#]),
            (#""" ''"#, ["", ""]),
            (#"\x41\s\t\n\\\"\'\a\b\f\r\v"#, ["A \t\n\\\"'\u{07}\u{08}\u{0C}\r\u{0B}"]),
            (#"'\x41' "\x41""#, ["A", "A"]),
            (#"\303\251 \u00e9 \U0001F600 é"#, ["é", "é", "😀", "é"]),
            ("50%% %%%%", ["50%", "%%"]),
            ("$HOME ${A} * > | & ~ #x", ["$HOME", "${A}", "*", ">", "|", "&", "~", "#x"]),
            ("", []),
        ])
    func resolves(_ text: String, _ expected: [String]) throws {
        #expect(try split(text) == expected)
    }

    @Test(
        "reports the error of malformed values",
        arguments: [
            (#"a "b"#, "a quote \" is not closed"),
            ("a 'b\"", "a quote ' is not closed"),
            (#"a\"#, #"it ends in a backslash; write \\ for one"#),
            (#"\q"#, #"\q is not an escape here; write \\ for a backslash"#),
            (#"\x4"#, #"\x is not an escape here; write \\ for a backslash"#),
            (#"\x00"#, #"\x is not an escape here; write \\ for a backslash"#),
            (#"\x+4"#, #"\x is not an escape here; write \\ for a backslash"#),
            (#"\400"#, #"\4 is not an escape here; write \\ for a backslash"#),
            (#"\ud800"#, #"\u is not an escape here; write \\ for a backslash"#),
            (#"\U00110000"#, #"\U is not an escape here; write \\ for a backslash"#),
            (#"\é"#, #"\... is not an escape here; write \\ for a backslash"#),
            (#"\xff"#, "its escapes give bytes that are not UTF-8"),
            ("%i", "systemd's specifiers are not replaced here; write %% for a percent sign"),
            ("%", "systemd's specifiers are not replaced here; write %% for a percent sign"),
        ])
    func refuses(_ text: String, _ reason: String) {
        #expect(throws: ValueError(reason)) { try split(text) }
    }
}
