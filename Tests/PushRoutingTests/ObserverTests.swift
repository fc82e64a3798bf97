import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Observers")
struct ObserverTests {
    private static func table(places: Int = 64, observers: Int = 2) -> RoutingTable {
        .testing(
            routes: [
                Route(name: "10-watch", match: RouteMatch(), handler: "watch", budget: .seconds(3), observes: true),
                .all(to: "crm"),
            ],
            handlers: [.exec("crm"), .exec("watch")], places: places, observers: observers)
    }

    @Test("an observer gets a copy beside the owner, with its own deadline")
    func copy() throws {
        var bench = Bench(Self.table())
        let effects = try bench.submit(.deliver(to: "phone"))
        #expect(effects.contains("start 1.0 crm") && effects.contains("start 1.1 watch"), "\(effects)")
        #expect(bench.row(1, 0)?.isObserver == false)
        #expect(bench.row(1, 1)?.isObserver == true)
        #expect(bench.row(1, 1)?.budget == .seconds(3))
        bench.started(1, 0)
        bench.started(1, 1)
        bench.at(.seconds(3))
        bench.clock()
        #expect(bench.outcome(1, 1) == .timedOut)
        #expect(bench.outcome(1, 0) == nil)
        bench.finished(1, 0)
        #expect(bench.outcome(1, 0) == .handled)
    }

    @Test("an observer gets a copy of Braze's payloads too")
    func braze() throws {
        var bench = Bench(Self.table())
        let effects = try bench.submit(.deliver(Payload.braze()))
        #expect(effects.contains("end 1.0 handed_to_tracker") && effects.contains("start 1.1 watch"), "\(effects)")
    }

    @Test("an observer completes nothing: the callback is its owner's")
    func completion() throws {
        var bench = Bench(Self.table())
        for seq: Int64 in 1...2 {
            try bench.submit(.deliver(Payload.brazeIOS(contentAvailable: true), platform: .ios))
            bench.started(seq, 1)
        }
        bench.finished(1, 1, .handled(.init(result: .newData, times: 2)))
        bench.at(.seconds(3))
        bench.clock()
        for seq: Int64 in 1...2 { #expect(bench.end(seq, 0)?.completion?.by == .tracker) }
        #expect(bench.outcome(1, 1) == .handled && bench.outcome(2, 1) == .timedOut)
        #expect(bench.end(1, 1)?.completion == nil && bench.end(2, 1)?.completion == nil)
        #expect(bench.end(1, 1)?.reason == "watch answered 2 times; only the first answer counts")
        #expect(bench.end(2, 1)?.reason == "not finished at the deadline")
    }

    @Test("a delivery without code of the app has no copy")
    func nothing() throws {
        var bench = Bench(Self.table())
        let effects = try bench.submit(.deliver(state: .forceStopped))
        #expect(effects == ["request 1", "row 1.0 not_woken", "end 1.0 not_woken"])
    }

    @Test(
        "an observer gets a copy of a message that the system shows if the app has a receiver beside its service",
        arguments: [("shop", true), ("bank", false)])
    func receiverBeside(_ app: String, _ hasCopy: Bool) throws {
        var table = Self.table()
        table.interaction.receiverApps = [Glob("sho*")]
        var bench = Bench(table)
        let shown = try bench.submit(.deliver(#"{"notification":{"title":"x"},"data":{"k":"v"}}"#, app: app))
        #expect(shown.contains("end 1.0 shown_by_system"), "\(shown)")
        #expect(shown.contains("start 1.1 watch") == hasCopy, "\(shown)")
        #expect(bench.row(1, 1)?.callback == (hasCopy ? .onMessageReceived : nil))
        let stopped = try bench.submit(.deliver(app: app, state: .forceStopped))
        #expect(!stopped.contains { $0.hasPrefix("start") }, "\(stopped)")
    }

    @Test("an observer waits for no lane and holds up none")
    func lane() throws {
        var bench = Bench(Self.table())
        try bench.submit(.deliver(to: "phone"))
        let second = try bench.submit(.deliver(to: "phone"))
        #expect(second.contains("start 2.1 watch"), "\(second)")
        bench.started(1, 0)
        #expect(bench.finished(1, 0).last == "start 2.0 crm")
    }

    @Test("observers have places of their own, and hold up no owner")
    func places() throws {
        var bench = Bench(Self.table(places: 2, observers: 1))
        try bench.submit(.deliver())
        let second = try bench.submit(.deliver())
        #expect(second.filter { $0.hasPrefix("start") } == ["start 2.0 crm"], "\(second)")
        let third = try bench.submit(.deliver())
        #expect(!third.contains { $0.hasPrefix("start") }, "\(third)")
        bench.started(1, 1)
        #expect(bench.finished(1, 1).contains("start 2.1 watch"))
    }

    @Test("the status of a handler separates running and waiting copies for observers")
    func status() throws {
        var bench = Bench(Self.table(observers: 1))
        for _ in 1...3 { try bench.submit(.deliver()) }
        func handler(_ name: String) -> HandlerStatus? {
            bench.router.handlers(at: bench.now.monotonic).first { $0.name == name }
        }
        let (watch, crm) = (handler("watch"), handler("crm"))
        #expect(watch?.running == 1 && watch?.observersRunning == 1)
        #expect(watch?.waiting == 2 && watch?.observersWaiting == 2)
        #expect(crm?.running == 3 && crm?.observersRunning == 0)
        #expect(crm?.waiting == 0 && crm?.observersWaiting == 0)
        bench.started(1, 1)
        bench.finished(1, 1)
        #expect(handler("watch")?.observersRunning == 1 && handler("watch")?.observersWaiting == 1)
    }

    @Test("an observer that declines ends its copy")
    func declined() throws {
        var bench = Bench(Self.table())
        try bench.submit(.deliver())
        bench.finished(1, 1, .declined)
        #expect(bench.outcome(1, 1) == .unrouted)
        #expect(bench.outcome(1, 0) == nil)
    }

    @Test("after a crash a copy stays a copy, unless its route is gone")
    func crash() throws {
        var bench = Bench(Self.table(observers: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        #expect(bench.crash().contains("start 2.1 watch"))
        #expect(bench.outcome(1, 1) == .failed)
        try bench.submit(.deliver())
        _ = bench.crashRaw(sameBoot: true, table: .testing())
        #expect(bench.outcome(3, 1) == .unrouted)
        #expect(bench.end(3, 1)?.reason == "its route was removed from the configuration")
    }
}
