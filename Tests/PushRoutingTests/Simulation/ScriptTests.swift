import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Scripts")
struct ScriptTests {
    @Test("give the completion the handler's answer")
    func answer() throws {
        let lines = try run(
            #"{"op":"deliver","at":0,"platform":"ios","state":"foreground","payload":{"aps":{"alert":"x"},"k":"v"},"#
                + #""script":{"answer":{"options":["banner"]}}}"#)
        #expect(lines.map { $0["completion"]?["by"]?.string } == ["handler"])
        #expect(lines.first?["completion"]?["options"]?.elements.map(\.string) == ["banner"])
    }

    @Test("may give each handler another behavior")
    func handlers() throws {
        let script = #""script":{"takes_ms":20,"handlers":{"first":{"takes_ms":5,"exit":80}}}"#
        let lines = try run(#"{"op":"deliver","at":0,"payload":{"k":"v"},\#(script)}"#)
        #expect(lines.map { $0["handler"]?.string } == ["second"])
        #expect(lines.map { $0["at"]?.int64 } == [25], "what the first took counts")
    }

    @Test("may belong to an interaction that is routed")
    func interaction() throws {
        let lines = try run(
            #"{"op":"interact","kind":"opened","at":0,"platform":"ios","payload":{"aps":{},"k":"v"},"#
                + #""script":{"takes_ms":9500}}"#)
        #expect(lines.map { $0["callback"]?.string } == ["didReceiveResponse"])
        #expect(lines.map { $0["outcome"]?.string } == ["timed_out"])
    }

    @Test(
        "report an error with the path of the member",
        arguments: [
            (#"{"handlers":[]}"#, "script.handlers", "handlers is an object of scripts by handler name"),
            (#"{"handlers":{"crm":7}}"#, "script.handlers.crm", "a script is an object"),
            (
                #"{"handlers":{"crm":{"handlers":{}}}}"#, "script.handlers.crm.handlers",
                "a script has takes_ms, exit, answer, answers"
            ),
            (#"{"handlers":{"crm":{"exit":256}}}"#, "script.handlers.crm.exit", "a whole number from 0 to 255"),
            (#"{"answer":"newData"}"#, "script.answer", "answer is the object that the handler prints"),
            (#"{"answers":0}"#, "script.answers", "a whole number from 1 to 1000"),
            (#"{"takes":1}"#, "script.takes", "a script has takes_ms, exit, answer, answers, errors, handlers"),
        ])
    func errors(script: String, field: String, message: String) throws {
        let lines = try run(#"{"op":"deliver","at":0,"payload":{},"script":\#(script)}"#)
        #expect(lines.map { $0["error"]?["field"]?.string } == [field])
        #expect(lines.first?["error"]?["message"]?.string?.contains(message) == true)
    }

    @Test("identify the push of a tap by its number or message id")
    func past() throws {
        let deliveries = [
            #"{"op":"deliver","id":"m1","at":0,"platform":"ios","device":"d","payload":{"aps":{"alert":"x"},"k":"v"}}"#
        ]
        for message in ["1", "\"m1\"", "\"m1\",\"device\":\"d\""] {
            let tap = #"{"op":"interact","kind":"opened","at":1,"message":\#(message),"script":{"takes_ms":5}}"#
            let lines = try run(deliveries + [tap])
            #expect(lines.last?["callback"]?.string == "didReceiveResponse", "the platform is the delivery's")
            #expect(lines.last?["at"]?.int64 == 6)
        }
        let other = #"{"op":"interact","kind":"opened","at":1,"message":"m1","device":"e"}"#
        let lines = try run(deliveries + [other])
        #expect(lines.last { $0["callback"] != nil }?["callback"]?.string == "none", "another device's")
        #expect(
            lines.last?["reason"]?.string
                == "push 1, with the id m1, went to another device or app than the interaction names")
    }

    @Test("send a token to every route")
    func token() throws {
        var lines = try run(#"{"op":"token","at":0,"token":"t","script":{"handlers":{"second":{"takes_ms":3}}}}"#)
        #expect(lines.removeFirst()["event_type"]?.string?.hasSuffix("TokenStateChange") == true)
        #expect(lines.map { $0["callback"]?.string } == ["onNewToken", "onNewToken"])
        #expect(lines.map { $0["at"]?.int64 } == [0, 3])
    }

    @Test("give a session its event alone")
    func session() throws {
        let lines = try run(#"{"op":"session","kind":"start","at":0,"device":"d"}"#)
        #expect(lines.map { $0["event_type"]?.string } == ["users.behaviors.app.SessionStart"])
    }

    /// Runs lines against two routes that match everything; returns the printed lines.
    private func run(_ line: String) throws -> [JSONNode] { try run([line]) }

    private func run(_ lines: [String]) throws -> [JSONNode] {
        let names = ["first", "second"]
        let table = RoutingTable(
            routes: names.map { Route(name: $0, match: RouteMatch(), handler: $0) },
            handlers: Dictionary(uniqueKeysWithValues: names.map { ($0, Handler(name: $0, kind: .journal)) }))
        var simulator = Simulator(table: table, tracker: Tracker(stateID: UUID128(high: 0, low: 0)))
        var output = lines.enumerated().flatMap { simulator.take(Array($1.utf8), number: $0 + 1) }
        output += simulator.finish()
        return try output.map { try JSONDocument(scanning: $0).root }
    }
}
