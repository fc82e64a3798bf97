import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Handlers that decline")
struct DeclinedTests {
    @Test("are named with their times in the reason of the outcome")
    func reason() throws {
        var table = RoutingTable.testing()
        table.handlers["other"] = Handler(name: "other", kind: .exec(.init(arguments: ["/bin/true"])))
        table.routes.append(Route(name: "z", match: RouteMatch(), handler: "other"))
        var bench = Bench(table)
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.milliseconds(30))
        bench.finished(1, 0, .declined)
        bench.at(.milliseconds(35))
        bench.started(1)
        bench.at(.milliseconds(50))
        bench.finished(1)
        let end = bench.ends[InvocationID(seq: SequenceNumber(1), n: 0)]
        #expect(end?.result.outcome == .handled)
        #expect(end?.result.reason == "crm declined after 30 ms")
        #expect(end?.invocation.handler == "other")
    }

    @Test("have their time counted as running time, and not as waiting time of the built-in handler after them")
    func times() throws {
        var table = RoutingTable.testing()
        table.handlers["log"] = Handler(name: "log", kind: .journal)
        table.routes.append(Route(name: "z", match: RouteMatch(), handler: "log"))
        var bench = Bench(table)
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.milliseconds(30))
        bench.finished(1, 0, .declined)
        let result = bench.ends[InvocationID(seq: SequenceNumber(1), n: 0)]?.result
        #expect(result?.queue == .zero && result?.exec == .milliseconds(30))
    }

    @Test("are counted when they are too many to name")
    func many() {
        var declined = NamedHandlers()
        #expect(declined.text(and: ", and") == nil)
        for number in 1...300 { declined.append("h\(number) declined") }
        #expect(declined.text(and: ", and")?.hasPrefix("h1 declined, h2 declined") == true)
        #expect(declined.text(and: ", and")?.hasSuffix("h5 declined, and 295 more") == true)
    }
}
