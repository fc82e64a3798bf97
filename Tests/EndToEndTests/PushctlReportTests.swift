import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl report, show and status", .timeLimit(.minutes(30)))
struct PushctlReportTests {
    private let daemon: TestDaemon

    /// One delivery is handled, one fails, one misses its deadline, and one is Braze's.
    init() throws {
        let installation = Installation()
        installation.addJob("fails", "exit 1")
        installation.addJob("hangs", "exec sleep 60", route: "Deadline=1500ms")
        daemon = try TestDaemon(installation)
        let lines = [#"{"a":"1"}"#, #"{"job":"fails"}"#, #"{"job":"hangs"}"#, #"{"_ab":"true","cid":"64b0"}"#]
        let result = daemon.pushctl("inject", "-", "--wait", input: lines.joined(separator: "\n"))
        try #require(result.lines.count == 8, "\(result.output)\(result.errors)")
    }

    @Test("prints the report for people, with and without the daemon")
    func text() throws {
        let result = daemon.pushctl("report")
        #expect(result.end == .exited(0))
        #expect(result.output.contains("\nDeadline compliance  66.6 %  (due 3, missed 1, failed 1)\n"))
        #expect(try daemon.process.stop() == .exited(0))
        #expect(daemon.pushctl("report").output == result.output)
        #expect(result.lines[1].hasPrefix("Window               20"))
        #expect(result.lines[1].hasSuffix("(all that the ledger holds)"))
        #expect(result.lines[0].hasPrefix("1 of 3 was late, all at hangs (1 ran too long), since 20"))
        #expect(result.lines[0].hasSuffix(". 1 failed in time, all at fails."))
    }

    @Test("prints the same JSON for --json and --format json")
    func json() throws {
        let result = daemon.pushctl("report", "--json")
        #expect(daemon.pushctl("report", "--format=json").output == result.output)
        let report = try EndToEndTests.json(result.output)
        #expect(report["mode"]?.string == "device")
        #expect(report["accepted"]?.int64 == 4)
        #expect(report["due"]?.int64 == 3)
        #expect(report["missed"]?.int64 == 1)
        #expect(report["outcomes"]?["handed_to_tracker"]?.int64 == 1)
        #expect(report["by_handler"]?["hangs"]?["missed"]?.int64 == 1)
    }

    @Test("prints a row for each invocation as CSV")
    func csv() {
        let rows = daemon.pushctl("report", "--format", "csv").output.split(separator: "\r\n")
        #expect(rows.first?.hasPrefix("seq,n,outcome,") == true)
        #expect(
            rows.dropFirst().map { $0.split(separator: ",").prefix(3).joined(separator: ",") }
                == ["1,0,handled", "2,0,failed", "3,0,timed_out", "4,0,handed_to_tracker"])
    }

    @Test(
        "ends with 1 when the objective is missed",
        arguments: [("66", 0), ("66.6", 0), ("66.7", 1), ("99.9%", 1), ("0", 0), ("100", 1)] as [(String, Int32)])
    func objective(_ percent: String, _ status: Int32) throws {
        for format in ["text", "json", "csv"] {
            let result = daemon.pushctl("report", "--fail-under", percent, "--format", format)
            #expect(result.end == .exited(status))
            #expect(result.errors.contains("is below") == (status == 1))
        }
        let slo = try EndToEndTests.json(daemon.pushctl("report", "--json", "--fail-under", percent).output)["slo"]
        #expect(slo?["met"]?.bool == (status == 0))
    }

    @Test("prints formats for browsers, CI and pull requests, and refuses an unknown format")
    func formats() {
        for (format, begin) in [
            ("html", "<!DOCTYPE html>\n"), ("junit", "<?xml version="),
            ("markdown", "## Deadline compliance: 66.6 %, 1 failed\n"),
        ] {
            let result = daemon.pushctl("report", "--format", format)
            #expect(result.end == .exited(0) && result.output.hasPrefix(begin), "\(result.output.prefix(200))")
        }
        #expect(daemon.pushctl("report", "--format", "html").output.contains("Handler fails handled nothing"))
        #expect(daemon.pushctl("campaigns", "--format", "html").output.contains("<h1>Campaigns</h1>"))
        #expect(daemon.pushctl("report", "--format", "pdf").end == .exited(2))
        #expect(daemon.pushctl("report", "--by", "nosuch").end == .exited(2))
    }

