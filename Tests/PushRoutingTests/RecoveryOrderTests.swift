import Testing

@testable import PushModel
@testable import PushRouter

@Suite("After a crash, an invocation that may have run")
struct RecoveryOrderTests {
    @Test(
        "fails however late it is: recovery checks its start before its deadline",
        arguments: [Duration.seconds(1), .seconds(9), .seconds(3600)], [true, false])
    func startedFirst(later: Duration, sameBoot: Bool) throws {
        var bench = Bench()
        #expect(try bench.submit(.deliver()).contains("row 1.0 started"))
        bench.at(later)
        #expect(bench.crash(sameBoot: sameBoot) == ["update 1.0 failed", "end 1.0 failed"])
        #expect(bench.end(1)?.reason == "daemon_crashed")
        #expect(bench.end(1)?.outcome.isMissed == false)
    }

    @Test("fails as an observer's copy too")
    func observer() throws {
        let observer = Route(name: "copy", match: RouteMatch(), handler: "log", observes: true)
        var bench = Bench(.testing(routes: [.all(to: "crm"), observer], handlers: [.exec("crm"), .exec("log")]))
        try bench.submit(.deliver())
        bench.at(.seconds(3600))
        #expect(
            bench.crash(sameBoot: false) == [
                "update 1.0 failed", "end 1.0 failed", "update 1.1 failed", "end 1.1 failed",
            ])
        #expect(bench.end(1, 1)?.reason == "daemon_crashed")
    }
}
