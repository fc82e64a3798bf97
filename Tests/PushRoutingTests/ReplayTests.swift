import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A replay", .timeLimit(.minutes(30)))
struct ReplayTests {
    private func failed(_ table: RoutingTable = .testing(.relay)) throws -> Bench {
        var bench = Bench(table)
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .rejected(reason: "down"))
        return bench
    }

    @Test("is a new request with a new deadline that names the replayed one, whose dead letters are gone")
    func replays() throws {
        var bench = try failed()
        bench.at(.seconds(100))
        #expect(try bench.replay(1, uid: 7) == ["request 2", "row 2.0 started", "start 2.0 crm"])
        #expect(bench.ledger.deadLetters == [])
        let accepted = try #require(bench.ledger.requests[SequenceNumber(2)]?.accepted)
        let former = try #require(bench.ledger.requests[SequenceNumber(1)]?.accepted)
        #expect(accepted.replayOf == former.seq && accepted.id == nil && accepted.peer.uid == 7)
        #expect(accepted.body == former.body && accepted.acceptedAt == bench.now)
        #expect(accepted.duplicateID == nil && !accepted.isTracked)
        bench.at(.seconds(108))
        bench.started(2)
        #expect(bench.finished(2) == ["update 2.0 handled", "end 2.0 handled"])
        #expect(throws: Refusal.notReplayable("the request has no dead letter")) { try bench.replay(1) }
    }

    @Test("that fails is a dead letter itself, and is recovered after a crash like any other")
    func failsAgain() throws {
        var bench = try failed()
        try bench.replay(1)
        bench.crash()
        #expect(bench.end(2)?.reasonCode == .daemonCrashed)
        #expect(bench.ledger.deadLetters == [.init(2)])
    }

    @Test("of a dead letter from an earlier boot has nine seconds, and after a crash in this boot the rest of them")
    func otherBoot() throws {
        let table = RoutingTable.testing(.relay, handlers: [.exec("crm", idempotent: true)])
        var bench = try failed(table)
        bench.at(.seconds(2))
        bench.crash(sameBoot: false)
        bench.at(.seconds(5))
        try bench.replay(1)
        #expect(bench.nextDue == .seconds(14))
        #expect(bench.ledger.requests[SequenceNumber(2)]?.accepted.boot == bench.boot)
        bench.started(2)
        bench.at(.seconds(13))
        #expect(bench.crash() == ["start 2.0 crm"])
        #expect(bench.nextDue == .seconds(14))
        bench.started(2)
        #expect(bench.finished(2) == ["update 2.0 handled", "end 2.0 handled"])
    }

    @Test("runs only the dead letters, and the copies of observers as copies")
    func observers() throws {
        let copy = Route(name: "copy", match: RouteMatch(), handler: "observer", observes: true)
        var bench = Bench(
            .testing(.relay, routes: [.all(to: "crm"), copy], handlers: [.exec("crm"), .exec("observer")]))
        try bench.submit(.deliver())
        for n in 0...1 { bench.started(1, n) }
        bench.finished(1, 0)
        bench.finished(1, 1, .rejected(reason: "down"))
        try bench.replay(1)
        #expect(bench.runs[.init(2)]?.handler.name == "observer")
        #expect(bench.row(2)?.isObserver == true && bench.row(2, 1) == nil)
    }

    @Test("never passes an invocation to the tracker")
    func tracker() throws {
        var bench = try failed()
        let tracked = bench.ledger.events.count
        try bench.replay(1)
        bench.started(2)
        bench.finished(2)
        #expect(bench.ledger.events.count == tracked)
    }

    @Test("is refused in device mode, and while the daemon stops")
    func refused() throws {
        var bench = try failed()
        bench.handle(.draining)
        #expect(throws: Refusal.draining) { try bench.replay(1) }
        bench = try failed()
        bench.handle(.reconfigured(.testing(.device)))
        #expect(
            throws: Refusal.notReplayable("a replay needs Mode=relay, for the request and for the daemon")
        ) { try bench.replay(1) }
        #expect(bench.ledger.deadLetters == [.init(1)])
    }
}