    @Test(
        "refuses an option that a format cannot show, and names the formats that can",
        arguments: [
            ("text", true, true), ("json", true, true), ("html", true, true), ("markdown", true, true),
            ("junit", false, true), ("csv", false, false),
        ] as [(String, Bool, Bool)])
    func refusedOptions(_ format: String, _ showsBy: Bool, _ showsBaseline: Bool) {
        let before = daemon.installation.root + "/before.json"
        writeFile(daemon.pushctl("report", "--json").output, to: before)
        let by = daemon.pushctl("report", "--format", format, "--by", "handler,platform")
        let baseline = daemon.pushctl("report", "--format", format, "--baseline", before)
        #expect(by.end == .exited(showsBy ? 0 : 2))
        #expect(showsBy || by.errors.contains("does not support --by; these formats do: text, json, html, markdown\n"))
        #expect(baseline.end == .exited(showsBaseline ? 0 : 2))
        let others = "text, json, html, junit, markdown"
        #expect(showsBaseline || baseline.errors.contains("does not support --baseline; these formats do: \(others)\n"))
    }

    @Test("--fail-on-miss ends with 1 and a line with the reason")
    func failOnMiss() {
        let result = daemon.pushctl("report", "--fail-on-miss")
        #expect(result.end == .exited(1))
        #expect(result.errors == "pushctl: 1 of 3 due invocations missed their deadline\n")
        #expect(daemon.pushctl("report", "--fail-on-miss", "--until", "-1d").end == .exited(0))
    }

    @Test("a report compared with itself is not worse; a file that is not a report is refused")
    func baseline() throws {
        let before = daemon.installation.root + "/before.json"
        writeFile(daemon.pushctl("report", "--json").output, to: before)
        let report = try EndToEndTests.json(daemon.pushctl("report", "--json", "--baseline", before).output)
        #expect(report["comparison"]?["worse"]?.count == 0)
        #expect(report["comparison"]?["file"]?.string == before)
        writeFile("Window", to: before)
        let refused = daemon.pushctl("report", "--baseline", before)
        #expect(refused.end == .exited(65))
        #expect(refused.errors.hasPrefix("pushctl: --baseline \(before): not JSON: at byte 0: "), "\(refused.errors)")
    }

    @Test("covers the requested window, and says when nothing was due in it")
    func window() throws {
        func accepted(_ arguments: String...) throws -> Int64? {
            let result = pushctl.run(daemon.options + ["report", "--json"] + arguments)
            return try EndToEndTests.json(result.output)["accepted"]?.int64
        }
        #expect(try accepted("--since", "-1h") == 4)
        #expect(try accepted("--since=-1w", "--until", "now") == 4)
        #expect(try accepted("--since", "2001-01-01", "--until", "2001-01-02") == 0)
        #expect(try accepted("--until", "-1min") == 0)
        #expect(try accepted("--until", "yesterday") == 0)
        #expect(try accepted("--since", "2001-01-01T00:00:00+02:00") == 4)
        let nothing = daemon.pushctl("report", "--until", "-1d", "--fail-under", "100")
        #expect(nothing.end == .exited(0))
        #expect(nothing.errors == "pushctl: no invocation was due, so --fail-under 100 checks nothing\n")
    }

    @Test("takes a date as its midnight in this machine's zone")
    func zone() throws {
        func since(_ date: String, _ zone: String) throws -> String? {
            let arguments = daemon.options + ["report", "--json", "--since", date]
            let result = pushctl.run(arguments, environment: ["TZ": zone])
            return try EndToEndTests.json(result.output)["window"]?["since"]?.string
        }
        #expect(try since("2026-01-15", "UTC0") == "2026-01-15T00:00:00Z")
        #expect(try since("2026-01-15", "XXX-05:30") == "2026-01-14T18:30:00Z")
        #expect(try since("2026-07-15", "CET-1CEST,M3.5.0,M10.5.0/3") == "2026-07-14T22:00:00Z")
    }

    @Test("shows the whole story of a request")
    func show() throws {
        let story = try EndToEndTests.json(daemon.pushctl("show", "3", "--json").output)
        #expect(story["op"]?.string == "deliver")
        #expect(story["request"]?["payload"]?.text == #"{"job":"hangs"}"#)
        #expect(story["peer"]?["uid"]?.int64 != nil)
        let invocation = try #require(story["invocations"]?.elements.first)
        #expect(invocation["outcome"]?.string == "timed_out")
        #expect(invocation["reason_code"]?.string == "not_finished_at_deadline")
        #expect(story["transport"]?.string == "fcm" && story["original_priority"]?.kind == .null)
        #expect(invocation["route"]?.string == "50-hangs")
        #expect(invocation["deadline_ms"]?.int64 == 1500)
        #expect(invocation["started"]?.bool == true)
        let text = daemon.pushctl("show", "4").output
        #expect(text.hasPrefix("Request 4\n  op         deliver\n"))
        #expect(text.contains("\nIn short\n  Braze has it. Its campaign is 64b0.\n"))
        #expect(text.contains(#""payload":{"_ab":"true","cid":"64b0"}}"#))
        #expect(text.contains("\nInvocation 0: onMessageReceived, handed_to_tracker\n  provider   braze\n"))
        #expect(text.contains("local.pushnotification.Received"))
    }

