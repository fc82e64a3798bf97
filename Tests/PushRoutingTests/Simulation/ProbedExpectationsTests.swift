import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// All decisions on the scenarios of the fixtures, and expectations with another value in the place of each member.
@Suite("The scenarios of the fixtures")
struct ProbedExpectationsTests {
    private static let table: RoutingTable = {
        let orders = Route(
            name: "20-orders", match: RouteMatch(data: [.init(key: "order_id", pattern: nil)]), handler: "orders",
            budget: .seconds(4))
        return .testing(
            routes: [orders, Route(name: "90-crm", match: RouteMatch(), handler: "crm")],
            handlers: [.exec("orders"), .exec("crm")])
    }()
    private static let tracker = Tracker(stateID: UUID128(high: 0, low: 0))

    @Test("are decided as Fixtures/scenarios/decided.txt has it")
    func decided() throws {
        let folders = ["scenarios", "scenarios/tracker", "scenarios/tracker/foreground", "scenarios/custom-data"]
        var found: [String] = []
        for path in folders.flatMap({ Fixture.list($0, suffix: "jsonl") + Fixture.list($0, suffix: "ndjson") }) {
            let lines = Fixture.bytes(path).split(separator: UInt8(ascii: "\n")).map(Array.init)
            let roots = lines.map { try? JSONDocument(scanning: $0).root }
            let mode = roots.first??["mode"]?.string.flatMap(DispatchMode.init)
            var simulator = Simulator(table: Self.table, tracker: Self.tracker, mode: mode)
            found.append("==== \(path)")
            for (index, (line, root)) in zip(lines, roots).enumerated()
            where root?["expect"] == nil && root?["scenario"] == nil {
                found += simulator.take(line, number: index + 1).map { String(decoding: $0, as: UTF8.self) }
            }
            found += simulator.finish().map { String(decoding: $0, as: UTF8.self) }
        }
        Fixture.expect(found, in: "scenarios/decided.txt")
    }

    private static let story = [
        #"{"op":"deliver","id":"slow","at":0,"device":"d","payload":{"k":"1"},"script":{"takes_ms":9500}}"#,
        #"{"op":"deliver","id":"wrong","at":0,"payload":{"k":"2"},"script":{"takes_ms":10,"exit":3}}"#,
        #"{"op":"deliver","id":"sale","at":20,"external_id":"u","payload":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#,
        #"{"op":"interact","kind":"opened","at":2500,"message":3}"#,
    ]
    private static let expectations = [
        #"{"id":"slow","outcome":"timed_out","n":0,"seq":1,"provider":null,"queue_ms":0,"exec_ms":9000,"at":9000}"#,
        #"{"completion":{"by":"default","times":1,"result":"noData","options":[]},"observer":false}"#,
        #"{"none":{"outcome":"unrouted","route":"x"}}"#, #"{"count":{"callback":"onMessageReceived"},"is":3}"#,
        #"{"event":{"event_type":"Open","time":2,"campaign_id":"c","button_string":null}}"#,
        #"{"invocations":[{"outcome":"failed"}],"of":"wrong"}"#, #"{"pending":0}"#,
    ]

    @Test("with other expectations fail as Fixtures/scenarios/failures.txt has it")
    func failures() {
        var found: [String] = []
        let values = [
            "null", "true", "0", "1", "2", "-1", "1.5", #""""#, #""x""#, #""failed""#, #""wrong""#, "[]", "[{}]", "{}",
            #"{"not":"x"}"#, #"{"at_least":1}"#, #""1970-01-01T00:00:09Z""#, #"{"by":"handler"}"#,
        ].map { ($0, $0) }
        for expectation in Self.expectations {
            found += ProbedJSON.table(expectation, probes: values) { text in
                do throws(ScenarioError) {
                    let scenario = try Scenario((Self.story + [#"{"expect":\#(text)}"#]).map { Array($0.utf8) })
                    let checks = scenario.run(table: Self.table, tracker: Self.tracker).checks
                    guard let failure = checks.last?.failure else { return "holds" }
                    return ([failure.message] + failure.lines).joined(separator: " / ")
                } catch {
                    return "line \(error.line ?? 0): \(error.message)"
                }
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "scenarios/failures.txt")
    }
}
