import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A session start flushes")
struct FlushTests {
    @Test("the waiting entries, in order of number, after its own event and in the same transaction")
    func order() throws {
        var bench = Bench()
        try bench.submit(.event("first", suite: "group.a"))
        try bench.submit(.attributes(#"{"a":1}"#))
        try bench.submit(.event("second"))
        bench.at(.seconds(60))
        #expect(
            try bench.submit(.session(on: "phone", user: "u1")) == [
                "request 4", "device phone u1", "SessionStart 4", "CustomEvent 4", "CustomEvent 4", "entry 1 flushed",
                "entry 2 flushed", "entry 3 flushed",
            ])
        let events = bench.ledger.events.filter { $0.kind == .customEvent }
        #expect(events.map(\.name) == ["first", "second"])
        #expect(events.map(\.externalUserID) == ["u1", "u1"])
        #expect(events.map(\.time) == [1_700_000_000, 1_700_000_000], "EventTime=saved")
        #expect(events.map(\.seq) == [SequenceNumber(4), SequenceNumber(4)])
        let attribute = try #require(bench.ledger.customData.attributes.first)
        #expect(attribute.owner == .user("u1"))
        #expect(attribute.at == bench.now.wall)
        #expect(bench.ledger.customData[1]?.by == SequenceNumber(4))
    }

    @Test("with the time of the session when EventTime=flushed, from the reload on")
    func eventTime() throws {
        var bench = Bench()
        try bench.submit(.event())
        bench.at(.seconds(60))
        var table = RoutingTable.testing()
        table.customData.eventTime = .flushed
        bench.handle(.reconfigured(table))
        try bench.submit(.session(on: "phone"))
        #expect(bench.ledger.events.last?.time == 1_700_000_060)
    }

    @Test("only when it starts: entries logged in an open or a resumed session wait for the next one (T7)")
    func onlyStarts() throws {
        var bench = Bench()
        try bench.submit(.session(on: "phone"))
        try bench.submit(.event())
        #expect(try bench.submit(.session(on: "phone")) == ["request 3"])
        try bench.submit(.end(on: "phone"))
        bench.at(.seconds(5))
        #expect(try bench.submit(.session(on: "phone")) == ["request 5"])
        try bench.submit(.end(on: "phone"))
        bench.at(.seconds(60))
        bench.clock()
        #expect(try bench.submit(.session(on: "phone")).last == "entry 1 flushed")
    }

    @Test("also by a tap that opens the app (T8), and by another user's start")
    func otherWays() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone", user: "u1"))
        try bench.submit(.event("by tap"))
        let tap = try bench.submit(.open(seq: 1))
        #expect(tap.contains("open 1") && tap.contains("entry 1 flushed"), "\(tap)")
        #expect(bench.ledger.events.first { $0.name == "by tap" }?.externalUserID == "u1")
        try bench.submit(.event("by user"))
        let change = try bench.submit(.session(on: "phone", user: "u2"))
        #expect(change.contains("SessionEnd 4") || change.contains { $0.hasPrefix("SessionEnd") }, "\(change)")
        #expect(bench.ledger.events.last?.name == "by user")
        #expect(bench.ledger.events.last?.externalUserID == "u2")
    }

    @Test("also by a tap on another provider's notification")
    func foreignTap() throws {
        var bench = Bench()
        try bench.submit(.event())
        let payload = JSONDocument(test: Payload.otherIOS).root
        let tap = try bench.submit(.open(.payload(payload), on: "phone", app: "shop", platform: .ios))
        #expect(tap.contains("entry 1 flushed"), "\(tap)")
    }

    @Test("the entries of its user and those without a user; entries of another user keep waiting")
    func users() throws {
        var bench = Bench()
        try bench.submit(.event("u1's", user: "u1"))
        try bench.submit(.event("anybody's"))
        try bench.submit(.event("u2's", user: "u2"))
        try bench.submit(.session(on: "phone", user: "u2"))
        #expect(bench.ledger.customData.states == [.pending, .flushed, .flushed])
        try bench.submit(.session(on: "phone", user: "u1"))
        #expect(bench.ledger.customData.states == [.flushed, .flushed, .flushed])
        #expect(bench.ledger.events.compactMap(\.name) == ["anybody's", "u2's", "u1's"])
        #expect(bench.ledger.events.filter { $0.name != nil }.map(\.externalUserID) == ["u2", "u2", "u1"])
    }