    @Test("pushctl show prints a tap with its verdict")
    func showInteraction() throws {
        let tap = #"{"op":"interact","platform":"ios","kind":"opened","message":"m\u001b[1m"}"#
        let client = try daemon.installation.injectClient()
        #expect(try client.ask(tap).seq == 5)
        try waitUntil("its outcome is in the ledger") { try daemon.installation.ledgerRows().count == 5 }
        let text = daemon.pushctl("show", "5").output
        #expect(text.contains("\n  kind        opened\n  message     m\\x1b[1m\n"), "\(text)")
        #expect(text.contains("\nInvocation 0: didReceiveResponse, "))
        let story = try EndToEndTests.json(daemon.pushctl("show", "5", "--json").output)
        #expect(story["state"]?.kind == .null)
        #expect(story["invocations"]?.elements.first?["observer"]?.bool == false)
    }

    @Test("says with 1 that there is no such request")
    func showNothing() {
        let result = daemon.pushctl("show", "99")
        #expect(result.end == .exited(1))
        #expect(result.errors == "pushctl: the ledger has no request 99: the last one is 4\n")
    }

    @Test("says with 66 that there is no ledger, and names the remedy")
    func noLedger() {
        let directory = TemporaryDirectory()
        for command in [["report"], ["show", "1"]] {
            let result = pushctl.run(command + ["--state", directory.path, "--config", shippedConfiguration])
            #expect(result.end == .exited(66))
            let message = "no pushes are recorded here yet: there is no ledger"
            #expect(result.errors.contains("\(directory.path)/ledger.db: \(message)"))
            #expect(result.errors.contains("name another with --state"))
        }
    }

    @Test("reports the recorded requests even under a faulty configuration")
    func brokenConfiguration() {
        writeFile("[Deadline]\nBudget=never\n", to: daemon.installation.root + "/etc/pushrouterd.conf")
        let result = daemon.pushctl("report")
        #expect(result.end == .exited(0))
        #expect(result.errors.contains("pushrouterd.conf:2: error: "))
        #expect(result.output.contains("Deadline compliance  66.6 %"))
    }

    @Test("prints the status of the daemon")
    func status() throws {
        let status = try EndToEndTests.json(daemon.pushctl("status", "--json").output)
        #expect(status["mode"]?.string == "device")
        #expect(status["last_seq"]?.int64 == 4)
        let text = daemon.pushctl("status", "--all")
        #expect(text.end == .exited(0))
        #expect(text.lines.contains { $0.hasPrefix("mode ") && $0.hasSuffix("  device") })
        #expect(text.lines.contains { $0.hasPrefix("store_problem ") && $0.hasSuffix("  -") })
        let short = daemon.pushctl("status").lines
        #expect(short.count == 10)
        #expect(short.first?.hasPrefix("pushrouterd ") == true && short.last == "Problems       none", "\(short)")
        #expect(short.contains { $0.hasPrefix("Deadline       66.6 % of ") }, "\(short)")
    }

    @Test("times are in this machine's zone with the offset; with --utc and for programs in UTC")
    func zones() throws {
        func run(_ arguments: String...) -> String {
            pushctl.run(daemon.options + arguments, environment: ["TZ": "XXX-05:30"]).output
        }
        let window = ["--since", "2026-01-15T00:00:00Z"]
        let report = { (more: [String]) in
            pushctl.run(self.daemon.options + ["report"] + window + more, environment: ["TZ": "XXX-05:30"]).output
        }
        #expect(report([]).contains("\nWindow               since 2026-01-15 05:30:00 +05:30; "))
        #expect(report(["--utc"]).contains("\nWindow               since 2026-01-15 00:00:00 +00:00; "))
        #expect(try EndToEndTests.json(report(["--json"]))["window"]?["since"]?.string == "2026-01-15T00:00:00Z")
        #expect(run("show", "1").contains(" +05:30\n") && run("show", "1", "--utc").contains(" +00:00\n"))
        #expect(run("campaigns", "--since", "2026-01-15", "--utc").contains("since 2026-01-15 00:00:00 +00:00\n"))
    }
}
