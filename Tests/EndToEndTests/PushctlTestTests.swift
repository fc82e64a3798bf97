import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("pushctl test", .timeLimit(.minutes(30)))
final class PushctlTestTests {
    private let directory = TemporaryDirectory()

    private static let holds = """
        {"scenario":"it is handled"}
        {"op":"deliver","id":"a","at":0,"payload":{"k":"v"}}
        {"expect":{"id":"a","outcome":"handled"}}

        """
    private static let fails = """
        {"scenario":"a & b"}
        {"op":"deliver","id":"a","at":0,"payload":{"k":"v"}}
        {"name":"it is < slow","expect":{"id":"a","outcome":"timed_out"}}
        {"expect":{"count":{"outcome":"handled"},"is":1}}

        """

    private func test(_ arguments: String...) -> Program.Result {
        pushctl.run(["test", "--config", shippedConfiguration] + arguments)
    }

    @Test("the fixtures' scenarios hold, with the configuration beside them")
    func fixtures() throws {
        let result = pushctl.run(["test", packageRoot + "/Tests/Fixtures/scenarios"])
        #expect(result.end == .exited(0), "\(result.output)")
        // One scenario presses a button that iOS does not show.
        let (warnings, results) = (
            result.lines.filter { $0.hasPrefix("  ") }, result.lines.filter { !$0.hasPrefix("  ") }
        )
        #expect(
            warnings.count == 1 && warnings[0].contains("interactions.jsonl:4: warning: order: aps has no category"))
        #expect(results.count == 33)
        #expect(results.dropLast().allSatisfy { $0.hasPrefix("ok     ") })
        #expect(result.lines.last?.hasPrefix("124 of 124 expectations hold, in 32 files (") == true)
    }

    @Test("prints the expected and the actual value, and ends with 1")
    func failing() {
        let path = directory.path + "/fails.jsonl"
        writeFile(Self.fails, to: path)
        let result = test(path)
        #expect(result.end == .exited(1))
        #expect(
            result.lines.dropLast() == [
                "FAIL   \(path): a & b (1 of 2 expectations holds)",
                "  \(path):3: it is < slow",
                #"    expected: {"id":"a","outcome":"timed_out"}"#,
                "    found: no invocation matches (1 checked). Closest:",
                #"      seq 1, n 0, onMessageReceived handled: outcome is "handled", not "timed_out""#,
            ])
        #expect(result.lines.last?.hasPrefix("1 of 2 expectations holds, in 1 file (") == true)
    }

    @Test("a tap on an invisible push is a warning, in text, JSON and JUnit, and not a failure")
    func warning() throws {
        let path = directory.path + "/silent.jsonl"
        writeFile(
            #"""
            {"op":"deliver","id":"b","at":0,"device":"d","payload":{"_ab":"true","cid":"c","t":"T"}}
            {"op":"interact","at":1,"kind":"opened","device":"d","message":"b"}
            {"expect":{"event":{"event_type":"Open"}}}

            """#, to: path)
        let message = "direct open of delivery 1, which was never displayed"
        let junit = directory.path + "/report.xml"
        let result = test(path, "--junit", junit)
        #expect(result.end == .exited(0))
        #expect(
            result.lines.dropLast() == ["ok     \(path) (1 expectation)", "  \(path):2: warning: \(message)"])
        #expect(
            String(decoding: readFile(junit) ?? [], as: UTF8.self).contains(
                "<system-out>\(path):2: warning: \(message)"))
        let file = try json(test(path, "--json").output)["files"]?.elements.first
        #expect(file?["warnings"]?.elements.first?["message"]?.string == message)
    }

    @Test("an unknown handler name ends it with 65, even if no expectation depends on it")
    func unknownName() {
        let path = directory.path + "/a.jsonl"
        writeFile(
            #"{"op":"deliver","id":"a","at":0,"payload":{}}"# + "\n" + #"{"expect":{"none":{"handler":"journall"}}}"#
                + "\n", to: path)
        let result = test(path)
        #expect(result.end == .exited(65))
        #expect(
            (result.output + result.errors).contains("\(path):2: expect: there is no handler journall"),
            "\(result.output) \(result.errors)")
    }

    @Test("finds scenarios at any depth, by their file names")
    func directories() {
        for name in ["b.jsonl", "sub/a.ndjson", "notes.txt", ".hidden.jsonl"] {
            let path = directory.path + "/" + name
            if name.hasPrefix("sub") { _ = Program(path: "/bin/mkdir").run([directory.path + "/sub"]) }
            writeFile(Self.holds, to: path)
        }
        let result = test(directory.path)
        #expect(result.end == .exited(0))
        #expect(
            result.lines.dropLast() == [
                "ok     \(directory.path)/b.jsonl: it is handled (1 expectation)",
                "ok     \(directory.path)/sub/a.ndjson: it is handled (1 expectation)",
            ])
        #expect(test(directory.path + "/notes.txt").end == .exited(0), "a file that is named may have any name")
    }

    @Test("an unreadable scenario ends it with 65, and the others still run")
    func unreadable() {
        let (wrong, right) = (directory.path + "/a.jsonl", directory.path + "/b.jsonl")
        writeFile(#"{"expect":{"outcom":"handled"}}"#, to: wrong)
        writeFile(Self.holds, to: right)
        let result = test(directory.path)
        #expect(result.end == .exited(65))
        #expect(result.lines.first?.hasPrefix("ERROR  \(wrong):1: expect.outcom: the invocation has no such") == true)
        #expect(result.lines.last?.hasPrefix("1 of 1 expectation holds, in 2 files; 1 could not be read") == true)
    }

    @Test("a directory without scenarios, and a missing file, end it with 66")
    func missing() {
        #expect(test(directory.path).end == .exited(66))
        #expect(test(directory.path + "/gone.jsonl").end == .exited(66))
        let help = pushctl.run(["help", "test"]).output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(help.contains("and 66 when a file is missing or a directory has no scenario"))
    }

    @Test("writes JUnit XML, with unsuitable characters escaped")
    func junit() throws {
        let (fails, unreadable) = (directory.path + "/fails.jsonl", directory.path + "/unreadable.jsonl")
        writeFile(Self.fails, to: fails)
        writeFile("{}\n", to: unreadable)
        let report = directory.path + "/report.xml"
        #expect(test(fails, unreadable, "--junit", report).end == .exited(65))
        let xml = String(decoding: try #require(readFile(report)), as: UTF8.self)
        #expect(xml.contains(#"<testsuites name="pushctl test" tests="3" failures="1" errors="1" time="0."#))
        #expect(xml.contains(#"<testsuite name="a &amp; b" tests="2" failures="1" errors="0" time="0."#))
        #expect(xml.contains(#"name="line 3: it is &lt; slow""#))
        #expect(
            xml.contains(
                #"<failure message="seq 1, n 0, onMessageReceived handled: outcome is &quot;handled&quot;, not "#
                    + #"&quot;timed_out&quot;">expected: {&quot;id&quot;:"#))
        #expect(xml.contains(#"<error message="\#(unreadable): the scenario expects nothing"#))
    }

    @Test("pushctl test --json prints one object for all scenarios")
    func forPrograms() throws {
        let path = directory.path + "/fails.jsonl"
        writeFile(Self.fails, to: path)
        let root = try json(test(path, "--json").output)
        #expect(root["expectations"]?.int64 == 2)
        #expect(root["failed"]?.int64 == 1)
        #expect(root["unreadable"]?.int64 == 0)
        let checks = root["files"]?.elements.first?["expectations"]?.elements ?? []
        #expect(checks.map { $0["holds"]?.bool } == [false, true])
        #expect(checks.first?["name"]?.string == "it is < slow")
        #expect(checks.first?["line"]?.int64 == 3)
    }

    @Test("a faulty configuration beside a scenario is reported, with 78")
    func wrongConfiguration() {
        _ = Program(path: "/bin/mkdir").run([directory.path + "/config"])
        writeFile("[Dispatch]\nMode=fast\n", to: directory.path + "/config/pushrouterd.conf")
        writeFile(Self.holds, to: directory.path + "/a.jsonl")
        let result = pushctl.run(["test", directory.path])
        #expect(result.end == .exited(78))
        #expect(result.output.contains("pushrouterd.conf:2"))
    }

    // MARK: Payload files

    private func write(_ name: String, _ text: String) -> String {
        let path = directory.path + "/" + name
        writeFile(text, to: path)
        return path
    }

    private static let ofFile = """
        {"op":"deliver","id":"b","at":0,"device":"d","payload_file":"push.json"}
        {"op":"interact","at":1,"kind":"opened","device":"d","payload_file":"push.json"}
        {"expect":{"event":{"event_type":"Open","campaign_id":"c"}}}

        """

    @Test("payload_file names a payload beside the scenario, in test and in simulate")
    func payloadFile() throws {
        let path = write("a.jsonl", Self.ofFile)
        _ = write("push.json", "{\n  \"_ab\": \"true\",\n  \"cid\": \"c\", \"t\": \"T\", \"a\": \"A\"\n}\n")
        let result = test(path)
        #expect(result.end == .exited(0), "\(result.output)")
        let inline = Self.ofFile.replacing(
            #""payload_file":"push.json""#, with: #""payload":{"_ab":"true","cid":"c","t":"T","a":"A"}"#)
        let simulate = ["simulate", "--config", shippedConfiguration]
        let simulated = pushctl.run(simulate + [path])
        #expect(simulated.end == .exited(0))
        #expect(simulated.output == pushctl.run(simulate + [write("b.jsonl", inline)]).output)
    }

    @Test("an .apns file is a push for iOS, and is refused as the iOS simulator refuses it")
    func apnsFile() throws {
        let path = write(
            "a.jsonl",
            #"{"op":"deliver","id":"a","at":0,"state":"foreground","payload_file":"p.apns"}"# + "\n"
                + #"{"expect":{"id":"a","callback":"willPresent"}}"# + "\n")
        _ = write("p.apns", #"{"Simulator Target Bundle":"com.shop","aps":{"alert":"Hi"}}"#)
        let result = test(path)
        #expect(result.end == .exited(0), "\(result.output)")
        _ = write("p.apns", #"{"alert":"Hi"}"#)
        #expect(
            test(path).lines.first == "ERROR  \(path):1: payload_file: \(directory.path)/p.apns: "
                + "payload.aps: an .apns file needs aps; the simulator refuses one without it")
    }

    @Test(
        "an error in a payload file has the scenario's line and the file's own line and column",
        arguments: [
            ("{\n  \"k\": tru\n}\n", ":2:8: not JSON: "),
            ("[{}]", ": not a JSON object: a payload file has one payload, as it is sent"),
            ("", ": not a JSON object: "),
            ("{}\n{}\n", ":2:1: a second payload: a file of a scenario has one"),
            (String(repeating: "{\"a\":", count: 40) + "1" + String(repeating: "}", count: 40), ":1:"),
            ("{\"k\":\"" + String(repeating: "x", count: 300_000) + "\"}", ": the request is longer than 262144 bytes"),
        ])
    func wrongPayloadFile(content: String, message: String) {
        let path = write("a.jsonl", Self.ofFile)
        let file = write("push.json", content)
        let result = test(path)
        #expect(result.end == .exited(65))
        let line = "\(path):1: payload_file: \(file)\(message)"
        #expect(result.lines.first?.hasPrefix("ERROR  \(line)") == true, "\(result.output)")
        let simulated = pushctl.run(["simulate", "--config", shippedConfiguration, path])
        #expect(simulated.end == .exited(65))
        #expect(simulated.errors.hasPrefix("pushctl: \(line)"), "\(simulated.errors)")
    }

    @Test("a missing payload file ends it with 66")
    func missingPayloadFile() {
        let path = write("a.jsonl", Self.ofFile)
        let result = test(path)
        #expect(result.end == .exited(66))
        #expect(result.lines.first?.hasPrefix("ERROR  \(path):1: payload_file: \(directory.path)/push.json: ") == true)
    }

    // MARK: GitHub

    @Test(
        "on GitHub an annotation follows for each failure, unreadable file and warning; the summary file gets a table"
    )
    func github() throws {
        let (fails, wrong) = (write("fails.jsonl", Self.fails), write("wrong.jsonl", "{\"expect\":{\"a\":1}}\n"))
        let summary = write("summary.md", "before\n")
        let words = ["test", "--config", shippedConfiguration, fails, wrong]
        let environment = ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": summary]
        let result = pushctl.run(words, environment: environment)
        #expect(result.end == .exited(65))
        let annotations = result.lines.filter { $0.hasPrefix("::") }
        #expect(annotations.count == 2)
        #expect(annotations.first?.hasPrefix("::error file=\(fails),line=3,title=it is < slow::expected: ") == true)
        #expect(annotations.first?.contains("%0Afound: no invocation matches (1 checked). Closest:%0A") == true)
        #expect(annotations.last?.hasPrefix("::error file=\(wrong),line=1,title=cannot be read::") == true)
        let text = String(decoding: try #require(readFile(summary)), as: UTF8.self)
        #expect(
            text.hasPrefix("before\n### pushctl test: 1 of 2 expectations holds, in 2 files; 1 could not be read ("))
        #expect(
            text.contains("| fail | \(fails.replacing("_", with: "\\_")):3 | it is &lt; slow | no invocation matches"),
            "\(text)")
        #expect(text.contains("| error | \(wrong.replacing("_", with: "\\_")):1 | it can be read |"), "\(text)")

        let plain = pushctl.run(words + ["--format", "text"], environment: environment).output
        #expect(!plain.contains("::error"), "--format text leaves them out")
        #expect(pushctl.run(words + ["--format", "github"]).output.contains("::error file="), "elsewhere on demand")
        let json = pushctl.run(words + ["--json"], environment: environment).output
        #expect((try? JSONDocument(scanning: Array(json.utf8))) != nil, "JSON stays JSON")
    }

    @Test("the summary for GitHub has a hundred rows, and the number of the others")
    func longSummary() throws {
        let path = write(
            "a.jsonl",
            #"{"op":"deliver","id":"a","at":0,"payload":{}}"# + "\n"
                + String(repeating: #"{"expect":{"id":"a","outcome":"failed"}}"# + "\n", count: 103))
        let summary = directory.path + "/summary.md"
        let words = ["test", "--config", shippedConfiguration, path]
        #expect(pushctl.run(words, environment: ["GITHUB_STEP_SUMMARY": summary]).end == .exited(1))
        let text = String(decoding: try #require(readFile(summary)), as: UTF8.self)
        #expect(text.split(separator: "\n").count { $0.hasPrefix("| fail |") } == 100)
        #expect(text.hasSuffix("\n3 more are in the output.\n\n"), "\(text)")
    }

    @Test("--format json equals --json, and --format junit prints what --junit writes")
    func formats() throws {
        let path = write("a.jsonl", Self.holds)
        #expect(try json(test(path, "--format", "json").output)["failed"]?.int64 == 0)
        #expect(test(path, "--format", "junit").output.hasPrefix("<?xml version=\"1.0\""))
        #expect(test(path, "--json", "--format", "text").end == .exited(2))
    }
}
