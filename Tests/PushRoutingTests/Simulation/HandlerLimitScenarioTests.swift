import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Scenarios of queues and breakers")
struct HandlerLimitScenarioTests {
    private func check(_ lines: [String], _ handler: Handler, fallback: Bool = true) throws -> [String] {
        let routes: [Route] = [.key("k", to: handler.name)] + (fallback ? [.all(to: "log")] : [])
        let table = RoutingTable.testing(
            routes: routes, handlers: [handler, Handler(name: "log", kind: .journal)])
        let scenario = try Scenario(lines.map { Array($0.utf8) })
        try scenario.checkNames(against: table)
        let tracker = Tracker(stateID: UUID128(high: 0, low: 0), rules: table.tracking)
        return scenario.run(table: table, tracker: tracker).checks.compactMap { check in
            check.failure.map { "line \(check.line): \($0.message) \($0.lines)" }
        }
    }

    private func deliver(_ id: String, at time: Int, takes: Int = 0) -> String {
        #"{"op":"deliver","id":"\#(id)","at":\#(time),"payload":{"k":"1"},"script":{"takes_ms":\#(takes)}}"#
    }

    @Test(
        "a full queue refuses with overloaded and a retry time; an invocation that waits there too long is queue_full")
    func queue() throws {
        var crm = Handler.exec("crm")
        (crm.maxConcurrent, crm.queueMax) = (1, 1)
        let failures = try check(
            [
                deliver("a", at: 0, takes: 9500), deliver("b", at: 5), deliver("c", at: 7),
                #"{"expect":{"error":{"code":"overloaded","message":"(Queue=)"}}}"#,
                deliver("d", at: 9001),
                #"{"expect":{"id":"a","outcome":"timed_out"}}"#,
                #"{"expect":{"id":"b","outcome":"handled","queue_ms":8995}}"#,
                #"{"expect":{"id":"d","outcome":"handled"}}"#,
                #"{"expect":{"none":{"id":"b","reason_code":"queue_full"}}}"#,
                deliver("e", at: 20_000, takes: 9500), deliver("f", at: 20_000),
                #"{"expect":{"id":"f","outcome":"expired","reason_code":"queue_full"}}"#,
            ], crm)
        #expect(failures == [])
    }

    @Test("a breaker opens, its callbacks go to another route, a probe closes it; a scenario sees each change")
    func breaker() throws {
        var crm = Handler.exec("crm")
        crm.breaker = BreakerRules(failures: 2, window: .seconds(30), pause: .seconds(10))
        let lines = [
            #"{"scenario":"the breaker","mode":"relay"}"#, deliver("a", at: 0, takes: 9500),
            deliver("b", at: 1000, takes: 9500),
            #"{"at":9999,"expect":{"none":{"breaker":{}}}}"#,
            #"{"at":10000,"expect":{"breaker":{"handler":"crm","state":"open","at":10000}}}"#,
            deliver("c", at: 12_000), deliver("d", at: 20_000, takes: 100), deliver("e", at: 20_050),
            #"{"expect":{"id":"c","outcome":"handled","handler":"log"}}"#,
            #"{"expect":{"id":"d","outcome":"handled","handler":"crm"}}"#,
            #"{"expect":{"id":"e","outcome":"handled","handler":"log","reason":"not asked"}}"#,
            #"{"expect":{"count":{"breaker":{"state":"closed"}},"is":1}}"#,
        ]
        #expect(try check(lines, crm) == [])
        let failed = [
            lines[0], lines[1], lines[2], deliver("c", at: 12_000),
            #"{"expect":{"id":"c","outcome":"failed","reason_code":"breaker_open","route":"k-crm","handler":"crm"}}"#,
        ]
        #expect(try check(failed, crm, fallback: false) == [])
    }

    @Test("the name of an unknown handler is an error, also in expectations about breakers")
    func mistakes() throws {
        let lines = [deliver("a", at: 0), #"{"expect":{"breaker":{"handler":"cmr"}}}"#]
        #expect(throws: ScenarioError.self) { try check(lines, .exec("crm")) }
        #expect(throws: ScenarioError.self) { try check([lines[0], #"{"expect":{"breaker":{"n":1}}}"#], .exec("crm")) }
    }

    @Test("an explanation describes the effect of an open breaker, in relay mode")
    func explanation() throws {
        var crm = Handler.exec("crm")
        crm.breaker = BreakerRules(failures: 2, window: .seconds(30), pause: .seconds(10))
        func explain(_ mode: DispatchMode, fallback: Bool) throws -> Explanation {
            let routes: [Route] = [.key("k", to: "crm")] + (fallback ? [.all(to: "log")] : [])
            return try Explanation(
                DeliverRequest(payload: JSONDocument(test: #"{"k":"v"}"#).root), platform: .android,
                table: .testing(mode, routes: routes, handlers: [crm, Handler(name: "log", kind: .journal)]))
        }
        let explanation = try explain(.relay, fallback: true)
        #expect(explanation.text.contains("while the breaker of crm is open, route all-log has it"))
        let breaker = try JSONDocument(scanning: explanation.json).root["invocations"]?.elements.first?["breaker"]
        #expect(breaker?["failures"]?.int64 == 2 && breaker?["pause_ms"]?.int64 == 10_000)
        #expect(breaker?["route_while_open"]?.string == "all-log")
        #expect(try explain(.relay, fallback: false).text.contains("it ends as failed"))
        #expect(try !explain(.device, fallback: true).text.contains("breaker"))
    }
}
