import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl test --real-handlers", .timeLimit(.minutes(30)))
struct PushctlRealHandlersTests {
    private let installation = Installation()

    private func test(_ lines: String, _ arguments: String...) -> Program.Result {
        let path = installation.root + "/scenario.jsonl"
        writeFile(lines, to: path)
        return pushctl.run(["test", "--real-handlers", "--config", installation.configuration, path] + arguments)
    }

    private func deliver(_ job: String, at time: Int, id: String) -> String {
        #"{"op":"deliver","id":"\#(id)","at":\#(time),"platform":"android","payload":{"data":{"job":"\#(job)"}}}"#
    }

    @Test("runs the handlers, each with its own outcome, and says so")
    func outcomes() {
        installation.addJob("good", "cat >$ROOT/got; exit 0")
        installation.addJob("bad", "exit 3")
        installation.addJob("slow", "sleep 60", route: "Deadline=2s")
        let result = test(
            """
            \(deliver("good", at: 0, id: "a"))
            \(deliver("bad", at: 0, id: "b"))
            \(deliver("slow", at: 10, id: "c"))
            {"expect":{"id":"a","outcome":"handled","handler":"good"}}
            {"expect":{"id":"b","outcome":"failed"}}
            {"expect":{"id":"c","outcome":"timed_out"}}

            """)
        #expect(result.end == .exited(0), "\(result.output)\(result.errors)")
        #expect(result.errors.contains("real handlers run, by the wall clock"))
        #expect(readFile(installation.root + "/got")?.isEmpty == false)
    }

    @Test("finds that a real handler does not do what was expected")
    func failing() {
        installation.addJob("bad", "exit 3")
        let result = test(
            """
            \(deliver("bad", at: 0, id: "b"))
            {"expect":{"id":"b","outcome":"handled"}}

            """)
        #expect(result.end == .exited(1))
        #expect(result.output.contains("outcome is \"failed\", not \"handled\""), "\(result.output)")
    }

    @Test("tells the reason and the end of standard error of a handler that failed, in text, JSON and JUnit")
    func reasons() throws {
        installation.addJob("bad", "echo Dear Anna; echo trying >&2; echo cannot reach CRM >&2; exit 1")
        let junit = installation.root + "/report.xml"
        let lines = """
            \(deliver("bad", at: 0, id: "b"))
            {"expect":{"id":"b","outcome":"handled"}}

            """
        let closest =
            #"seq 1, n 0, onMessageReceived failed: outcome is "failed", not "handled"; "#
            + "the reason: exit status 1: cannot reach CRM"
        let written = ["bad wrote to standard error:", "  trying", "  cannot reach CRM"]
        let text = test(lines, "--junit", junit)
        #expect(text.output.contains(([closest] + written).map { "      \($0)\n" }.joined()), "\(text.output)")
        let xml = String(decoding: try #require(readFile(junit)), as: UTF8.self)
        #expect(xml.contains("<failure message=\"seq 1, n 0, onMessageReceived failed: outcome is"), "\(xml)")
        #expect(xml.contains("<system-err>\(written.joined(separator: "\n"))\n</system-err>"), "\(xml)")
        let check = try json(test(lines, "--json").output)["files"]?.elements.first?["expectations"]?.elements.first
        #expect(check?["lines"]?.elements.map(\.string) == [closest])
        #expect(check?["errors"]?.elements.map(\.string) == written)
        #expect(!(text.output + xml).contains("Anna"))
    }

    @Test("waits between lines, and checks expectations that are due before the next line")
    func waits() {
        installation.addJob("good", "exit 0")
        let result = test(
            """
            \(deliver("good", at: 0, id: "a"))
            {"expect":{"id":"a","outcome":"handled"}}
            \(deliver("good", at: 5000, id: "b"))
            {"expect":{"pending":1}}
            {"expect":{"id":"b","outcome":"handled"},"at":10000}

            """)
        // "pending" has no time: it is checked at the time of the next line, when the second delivery is done, too.
        #expect(result.output.contains("0 requests wait for an outcome, not 1"), "\(result.output)")
        #expect(result.output.contains("2 of 3"), "\(result.output)")
    }

    @Test(
        "refuses lines that need virtual time, with the line number",
        arguments: [
            (#"{"at":5,"crash":{"down_ms":5}}"#, ":2: crash: a crash is only simulated"),
            (#"{"op":"deliver","at":5,"payload":{"a":"b"},"script":{"exit":1}}"#, ":2: script: a script stands for"),
            (#"{"op":"deliver","at":60001,"payload":{"a":"b"}}"#, ":2: at: this is more than 60 s after the first"),
        ])
    func refuses(line: String, message: String) {
        let result = test(
            """
            {"op":"deliver","at":0,"payload":{"k":"v"}}
            \(line)
            {"expect":{"outcome":"handled"}}

            """)
        #expect(result.end == .exited(65))
        #expect(result.output.contains(message), "\(result.output)\(result.errors)")
    }
}
