import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Simulation")
struct SimulatorTests {
    @Test(
        "a script stands for the handler of the route, at its deadline to the millisecond",
        arguments: [
            (8999, "handled", 8999), (9000, "timed_out", 9000), (9500, "timed_out", 9000),
        ])
    func deadline(takes: Int, outcome: String, exec: Int) {
        let lines = simulate([#"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":\#(takes),"exit":0}}"#])
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""outcome":"\#(outcome)""#) == true)
        #expect(lines.first?.contains(#""at":\#(exec),"#) == true)
        #expect(lines.first?.contains(#""queue_ms":0,"exec_ms":\#(exec),"total_ms":\#(exec)"#) == true)
    }

    @Test("the lines of pushctl simulate, byte for byte")
    func bytes() {
        let lines = simulate([
            #"{"op":"deliver","id":"a1","at":"1970-01-01T00:00:01Z","platform":"ios","app":"shop","device":"phone","#
                + #""external_id":"u1","payload":{"aps":{"alert":"Text"},"ab":{"c":"summer"}}}"#,
            #"{"op":"interact","at":2500,"kind":"opened","message":1}"#,
            #"{"op":"deliver","at":3000,"payload":{"k":"v"},"script":{"takes_ms":1,"exit":1}}"#,
        ])
        #expect(
            lines == [
                #"{"type":"analytics","at":1000,"event_type":"local.pushnotification.Received","#
                    + #""id":"00000000-0001-8001-8000-000000000000","time":1,"external_user_id":"u1","#
                    + #""device_id":"phone","app_id":"shop","platform":"ios","campaign_id":"summer","message_id":"a1"}"#,
                #"{"type":"invocation","seq":1,"n":0,"id":"a1","at":1000,"callback":"none","provider":"braze","#
                    + #""route":null,"handler":null,"outcome":"shown_by_system","reason":"the app is not in the "#
                    + #"foreground: iOS shows the alert, badge or sound itself, no code of the app runs","#
                    + #""reason_code":"alert_shown_by_system","queue_ms":0,"exec_ms":0,"total_ms":0}"#,
                #"{"type":"analytics","at":2500,"event_type":"users.behaviors.app.SessionStart","#
                    + #""id":"00000000-0002-8005-8000-000000000000","time":2,"external_user_id":"u1","#
                    + #""device_id":"phone","app_id":"shop","platform":"ios"}"#,
                #"{"type":"analytics","at":2500,"event_type":"users.messages.pushnotification.Open","#
                    + #""id":"00000000-0002-8002-8000-000000000000","time":2,"external_user_id":"u1","#
                    + #""device_id":"phone","app_id":"shop","platform":"ios","campaign_id":"summer","message_id":"a1","#
                    + #""button_action_type":null,"button_string":null}"#,
                #"{"type":"invocation","seq":2,"n":0,"at":2500,"callback":"didReceiveResponse","provider":"braze","#
                    + #""route":null,"handler":null,"outcome":"handed_to_tracker","#
                    + #""reason":"direct open of delivery 1","reason_code":"direct_open","queue_ms":0,"exec_ms":0,"total_ms":0,"#
                    + #""completion":{"by":"tracker","times":1,"result":null}}"#,
                #"{"type":"invocation","seq":3,"n":0,"at":3001,"callback":"onMessageReceived","provider":null,"#
                    + #""route":"all","handler":"log","outcome":"failed","reason":"exit status 1","#
                    + #""reason_code":"handler_rejected","queue_ms":0,"exec_ms":1,"total_ms":1,"#
                    + #""completion":{"by":"default","times":1,"result":"noData"},"#
                    + #""attempts":[{"attempt":1,"route":"all","handler":"log","asked_ms":0,"started_ms":0,"ended_ms":1,"#
                    + #""answer":"rejected","status":1,"reason":"exit status 1"}]}"#,
            ])
    }

    @Test(
        "the meaning of the exit status, by mode",
        arguments: [
            (DispatchMode.device, 0, "handled"), (.device, 75, "failed"), (.device, 80, "unrouted"),
            (.device, 1, "failed"),
            (.relay, 0, "handled"), (.relay, 75, "failed"), (.relay, 80, "unrouted"), (.relay, 255, "failed"),
        ])
    func exits(mode: DispatchMode, exit: Int, outcome: String) {
        let line = #"{"op":"deliver","at":0,"payload":{},"script":{"exit":\#(exit)}}"#
        #expect(outcomes(simulate([line], mode)) == ["1 \(outcome)"])
    }

    @Test("without a script, and with one that takes no time, a delivery is handled at its own instant")
    func noTime() {
        let lines = simulate([
            #"{"op":"deliver","at":5,"payload":{}}"#, #"{"op":"deliver","at":5,"payload":{},"script":{"takes_ms":0}}"#,
        ])
        #expect(outcomes(lines) == ["1 handled", "2 handled"])
        #expect(lines.allSatisfy { $0.contains(#""at":5,"#) && $0.contains(#""total_ms":0"#) })
    }

    @Test("at one instant requests come before timers, and a deadline before an answer")
    func order() {
        let lines = simulate([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":9500}}"#,
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":9000}}"#,
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":4000}}"#,
            #"{"op":"deliver","at":4000,"payload":{}}"#,
            #"{"op":"deliver","at":9000,"payload":{},"script":{"takes_ms":0}}"#,
            #"{"op":"deliver","at":9000,"payload":{}}"#,
        ])
        #expect(
            outcomes(lines) == ["4 handled", "3 handled", "6 handled", "1 timed_out", "2 timed_out", "5 handled"])
    }

