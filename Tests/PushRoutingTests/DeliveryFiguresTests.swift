import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The figures that the router counts for metrics")
struct DeliveryFiguresTests {
    private func handler(_ name: String, of bench: Bench) throws -> DeliveryFigures.Handler {
        try #require(bench.router.figures.handlers.entries.first { $0.name == name }).value
    }

    @Test("count each outcome once: in all, by handler and by provider, with the times of due invocations")
    func outcomes() throws {
        var bench = Bench(.testing(.relay))
        for seq in 1...3 as ClosedRange<Int64> {
            try bench.submit(.deliver())
            bench.started(seq)
        }
        bench.at(.milliseconds(300))
        bench.finished(1)
        bench.finished(2, 0, .rejected(reason: "no"))
        bench.at(.seconds(9))
        bench.clock()
        let figures = bench.router.figures
        #expect(figures.outcomes[.handled] == 1 && figures.outcomes[.failed] == 1 && figures.outcomes[.timedOut] == 1)
        #expect(Outcome.allCases.reduce(0) { $0 + figures.outcomes[$1] } == 3)
        let crm = try handler("crm", of: bench)
        #expect(crm.outcomes[.handled] == 1 && crm.outcomes[.timedOut] == 1 && crm.startFailures == 0)
        #expect(crm.total.counts == [0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
        #expect(crm.queue.counts.first == 3 && crm.exec.counts == crm.total.counts)
        #expect(crm.total.sum == .milliseconds(9600))
        #expect(figures.providers.entries.map(\.name) == ["(none)"])
        #expect(figures.providers.entries[0].value[.handled] == 1)
    }

    @Test("have a place for each outcome")
    func places() {
        #expect(Outcome.allCases.map(\.place).sorted() == Array(Outcome.allCases.indices))
    }

    @Test("count an outcome without a handler, and without a time")
    func atOnce() throws {
        var bench = Bench(.testing(routes: []))
        try bench.submit(.deliver())
        #expect(bench.router.figures.outcomes[.unrouted] == 1)
        #expect(bench.router.figures.handlers.entries.isEmpty)
    }

    @Test("count a failed start without an execution")
    func startFailures() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.handle(.failedToStart(InvocationID(1, 0), reason: "no such program"))
        let crm = try handler("crm", of: bench)
        #expect(crm.startFailures == 1 && crm.outcomes[.failed] == 1 && crm.unhandled == [.notStarted: 1])
        #expect(crm.exec.counts.allSatisfy { $0 == 0 } && crm.total.counts.first == 1)
    }

    @Test("the router's counts for metrics continue after a reload")
    func reload() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.milliseconds(300))
        bench.finished(1)
        bench.handle(.reconfigured(.testing(.relay)))
        #expect(bench.router.figures.outcomes[.handled] == 1)
        let crm = try handler("crm", of: bench)
        #expect(crm.outcomes[.handled] == 1 && crm.total.sum == .milliseconds(300))
        #expect(bench.router.figures.providers.entries.map(\.value[.handled]) == [1])
    }

    @Test("list each handler of a route before its first delivery, and the handlers of a reload")
    func expected() {
        var bench = Bench()
        #expect(bench.router.figures.handlers.entries.map(\.name) == ["crm"])
        bench.handle(.reconfigured(.testing(routes: [.all(to: "other")], handlers: [.exec("other")])))
        #expect(bench.router.figures.handlers.entries.map(\.name) == ["crm", "other"])
    }

    @Test("separate the copies of observing routes")
    func observers() throws {
        var observing = Route.all(to: "watcher")
        observing.observes = true
        var bench = Bench(.testing(routes: [observing, .all(to: "crm")], handlers: [.exec("watcher"), .exec("crm")]))
        try bench.submit(.deliver())
        for n in 0...1 { bench.started(1, n) }
        for n in 0...1 { bench.finished(1, n) }
        let figures = bench.router.figures
        #expect(figures.outcomes[.handled] == 1 && figures.observed[.handled] == 1)
        #expect(try handler("watcher", of: bench).outcomes[.handled] == 1)
    }
}
