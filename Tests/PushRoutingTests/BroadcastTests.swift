import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Broadcasts to every SDK")
struct BroadcastTests {
    private static let table = RoutingTable.testing(
        routes: [.all(to: "crm"), .key("absent", to: "crm"), .all(to: "news", budget: .seconds(2))],
        handlers: [.exec("crm"), .exec("news")])

    @Test(
        "deleted messages go to every matching route, one after the other, each with its own deadline and outcome")
    func deletedMessages() throws {
        var bench = Bench(Self.table)
        #expect(try bench.submit(.deliver(Payload.deletedMessages, to: "phone")).last == "start 1.0 crm")
        #expect(bench.row(1, 0)?.callback == .onDeletedMessages)
        bench.started(1, 0)
        #expect(bench.finished(1, 0).last == "start 1.1 news")
        #expect(bench.row(1, 1)?.budget == .seconds(2))
        bench.started(1, 1)
        bench.at(.seconds(2))
        bench.clock()
        #expect(bench.outcome(1, 0) == .handled)
        #expect(bench.outcome(1, 1) == .timedOut)
    }

    @Test(
        "a token goes to every matching route",
        arguments: [
            (TokenRequest.Kind.new, Platform.android, Callback.onNewToken), (.registered, .android, .onRegistered),
            (.unregistered, .android, .onUnregistered), (.new, .ios, .didRegister), (.registered, .ios, .didRegister),
        ])
    func tokens(kind: TokenRequest.Kind, platform: Platform, callback: Callback) throws {
        var bench = Bench(Self.table)
        let effects = try bench.submit(.token(kind, platform: platform))
        #expect(effects.contains("start 1.0 crm") && effects.contains("start 1.1 news"), "\(effects)")
        #expect(bench.row(1, 0)?.callback == callback)
        #expect(bench.row(1, 1)?.callback == callback)
    }

    @Test(
        "a token that comes as an intent gives the same events as one that a request gives",
        arguments: [
            (TokenRequest.Kind.new, "NEW_TOKEN"), (.registered, "FCM_REGISTERED"), (.unregistered, "FCM_UNREGISTERED"),
        ])
    func tokenIntents(kind: TokenRequest.Kind, action: String) throws {
        var (told, delivered) = (Bench(Self.table), Bench(Self.table))
        try told.submit(.token(kind, to: "phone"))
        let intent = #"{"action":"com.google.firebase.messaging.\#(action)","extras":{"token":"t1"}}"#
        try delivered.submit(.deliver(intent, to: "phone"))
        #expect(delivered.ledger.events == told.ledger.events && !told.ledger.events.isEmpty)
        #expect(delivered.row(1)?.callback == told.row(1)?.callback)
        try delivered.submit(.deliver(intent, to: "phone", state: .forceStopped))
        #expect(delivered.ledger.events == told.ledger.events, "nothing of the app runs")
    }

    @Test("a token for which the platform calls nothing is swallowed", arguments: [Platform.ios, .web])
    func noCallback(platform: Platform) throws {
        var bench = Bench(Self.table)
        #expect(try bench.submit(.token(.unregistered, platform: platform)).last == "end 1.0 swallowed")
        #expect(bench.row(1)?.callback == Callback.none)
    }

    @Test("without a matching route a broadcast is one unrouted invocation")
    func nobody() throws {
        var bench = Bench(.testing(routes: [.key("absent", to: "crm")]))
        #expect(
            try bench.submit(.token()) == [
                "request 1", "TokenStateChange 1", "row 1.0 unrouted", "end 1.0 unrouted",
            ])
    }

    @Test("a handler that declines a broadcast passes it to no other route")
    func declined() throws {
        var bench = Bench(Self.table)
        try bench.submit(.token())
        bench.started(1, 0)
        bench.finished(1, 0, .declined)
        #expect(bench.outcome(1, 0) == .unrouted)
        #expect(bench.row(1, 0)?.handler == "crm")
        #expect(bench.outcome(1, 1) == nil)
    }

    @Test("a broadcast that Braze takes over goes to the other SDKs as well")
    func besideBraze() throws {
        var bench = Bench(Self.table)
        let payload = #"{"extras":{"_ab":"true","message_type":"deleted_messages"}}"#
        let effects = try bench.submit(.deliver(payload))
        #expect(effects.contains("end 1.0 handed_to_tracker"), "\(effects)")
        #expect(effects.contains("start 1.1 crm") && effects.contains("start 1.2 news"), "\(effects)")
    }

    @Test("after a crash each invocation runs by its own route")
    func crash() throws {
        var bench = Bench(Self.table)
        try bench.submit(.deliver(Payload.deletedMessages, to: "phone"))
        #expect(bench.crash() == ["update 1.0 failed", "end 1.0 failed", "update 1.1 started", "start 1.1 news"])
    }

    @Test("a session is accepted for the tracker, and runs no callback")
    func session() throws {
        var bench = Bench(Self.table)
        #expect(
            try bench.submit(.session(on: "phone", user: "u1")) == [
                "request 1", "device phone u1", "SessionStart 1",
            ])
        #expect(bench.router.requestsInFlight == 0)
    }
}