    @Test("a request without a script is handled before the timers of its instant")
    func requestFirst() {
        let lines = simulate([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":9500}}"#,
            #"{"op":"deliver","at":9000,"payload":{}}"#,
        ])
        #expect(outcomes(lines) == ["2 handled", "1 timed_out"])
    }

    @Test("a script ignores SIGTERM: it ends at its time, or at its deadline")
    func grace() {
        let handler = Handler(name: "log", kind: .exec(.init(arguments: ["/bin/true"])), grace: .seconds(5))
        let lines = simulate([#"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":8000}}"#], handler: handler)
        #expect(outcomes(lines) == ["1 handled"])
    }

    @Test("scripted handlers need places, and wait for them within their time")
    func places() {
        let line = #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":5000}}"#
        #expect(outcomes(simulate([line, line], places: 1)) == ["1 handled", "2 timed_out"])
    }

    @Test(
        "a lane delays the deliveries behind its head, by the clock of the mode",
        arguments: [
            (DispatchMode.device, ["1 handled", "2 handled"]), (.relay, ["1 handled", "2 timed_out"]),
        ])
    func lane(mode: DispatchMode, expected: [String]) {
        let lines = simulate(
            [
                #"{"op":"deliver","at":0,"device":"d","payload":{},"script":{"takes_ms":8000}}"#,
                #"{"op":"deliver","at":0,"device":"d","payload":{},"script":{"takes_ms":2000}}"#,
            ], mode)
        #expect(outcomes(lines) == expected)
    }

    @Test("in device mode a Braze push waits in its lane, with its receipt")
    func brazeLane() {
        let lines = simulate([
            #"{"op":"deliver","at":0,"device":"d","payload":{"k":"v"},"script":{"takes_ms":8000}}"#,
            #"{"op":"deliver","at":0,"device":"d","payload":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#,
        ])
        #expect(outcomes(lines) == ["1 handled", "analytics", "2 handed_to_tracker"])
        #expect(lines.last?.contains(#""queue_ms":8000"#) == true)
    }

    @Test("a wrong line gives an error with its number, in its place, without an effect on the others")
    func errors() {
        let lines = simulate([
            #"{"op":"deliver","at":0,"payload":{},"script":{"takes_ms":5}}"#,
            "{",
            #"{"op":"deliver","payload":{}}"#,
            #"{"op":"deliver","id":"x","at":100,"payload":{"message":{"data":{"badge":1}}}}"#,
            #"{"op":"deliver","at":50,"payload":{}}"#,
            #"{"op":"deliver","at":200,"payload":{}}"#,
        ])
        #expect(
            outcomes(lines) == [
                "error 2 invalid_json", "error 3 missing_key", "1 handled", "error 4 invalid_payload",
                "error 5 invalid_value", "2 handled",
            ])
        #expect(lines[3].hasPrefix(#"{"type":"error","line":4,"id":"x","error":{"code":"invalid_payload","field":"#))
        #expect(lines[4].contains("at is earlier than that of the line before; put the lines in order"))
    }

    @Test(
        "a wrong script gives its own errors",
        arguments: [
            ("7", "script", "a script is an object"),
            (#"{"takes_ms":-1}"#, "script.takes_ms", "a whole number from 0 to 86400000"),
            (#"{"takes_ms":1.5}"#, "script.takes_ms", "a whole number from 0 to 86400000"),
            (#"{"exit":256}"#, "script.exit", "a whole number from 0 to 255"),
        ])
    func scriptErrors(script: String, field: String, message: String) {
        let lines = simulate([#"{"op":"deliver","id":"x","at":0,"payload":{},"script":\#(script)}"#])
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""id":"x""#) == true)
        #expect(lines.first?.contains(#""field":"\#(field)""#) == true)
        #expect(lines.first?.contains(message) == true)
    }

    @Test("the simulator counts the refused lines")
    func countsErrors() {
        var simulator = simulator(.device)
        _ = simulator.take(Array("{".utf8), number: 1)
        _ = simulator.take(Array(#"{"op":"deliver","at":0,"payload":{}}"#.utf8), number: 2)
        #expect(simulator.errors == 1)
    }

    @Test("a time that the monotonic clock cannot hold is an error", arguments: ["-1", "7258118400001"])
    func span(at: String) {
        let lines = simulate([#"{"op":"deliver","at":\#(at),"payload":{}}"#])
        #expect(outcomes(lines) == ["error 1 invalid_value"])
    }

    @Test("thousands of lines are decided in order of time, with equal bytes in both runs")
    func many() {
        let count = Search.cases(10_000)
        let lines = (0..<count).map { index in
            #"{"op":"deliver","at":\#(index * 7),"device":"d\#(index % 50)","payload":{"k":"v"},"#
                + #""script":{"takes_ms":\#(index * 7919 % 12_000),"exit":\#([0, 0, 1, 75, 80][index % 5])}}"#
        }
        let output = simulate(lines, .relay)
        #expect(output.count == count)
        #expect(output == simulate(lines, .relay))
        let times = output.compactMap { line in
            line.split(separator: #""at":"#).dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        #expect(times.count == count)
        #expect(times == times.sorted())
    }

    private func simulator(
        _ mode: DispatchMode, handler: Handler = Handler(name: "log", kind: .journal), places: Int = 64
    ) -> Simulator {
        var table = RoutingTable(
            mode: mode, routes: [Route(name: "all", match: RouteMatch(), handler: handler.name)],
            handlers: [handler.name: handler])
        table.limits.handlers = places
        return Simulator(table: table, tracker: Tracker(stateID: UUID128(high: 0, low: 0)))
    }

    private func simulate(
        _ lines: [String], _ mode: DispatchMode = .device, handler: Handler = Handler(name: "log", kind: .journal),
        places: Int = 64
    ) -> [String] {
        var simulator = simulator(mode, handler: handler, places: places)
        var output: [[UInt8]] = []
        for (index, line) in lines.enumerated() { output += simulator.take(Array(line.utf8), number: index + 1) }
        output += simulator.finish()
        return output.map { String(decoding: $0, as: UTF8.self) }
    }

    /// `1 handled` for an invocation, `error 2 invalid_json` for an error, the type for any other line.
    private func outcomes(_ lines: [String]) -> [String] {
        lines.map { line in
            guard let root = try? JSONDocument(scanning: Array(line.utf8)).root else { return "no JSON: \(line)" }
            return switch root["type"]?.string {
            case "invocation": "\(root["seq"]?.int64 ?? 0) \(root["outcome"]?.string ?? "?")"
            case "error": "error \(root["line"]?.int64 ?? 0) \(root["error"]?["code"]?.string ?? "?")"
            case let type: type ?? "?"
            }
        }
    }
}
