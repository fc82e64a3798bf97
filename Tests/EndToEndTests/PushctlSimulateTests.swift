import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("pushctl simulate", .timeLimit(.minutes(30)))
struct PushctlSimulateTests {
    private func simulate(_ lines: String, _ arguments: String...) -> Program.Result {
        pushctl.run(["simulate", "-", "--config", shippedConfiguration] + arguments, input: Array(lines.utf8))
    }

    private static let slow = """
        {"op":"deliver","at":1000,"app":"a","device":"d","payload":{"x":"1"},"script":{"takes_ms":9500}}
        {"op":"deliver","at":2000,"app":"a","device":"d","payload":{"x":"2"}}

        """

    @Test("runs a day in an instant: a slow handler delays the push behind it in device mode")
    func device() throws {
        let result = simulate(Self.slow)
        #expect(result.end == .exited(0))
        let rows = try result.lines.map { try json($0) }
        #expect(rows.map { $0["outcome"]?.string } == ["timed_out", "handled"])
        #expect(rows.map { $0["at"]?.int64 } == [10_000, 10_000])
        #expect(rows.last?["queue_ms"]?.int64 == 8000)
        #expect(simulate(Self.slow).output == result.output, "the same input gives the same bytes")
    }

    @Test("simulates relay mode with --mode relay")
    func relay() throws {
        let declined = #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":100,"exit":75}}"#
        #expect(try json(simulate(declined).output)["outcome"]?.string == "failed", "device mode retries nothing")
        #expect(try json(simulate(declined, "--mode", "relay").output)["outcome"]?.string == "failed")
    }

    @Test("uses the scenario's mode unless --mode overrides it")
    func modeOfScenario() throws {
        let scenario =
            #"{"scenario":"s","mode":"relay"}"# + "\n"
            + #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":100,"exit":75}}"#
        #expect(try json(simulate(scenario).output)["outcome"]?.string == "failed")
        #expect(try json(simulate(scenario, "--mode", "device").output)["outcome"]?.string == "failed")
    }

    @Test("ignores a scenario's expectations, so that its output can be used to write them")
    func scenario() {
        let scenario = #"{"scenario":"s"}"# + "\n" + Self.slow + #"{"expect":{"outcome":"handled"}}"# + "\n"
        let result = simulate(scenario)
        #expect(result.end == .exited(0))
        #expect(result.output == simulate(Self.slow).output)
    }

    private static let wrong = """
        {"op":"deliver","at":1000,"payload":{}}
        {"op":"deliver","payload":{}}
        {"op":"deliver","at":2000,"payload":{}}

        """

    @Test("stops at a faulty line, names it, and ends with 1")
    func stops() throws {
        let result = simulate(Self.wrong)
        #expect(result.end == .exited(1))
        let last = try json(#require(result.lines.last))
        #expect(last["type"]?.string == "error")
        #expect(last["line"]?.int64 == 2)
        #expect(last["error"]?["code"]?.string == "missing_key")
        #expect(result.lines.count { $0.contains("\"type\":\"invocation\"") } == 1)
    }

    @Test("continues after a faulty line with --keep-going, and still ends with 1")
    func keepsGoing() {
        let result = simulate(Self.wrong, "--keep-going")
        #expect(result.end == .exited(1))
        #expect(result.lines.count { $0.contains("\"type\":\"invocation\"") } == 2)
    }

    // Source: FirebaseMessagingServiceRoboTest.java of firebase-android-sdk.
    @Test(
        "runs the callbacks that FCM's own test expects, the same number of times",
        arguments: Fixture.list("payloads/fcm-apns", suffix: ".json").filter { $0.contains("/vec-") })
    func vectors(_ path: String) throws {
        let vector = try #require(try? JSONDocument(scanning: Fixture.bytes(path))).root
        let expected = try #require(vector["expect"])
        let state = try #require(vector["app_state"]?.string)
        let times = try #require(vector["repeat"]?.int64)
        let extras = try #require(vector["extras"]).text.filter { $0 != "\n" }
        let lines = (1...times).map { time in
            #"{"op":"deliver","at":\#(time),"platform":"android","app":"a","device":"d","state":"\#(state)","#
                + #""payload":{"extras":\#(extras)}}"#
        }
        let result = simulate(lines.joined(separator: "\n"))
        #expect(result.end == .exited(0))
        let ran = try result.lines.map { try json($0) }.filter { $0["type"]?.string == "invocation" }
        #expect(ran.count == Int(times))
        let shown = ran.count { $0["outcome"]?.string == "shown_by_system" }
        var called = 0
        for (name, value) in expected.members where name != "data" {
            // A value that is not a number is the callback's argument: the callback runs once.
            let count = Int(value.int64 ?? 1)
            if name == "system_tray" {
                #expect(shown == count)
            } else {
                #expect(ran.count { $0["callback"]?.string == name && $0["outcome"]?.string == "handled" } == count)
                called += count
            }
        }
        // All other deliveries are duplicates.
        #expect(ran.count { $0["outcome"]?.string == "duplicate" } == Int(times) - called - shown)
    }

    @Test("says why a scenario cannot be read")
    func missing() {
        #expect(pushctl.run(["simulate", "/nowhere"]).end == .exited(66))
    }
}
