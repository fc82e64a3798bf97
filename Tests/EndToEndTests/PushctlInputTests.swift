import PushModel
import TestSupport
import Testing

/// What every command that reads payloads says of its files; `explain` stands for all.
@Suite("pushctl, its input files", .timeLimit(.minutes(30)))
struct PushctlInputTests {
    private func explain(_ operand: String, input: String = "") -> Program.Result {
        let arguments = ["explain", "--json", "--platform", "android", "--config", shippedConfiguration, operand]
        return pushctl.run(arguments, input: Array(input.utf8))
    }

    @Test(
        "names line and column of what is not JSON, counting characters",
        arguments: [
            ("{\"a\":1,}", "1:8: not JSON: "),
            ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "3:3: not JSON: "),
            ("{\n  \"a\": \"\u{E9}\u{1F600}\" 1\n}\n", "2:13: not JSON: "),
            ("{\"a\":1}\n{\"b\":}\n", "2:6: not JSON: "),
            ("\n\n{\n\"a\":nul}", "4:5: not JSON: "),
            ("{\"a\":1", "1:7: not JSON: "),
            ("{\n\"a\":1\n", "3:1: not JSON: "),
            ("{'a':1}", "1:2: not JSON: "),
            ("{\"a\":1,\"a\":2}", "1:8: not JSON: "),
            ("{\"a\":1} {\"b\":1}", "1:9: not JSON: "),
            ("[1]", "1:1: a list: give one payload a line, such as with jq -c '.[]'"),
            ("{}\n7\n", "2:1: not an object: "),
            ("", " there is no payload in it"),
            ("\n \t\r\n", " there is no payload in it"),
        ])
    func malformed(_ text: String, _ place: String) {
        let directory = TemporaryDirectory()
        let path = directory.path + "/push.json"
        writeFile(text, to: path)
        let result = explain(path)
        #expect(result.end == .exited(65))
        #expect(result.errors.hasPrefix("pushctl: \(path):\(place)"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "it is said once: \(result.errors)")
        #expect(explain("-", input: text).errors.hasPrefix("pushctl: standard input:\(place)"))
    }

    @Test("says why a file cannot be read")
    func unreadable() {
        #expect(explain("/nowhere/x.json").errors == "pushctl: /nowhere/x.json: No such file or directory\n")
        #expect(explain("/nowhere/x.json").end == .exited(66))
        #expect(explain("/etc").errors == "pushctl: /etc: Is a directory\n")
        #expect(explain("/etc").end == .exited(66))
    }

    @Test("takes an object on many lines, with or without a line feed at the end, and with carriage returns")
    func manyLines() throws {
        for text in ["{\n  \"_ab\": \"true\"\n}", "{\r\n  \"_ab\": \"true\"\r\n}\r\n", "\n{ \"_ab\" :\n\"true\" }\n\n"]
        {
            #expect(try json(explain("-", input: text).output)["provider"]?.string == "braze")
        }
    }

    @Test("takes what has the key op for a payload unless it is a request")
    func operationAsData() throws {
        let payload = try json(explain("-", input: #"{"op":"refresh","_ab":"true"}"#).output)
        #expect(payload["provider"]?.string == "braze")
        let misspelt = explain("-", input: #"{"op":"delivr","payload":{}}"#)
        #expect(misspelt.errors.contains("op: "))
        #expect(misspelt.end == .exited(65))
    }
}