    @Test("the entries of its app and device; any session flushes those without a device")
    func places() throws {
        var bench = Bench()
        try bench.submit(.event("here"))
        try bench.submit(.event("other app", app: "news"))
        try bench.submit(.event("other device", on: "tablet"))
        try bench.submit(.event("no device", on: nil))
        try bench.submit(.event("no app", app: nil))
        try bench.submit(.session(on: "phone"))
        #expect(bench.ledger.events.compactMap(\.name) == ["here", "no device", "no app"])
    }

    @Test("a session start without a device flushes no custom data")
    func withoutDevice() throws {
        var bench = Bench()
        try bench.submit(.event(on: nil))
        #expect(try bench.submit(.session(on: nil)) == ["request 2"])
    }

    @Test("each entry once, whenever the daemon dies")
    func crash() throws {
        var bench = Bench()
        for name in ["a", "b"] { try bench.submit(.event(name)) }
        bench.crash()
        #expect(bench.router.customDataSummary.pending == 2)
        try bench.submit(.session(on: "phone", user: "u1"))
        bench.crash()
        try bench.submit(.session(on: "phone", user: "u2"))
        #expect(bench.ledger.events.compactMap(\.name) == ["a", "b"])
        #expect(try bench.submit(.event("c")).last == "entry 3 pending", "numbers go on")
        #expect(bench.ledger.violations == [])
    }

    @Test("a large number of entries in parts, even if the daemon dies between two", arguments: [false, true])
    func slices(dies: Bool) throws {
        var bench = Bench()
        for number in 1...600 { try bench.submit(.event("e\(number)")) }
        bench.at(.seconds(60))
        try bench.submit(.session(on: "phone", user: "u1"))
        #expect(bench.router.hasWorkLeft)
        #expect(bench.ledger.customData.states.count { $0 == .flushed } == 256)
        // A request between two parts: its entry is not this session's, and the rest of the flush is not the next
        // session's.
        try bench.submit(.event("later"))
        try bench.submit(.session(on: "phone", user: "u2"))
        bench.at(.seconds(61))
        while bench.router.hasWorkLeft {
            if dies { bench.crash() }
            bench.clock()
        }
        let events = bench.ledger.events.filter { $0.kind == .customEvent }
        #expect(events.map(\.name) == (1...600).map { "e\($0)" } + ["later"])
        #expect(events.map(\.externalUserID) == (1...601).map { $0 <= 600 ? "u1" : "u2" })
        #expect(events.map(\.seq.value) == (1...601).map { $0 <= 600 ? 601 : 603 })
        #expect(bench.ledger.violations == [])
        bench.crash()
        #expect(!bench.router.hasWorkLeft)
    }

    @Test(
        "custom events with any name without a change to the figures of a push (T13)",
        arguments: [
            "push_notification_opened", "users.messages.pushnotification.Open", "Push Open", "opened",
            "users.messages.pushnotification.InfluencedOpen",
        ])
    func nativeFigures(name: String) throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone", user: "u1"))
        bench.at(.seconds(7200))
        try bench.submit(.event(name, #"{"campaign_id":"summer","message_id":"m1"}"#))
        try bench.submit(.session(on: "phone", user: "u1"))
        bench.at(.seconds(7300))
        bench.clock()
        #expect(bench.ledger.events.map(\.kind) == [.received, .sessionStart, .customEvent])
        let event = try #require(bench.ledger.events.last)
        #expect(event.push == nil)
        #expect(event.delivery != SequenceNumber(1))
        #expect(try bench.submit(.open(seq: 1)).contains("open 1"), "its open is still to come")
    }
}

extension Request {
    /// The end of a session.
    fileprivate static func end(on device: String) -> Request {
        Request(
            action: .session(SessionRequest(target: Target(app: "shop", device: device), kind: .end)), id: nil,
            at: nil, waitsForOutcome: false, document: JSONDocument(test: "{}"))
    }
}
