import PushModel
import Testing

@testable import PushRouting

@Suite("After a crash")
struct RecoveryTests {
    @Test("a handler that is not idempotent and may have run is failed, and not run again")
    func crashed() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.at(.seconds(1))
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed"])
        #expect(bench.end(1)?.reason == "daemon_crashed")
        #expect(bench.end(1)?.total == .seconds(1))
    }

    @Test("a handler that may have run on the machine that led is failed, and says so; the next one has its term")
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

    @Test("an idempotent handler is run again, with what is left of its time")
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

    @Test("a handler that asked to be tried again is, with what is left of its time")
    func retrying() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .retry(after: .seconds(3)))
        bench.at(.seconds(1))
        #expect(bench.crash() == ["update 1.0 started", "start 1.0 crm"])
        #expect(bench.nextDue == .seconds(9))
    }

    @Test("who declined is not asked again; the next route goes on")
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

    @Test("what waited for a place is run with what is left of its time")
    func ready() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        bench.at(.seconds(5))
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed", "update 2.0 started", "start 2.0 crm"])
        #expect(bench.nextDue == .seconds(9))
    }

    @Test("what has nothing left is expired, at the very instant of its deadline too")
    func daemonDown() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver())
        bench.at(.seconds(9))
        #expect(bench.crash() == ["update 1.0 expired", "end 1.0 expired"])
        #expect(bench.end(1)?.reason == "daemon_down")
    }

    @Test("a reason has its code whatever remark follows it: an iOS callback that nobody completed, too")
    func daemonDownWithRemark() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver(#"{"aps":{"content-available":1}}"#, platform: .ios))
        bench.at(.seconds(9))
        bench.crash()
        #expect(bench.end(1)?.reasonCode == .daemonDown)
        #expect(bench.end(1)?.reason?.hasPrefix("daemon_down; ") == true)
    }

    @Test("after another boot no time is left, and durations are by the civil clock")
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

    @Test("in device mode a lane goes on in its order, each with a time of its own")
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

    @Test("in relay mode what waited in its lane has what is left since its acceptance")
    func relayLane() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(1))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(5))
        #expect(bench.crash().last == "start 2.0 crm")
        #expect(bench.nextDue == .seconds(10))
    }

    @Test("only the invocations without an outcome are taken up")
    func someInvocations() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        try bench.submit(.deliver(Payload.otherIOS, platform: .ios, state: .foreground))
        bench.started(1, 0)
        bench.finished(1, 0)
        #expect(bench.crash() == ["start 1.1 crm"])
        #expect(bench.router.requestsInFlight == 1)
    }

    @Test("a tap that was being handled goes on with its payload")
    func interaction() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        let payload = JSONDocument(test: Payload.otherIOS).root
        try bench.submit(.open(.payload(payload), platform: .ios))
        #expect(bench.crash() == ["start 1.0 crm"])
        #expect(bench.runs[.init(1)]?.subject.payload?.rawBytes == payload.rawBytes)
    }

    @Test("a request line that cannot be read any more is routed by what the ledger says of it")
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

    @Test("numbers go on after the highest that was acknowledged")
    func numbers() throws {
        var bench = Bench()
        for _ in 1...3 { try bench.submit(.deliver(Payload.braze())) }
        bench.crash()
        #expect(bench.router.lastNumber == SequenceNumber(3))
        #expect(try bench.submit(.deliver()).first == "request 4")
    }
}
