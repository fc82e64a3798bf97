import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A push as a scenario", .timeLimit(.minutes(30)))
struct ScenarioTests {
    /// A Braze push, with as many taps of which the first counts.
    private func scene(taps: Int) -> Scene {
        var push = Sample.handed()
        let content = AnalyticsEvent.Push(campaignID: "spring", messageID: "m41")
        if taps > 0 { push.events.append(Sample.event(42, 41, .open(content, button: nil))) }
        return Scene([push] + (0..<taps).map { Sample.tap(42 + Int64($0)) })
    }

    private func lines(_ text: String) -> [[UInt8]] { text.split(separator: "\n").map { Array($0.utf8) } }

    private func run(_ text: String) throws -> ScenarioResult {
        try Scenario(lines(text)).run(
            table: Sample.table, tracker: Tracker(stateID: UUID128(high: 0, low: 0), rules: Sample.table.tracking))
    }

    @Test("holds as it is, with a tap and without", arguments: [0, 1])
    func holds(_ taps: Int) throws {
        let answer = try scene(taps: taps).get("/push/41/scenario")
        #expect(answer.status == 200 && answer.header("Content-Type") == "text/plain; charset=utf-8")
        let result = try run(answer.text)
        #expect(result.checks.allSatisfy { $0.failure == nil }, "\(answer.text)\(result.checks)")
        #expect(result.checks.count == 1 + taps && result.warnings.isEmpty)
    }

    @Test("says what was sent, when, and what came of it")
    func text() throws {
        let text = try scene(taps: 1).get("/push/41/scenario").text
        let payload = #"{"messageId":"m41","data":{"_ab":"true","cid":"spring","t":"Spring sale","a":"All must go"}}"#
        #expect(
            text == """
                {"scenario":"push 41","mode":"device"}
                {"op":"deliver","at":"2026-11-24T12:00:00Z","platform":"android","app":"com.example.shop",\
                "device":"pixel-1","external_id":"anna","state":"background","payload":\(payload)}
                {"expect":{"seq":1,"callback":"onMessageReceived","provider":"braze","outcome":"handed_to_tracker"}}
                {"op":"interact","at":"2026-11-24T12:00:10Z","platform":"android","app":"com.example.shop",\
                "device":"pixel-1","external_id":"anna","kind":"opened","message":1}
                {"expect":{"count":{"event":{"event_type":"users.messages.pushnotification.Open"}},"is":1}}

                """)
    }

    @Test("fails where something else comes of it")
    func fails() throws {
        let text = try scene(taps: 1).get("/push/41/scenario").text
        let other = text.split(separator: "\n").map { $0.contains("\"count\"") ? $0.dropLast(2) + "2}}" : $0 }
        #expect(try run(other.joined(separator: "\n")).checks.contains { $0.failure != nil })
    }

    @Test("has the taps that name the push by its number or its message id, and no other")
    func interactions() throws {
        let scene = scene(taps: 1)
        var byName = Sample.tap(43)
        byName.request.body = Array(#"{"op":"interact","kind":"dismissed","message":"m41"}"#.utf8)
        scene.source.stories += [byName, Sample.tap(44, on: 40)]
        let text = try scene.get("/push/41/scenario").text
        #expect(text.split(separator: "\n").filter { $0.contains("\"interact\"") }.count == 2)
        #expect(text.contains("\"kind\":\"dismissed\",\"message\":1"))
    }

    @Test(
        "has the handler behave as it did, and expects its outcome, unless others' calls were the reason",
        arguments: [
            (Outcome.handled, #"{"takes_ms":1200,"exit":0}"#), (.timedOut, #"{"takes_ms":10000,"exit":0}"#),
            (.failed, #"{"takes_ms":1200,"exit":1}"#), (.expired, nil),
        ] as [(Outcome, String?)])
    func handlers(_ outcome: Outcome, _ script: String?) throws {
        let text = try Scene([Sample.handled(41, outcome)]).get("/push/41/scenario").text
        let expected = #"{"expect":{"seq":1,"callback":"onMessageReceived","provider":null,"handler":"crm""#
        #expect(text.contains(expected + (script == nil ? "}}" : #","outcome":"\#(outcome.rawValue)"}}"#)), "\(text)")
        #expect(text.contains(#""script""#) == (script != nil))
        if let script { #expect(text.contains(#","script":{"handlers":{"crm":\#(script)}}}"#), "\(text)") }
    }

    @Test("is of a delivery alone, and of none that is erased")
    func refusals() throws {
        var erased = Sample.handed()
        erased.request.body = Array("{}".utf8)
        let scene = Scene([erased, Sample.tap(42)])
        #expect(try scene.get("/push/41/scenario").status == 409)
        #expect(try scene.get("/push/42/scenario").status == 409)
        #expect(try scene.get("/push/43/scenario").status == 404)
    }
}
