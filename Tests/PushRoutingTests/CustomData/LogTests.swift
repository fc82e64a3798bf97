import Testing

@testable import PushModel
@testable import PushRouter

@Suite("An entry that an app logs")
struct LogTests {
    @Test("is stored in the transaction that accepts it, without an invocation")
    func kept() throws {
        var bench = Bench()
        #expect(try bench.submit(.event()) == ["request 1", "device phone anonymous", "entry 1 pending"])
        let row = try #require(bench.ledger.customData[1])
        #expect(row.entry.cause == SequenceNumber(1))
        #expect(row.entry.destination == .stored(suite: "standard"))
        #expect(row.entry.name == "bought")
        #expect(bench.router.requestsInFlight == 0)
        #expect(bench.rejections.isEmpty)
        #expect(bench.router.customDataSummary.pending == 1)
    }

    @Test("goes into its suite, or at once to the profile that it names")
    func ways() throws {
        var bench = Bench()
        try bench.submit(.event(suite: "group.a"))
        #expect(bench.ledger.customData[1]?.entry.destination == .stored(suite: "group.a"))
        #expect(try bench.submit(.event(brazeID: "b1")).last == "entry 2 queued")
        #expect(bench.ledger.customData[2]?.entry.destination == .sent(.brazeID("b1")))
        #expect(try bench.submit(.event(suite: "group.a", brazeID: "b1")).last == "entry 3 pending")
        #expect(bench.ledger.customData[3]?.entry.destination == .stored(suite: "group.a", brazeID: "b1"))
    }

    @Test("keeps its own time, up to the clock's")
    func time() throws {
        var bench = Bench()
        let now = bench.now.wall
        for at in [WallTime(milliseconds: 1_600_000_000_123), nil, WallTime(milliseconds: 9_000_000_000_000)] {
            try bench.submit(.event(at: at))
        }
        let entries = [1, 2, 3].compactMap { bench.ledger.customData[$0]?.entry }
        #expect(entries.map(\.time) == [WallTime(milliseconds: 1_600_000_000_123), now, now])
        #expect(entries.map(\.savedAt) == [now, now, now])
    }

    @Test("names a user only if it says so; the last known user of the device stays")
    func user() throws {
        var bench = Bench()
        try bench.submit(.session(on: "phone", user: "u1"))
        #expect(try bench.submit(.event()) == ["request 2", "entry 1 pending"])
        #expect(bench.ledger.customData[1]?.entry.externalID == nil)
        #expect(bench.ledger.requests[SequenceNumber(2)]?.accepted.externalID == nil)
        #expect(bench.ledger.devices.values.map(\.externalID) == ["u1"])
        #expect(try bench.submit(.event(user: "u2")) == ["request 3", "device phone u2", "entry 2 pending"])
    }

    @Test("is accepted with wrong data: the wrong parts are rejected, and the reply says so")
    func rejected() throws {
        var bench = Bench()
        #expect(
            try bench.submit(.event("bought", #"{"time":1}"#)) == [
                "request 1", "device phone anonymous", "entry 1 rejected",
            ])
        #expect(bench.rejections.map(\.number) == [EntryNumber(1)])
        #expect(bench.rejections.map(\.problem.field) == ["properties.time"])
        #expect(bench.ledger.customData[1]?.reason?.hasPrefix("properties.time: ") == true)
        #expect(
            try bench.submit(.attributes(#"{"a":1,"braze_id":2}"#)) == [
                "request 2", "entry 2 pending", "entry 3 rejected",
            ])
        #expect(bench.rejections.map(\.number) == [EntryNumber(3)])
        try bench.submit(.event())
        #expect(bench.rejections.isEmpty)
    }

