import Testing

@testable import PushModel
@testable import PushRouter

@Suite("After a crash")
struct RecoveryTests {
    @Test("a handler that is not idempotent and may have run fails, and does not run again")
    func crashed() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.at(.seconds(1))
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed"])
        #expect(bench.end(1)?.reason == "daemon_crashed")
        #expect(bench.end(1)?.total == .seconds(1))
    }

    @Test("a handler that may have run on the former leader fails with that reason; the next one has its term")
    func leaderLost() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.at(.seconds(1))
        bench.term = 2
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed"])
        #expect(bench.end(1)?.reason == "leader_lost" && bench.end(1)?.reasonCode == .leaderLost)
        #expect(bench.end(1)?.queue == .zero, "nobody saw when it began")
        try bench.submit(.deliver())
        #expect(bench.runs[InvocationID(seq: SequenceNumber(2), n: 0)]?.epoch == 2)
    }

    @Test("an idempotent handler runs again, within the rest of its time")
    func idempotent() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(8))
        #expect(bench.crash() == ["start 1.0 crm"])
        #expect(bench.nextDue == .seconds(9))
        bench.started(1)
        bench.at(.nanoseconds(8_999_999_999))
        bench.finished(1)
        #expect(bench.outcome(1) == .handled)
        #expect(bench.end(1)?.queue == .seconds(8))
    }

    @Test("a handler that asked for a retry runs again, within the rest of its time")
    func retrying() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .retry(after: .seconds(3)))
        bench.at(.seconds(1))
        #expect(bench.crash() == ["update 1.0 started", "start 1.0 crm"])
        #expect(bench.nextDue == .seconds(9))
    }

    @Test("a handler that declined does not run again; the next route continues")
    func declined() throws {
        let table = RoutingTable.testing(
            routes: [.all(to: "a"), .all(to: "b")], handlers: [.exec("a"), .exec("b", idempotent: true)], places: 1)
        var bench = Bench(table)
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.finished(1, 0, .declined) == ["update 2.0 started", "start 2.0 a", "update 1.0"])
        #expect(bench.crash() == ["update 2.0 failed", "end 2.0 failed", "start 1.0 b"])
    }

    @Test("an invocation that waited for a place runs within the rest of its time")
    func ready() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        bench.at(.seconds(5))
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed", "update 2.0 started", "start 2.0 crm"])
        #expect(bench.nextDue == .seconds(9))
    }

    @Test("an invocation without time left expires, also at the very instant of its deadline")
    func daemonDown() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver())
        bench.at(.seconds(9))
        #expect(bench.crash() == ["update 1.0 expired", "end 1.0 expired"])
        #expect(bench.end(1)?.reason == "daemon_down")
    }

    @Test("a reason keeps its code whatever remark follows, also for an iOS callback without a completion")
    func daemonDownWithRemark() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver(#"{"aps":{"content-available":1}}"#, platform: .ios))
        bench.at(.seconds(9))
        bench.crash()
        #expect(bench.end(1)?.reasonCode == .daemonDown)
        #expect(bench.end(1)?.reason?.hasPrefix("daemon_down; ") == true)
    }

    @Test("after another boot no time is left, and durations use the wall clock")
    func otherBoot() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver())
        bench.at(.seconds(2))
        #expect(bench.crash(sameBoot: false) == ["update 1.0 expired", "end 1.0 expired"])
        #expect(bench.end(1)?.reason == "daemon_down")
        #expect(bench.end(1)?.total == .seconds(2))
    }

    @Test("a Braze payload that waited in its lane is handed over, after any boot", arguments: [true, false])
    func braze(sameBoot: Bool) throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(Payload.braze(), to: "phone", at: WallTime(milliseconds: 1_600_000_000_000)))
        bench.at(.seconds(60))
        let effects = bench.crash(sameBoot: sameBoot)
        #expect(effects.suffix(3) == ["received 2", "update 2.0 handed_to_tracker", "end 2.0 handed_to_tracker"])
        #expect(bench.ledger.events.map(\.time) == [1_600_000_000])
        #expect(bench.end(2)?.queue == .seconds(60))
    }

    @Test("in device mode a lane continues in order, and each delivery has its full time")
    func lane() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        for _ in 1...3 { try bench.submit(.deliver(to: "phone")) }
        bench.at(.seconds(3))
        #expect(bench.crash() == ["start 1.0 crm"])
        bench.started(1)
        bench.at(.seconds(9))
        #expect(
            bench.clock() == ["stop 1.0", "update 1.0 timed_out", "end 1.0 timed_out", "update 2.0", "start 2.0 crm"])
        #expect(bench.nextDue == .seconds(18))
    }

    @Test("in relay mode a delivery that waited in its lane has the rest of its time since acceptance")
    func relayLane() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(1))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(5))
        #expect(bench.crash().last == "start 2.0 crm")
        #expect(bench.nextDue == .seconds(10))
    }

    @Test("recovery restores only the invocations without an outcome")
    func someInvocations() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver(Payload.otherIOS, platform: .ios, state: .foreground))
        bench.started(1, 0)
        bench.finished(1, 0)
        #expect(bench.crash() == ["start 1.1 crm"])
        #expect(bench.router.requestsInFlight == 1)
    }

    @Test("the handling of a tap continues with its payload")
    func interaction() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        let payload = JSONDocument(test: Payload.otherIOS).root
        try bench.submit(.open(.payload(payload), platform: .ios))
        #expect(bench.crash() == ["start 1.0 crm"])
        #expect(bench.runs[.init(1)]?.subject.payload?.rawBytes == payload.rawBytes)
    }

    @Test("a request whose line cannot be read any more is routed by its row in the ledger")
    func unreadable() throws {
        let braze = RouteMatch(providers: ["braze"])
        let table = RoutingTable.testing(
            routes: [Route(name: "b", match: braze, handler: "crm"), .key("k", to: "crm")],
            handlers: [.exec("crm", idempotent: true)])
        var bench = Bench(table)
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(Payload.braze(), to: "phone"))
        let unfinished = bench.ledger.unfinished.map {
            UnfinishedRequest(accepted: $0.accepted, invocations: $0.invocations, request: nil)
        }
        var router = Router(boot: bench.boot, table: table, tracker: bench.router.memory.tracker)
        var effects = Effects()
        router.recover(unfinished, at: bench.now, effects: &effects)
        #expect(
            effects.takeOutput().map(\.text) == [
                "update 1.0 unrouted", "end 1.0 unrouted", "update 2.0 handed_to_tracker", "end 2.0 handed_to_tracker",
            ])
    }

    @Test("numbers continue after the highest acknowledged one")
    func numbers() throws {
        var bench = Bench()
        for _ in 1...3 { try bench.submit(.deliver(Payload.braze())) }
        bench.crash()
        #expect(bench.router.lastNumber == SequenceNumber(3))
        #expect(try bench.submit(.deliver()).first == "request 4")
    }
}