    @Test("is refused without room for it, with the setting's name, and changes nothing")
    func noRoom() throws {
        var table = RoutingTable.testing()
        table.customData.pendingMax = 2
        var bench = Bench(table)
        try bench.submit(.event())
        try bench.submit(.event(brazeID: "b1"))
        #expect(
            throws: Refusal.overloaded(
                message: "2 entries of custom data wait to be flushed or sent, the limit (MaxPending=)",
                retryAfter: .seconds(1))
        ) { try bench.submit(.event()) }
        #expect(bench.router.lastNumber == SequenceNumber(2))
        try bench.submit(.session(on: "phone"))
        #expect(try bench.submit(.event()).last == "entry 3 pending")
    }

    @Test("is refused when it is larger than the room left, with the setting's name; a reload may make room")
    func noRoomForBytes() throws {
        var table = RoutingTable.testing()
        table.customData.pendingSizeMax = 100
        var bench = Bench(table)
        try bench.submit(.event())
        let large = Request.event("bought", #"{"text":"\#(String(repeating: "x", count: 200))"}"#)
        let refusal = #expect(throws: Refusal.self) { try bench.submit(large) }
        guard case .overloaded(let message, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(message.contains("MaxPendingSize="))
        table.customData.pendingSizeMax = 1000
        bench.handle(.reconfigured(table))
        #expect(try bench.submit(large).last == "entry 2 pending")
    }

    @Test("is refused while the daemon stops")
    func draining() {
        var bench = Bench()
        bench.handle(.draining)
        #expect(throws: Refusal.draining) { try bench.submit(.event()) }
    }
}

@Suite("An entry in a handler's answer")
struct HandlerLogTests {
    private func entry(_ object: String, kind: EntryKind = .customEvent, target: Target = Target()) -> LoggedByHandler {
        LoggedByHandler(
            LogRequest(
                target: target, suite: nil, brazeID: nil, kind: kind, object: JSONDocument(test: object).root))
    }

    @Test("is stored in the transaction of the outcome, with the delivery's app and device, without a user")
    func kept() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone", user: "u1"))
        bench.started(1)
        let answer = HandlerAnswer.Content(log: [entry(#"{"name":"shown"}"#), entry(#"{"name":"seen"}"#)])
        #expect(
            bench.finished(1, 0, .handled(answer)) == [
                "entry 1 pending", "entry 2 pending", "update 1.0 handled", "end 1.0 handled",
            ])
        let saved = try #require(bench.ledger.customData[1]?.entry)
        #expect(saved.cause == SequenceNumber(1))
        #expect(saved.app == "shop" && saved.device == "phone")
        #expect(saved.externalID == nil)
        #expect(bench.end(1)?.reason == nil)
    }

    @Test("may name another app, device and user")
    func named() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        bench.started(1)
        let target = Target(app: "news", device: "tablet", externalID: "u2")
        bench.finished(1, 0, .handled(.init(log: [entry(#"{"name":"shown"}"#, target: target)])))
        let saved = try #require(bench.ledger.customData[1]?.entry)
        #expect([saved.app, saved.device, saved.externalID] == ["news", "tablet", "u2"])
    }

    @Test("is rejected when it breaks the rules of the data, and the outcome's reason names only the entries")
    func rejected() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        let answer = HandlerAnswer.Content(log: [entry(#"{"name":"secret","properties":{"event_name":1}}"#)])
        bench.finished(1, 0, .handled(answer))
        #expect(bench.outcome(1) == .handled)
        #expect(bench.end(1)?.reason == "log: entry 1 was rejected; pushctl pending --rejected shows why")
        #expect(bench.rejections.map(\.number) == [EntryNumber(1)], "whoever drives the router is told")
        #expect(bench.ledger.customData.states == [.rejected])
    }

    @Test("is rejected without its data when there is no room: a delivery is never refused for it")
    func noRoom() throws {
        var table = RoutingTable.testing()
        table.customData.pendingMax = 1
        var bench = Bench(table)
        try bench.submit(.event())
        try bench.submit(.deliver())
        bench.started(2)
        bench.finished(2, 0, .handled(.init(log: [entry(#"{"name":"shown","properties":{"a":1}}"#)])))
        #expect(bench.ledger.customData.states == [.pending, .rejected])
        #expect(bench.ledger.customData[2]?.reason?.contains("MaxPending=1") == true)
        #expect((bench.ledger.customData[2]?.entry.data.count ?? 99) < 5)
    }

    @Test("counts once: not in a late answer, and not again after a crash")
    func once() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: true)]))
        let answer = HandlerAnswer.handled(.init(log: [entry(#"{"name":"shown"}"#)]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(9))
        #expect(bench.finished(1, 0, answer) == [])
        bench.clock()
        #expect(bench.ledger.customData.states == [])

        try bench.submit(.deliver())
        #expect(bench.crash().contains("start 2.0 crm"))
        bench.started(2)
        bench.finished(2, 0, answer)
        #expect(bench.crash() == [])
        #expect(bench.ledger.customData.states == [.pending])
        #expect(bench.router.customDataSummary.pending == 1)
    }

    @Test("is also taken from an observer")
    func observer() throws {
        let observer = Route(name: "copy", match: RouteMatch(), handler: "log", observes: true)
        var bench = Bench(
            .testing(routes: [.all(to: "crm"), observer], handlers: [.exec("crm"), .exec("log")]))
        try bench.submit(.deliver())
        bench.started(1, 1)
        bench.finished(1, 1, .handled(.init(log: [entry(#"{"name":"shown"}"#)])))
        #expect(bench.ledger.customData.states == [.pending])
    }
}
