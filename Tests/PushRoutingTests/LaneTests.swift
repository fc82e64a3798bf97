import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Lanes")
struct LaneTests {
    @Test("run a device's deliveries one at a time, in order")
    func order() throws {
        var bench = Bench()
        #expect(try bench.submit(.deliver(to: "phone")).last == "start 1.0 crm")
        #expect(try bench.submit(.deliver(to: "phone")) == ["request 2", "row 2.0"])
        #expect(try bench.submit(.deliver(to: "phone")) == ["request 3", "row 3.0"])
        bench.started(1)
        #expect(bench.finished(1) == ["update 1.0 handled", "end 1.0 handled", "update 2.0 started", "start 2.0 crm"])
        bench.started(2)
        #expect(bench.finished(2).last == "start 3.0 crm")
    }

    @Test("record in waited_for the predecessor that took longest")
    func waitedFor() throws {
        var bench = Bench(
            .testing(routes: [.key("other", to: "other"), .all(to: "crm")], handlers: [.exec("crm"), .exec("other")]))
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(#"{"other":"1"}"#, to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(1))
        bench.finished(1)
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(6))
        bench.finished(2)
        bench.at(.seconds(8))
        bench.finished(3)
        bench.finished(4)
        #expect(bench.end(1)?.waitedFor == nil)
        #expect((1...4).map { bench.end($0)?.ahead } == [nil, 1, 2, 2])
        #expect(bench.end(2)?.waitedFor == Predecessor(id: .init(1), handler: "crm", took: .seconds(1)))
        #expect(bench.end(3)?.waitedFor == Predecessor(id: .init(2), handler: "other", took: .seconds(5)))
        #expect(bench.end(4)?.waitedFor == Predecessor(id: .init(2), handler: "other", took: .seconds(5)))
        try bench.submit(.deliver(to: "phone"))
        bench.finished(5)
        #expect(bench.end(5)?.waitedFor == nil)
    }

    @Test("record waited_for for a Braze push, and in relay mode for a delivery that expired")
    func othersWaited() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(Payload.braze(), to: "phone"))
        bench.finished(1)
        #expect(bench.end(2)?.waitedFor == Predecessor(id: .init(1), handler: "crm", took: .zero))
        var relay = Bench(.testing(.relay, routes: [.key("brief", to: "crm", budget: .seconds(1)), .all(to: "crm")]))
        try relay.submit(.deliver(to: "phone"))
        try relay.submit(.deliver(#"{"brief":"1"}"#, to: "phone"))
        relay.at(.seconds(1))
        relay.clock()
        #expect(relay.end(2)?.waitedFor == Predecessor(id: .init(1), handler: "crm", took: .seconds(1)))
    }

    @Test("are reported by length, at most ten, with the waiting count, the head and its age")
    func longest() throws {
        var bench = Bench()
        for device in 1...12 { for _ in 1...(device + 1) { try bench.submit(.deliver(to: "d\(device)")) } }
        try bench.submit(.deliver(to: "alone"))
        bench.at(.seconds(3))
        var lanes = bench.router.lanes(at: bench.now.monotonic)
        #expect(lanes.crowded == 12 && lanes.waiting == 78)
        #expect(lanes.longest.map(\.waiting) == [12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
        #expect(
            lanes.longest.first
                == LaneStatus(
                    device: DeviceKey(app: "shop", device: "d12"), waiting: 12, head: .init(78), handler: "crm",
                    turn: .seconds(3), age: .seconds(3)))
        bench.finished(78)
        bench.at(.seconds(4))
        lanes = bench.router.lanes(at: bench.now.monotonic)
        // Equal lengths are sorted by name.
        #expect(lanes.longest.prefix(2).map(\.device.device) == ["d11", "d12"] && lanes.waiting == 77)
        #expect(lanes.longest[1].head == .init(79) && lanes.longest[1].turn == .seconds(1))
        #expect(lanes.longest[1].age == .seconds(4))
    }

    @Test("do not count a delivery that expired while it waited")
    func expired() throws {
        var relay = Bench(.testing(.relay, routes: [.key("brief", to: "crm", budget: .seconds(1)), .all(to: "crm")]))
        try relay.submit(.deliver(to: "phone"))
        for _ in 1...3 { try relay.submit(.deliver(#"{"brief":"1"}"#, to: "phone")) }
        try relay.submit(.deliver(to: "phone"))
        #expect(relay.router.lanes(at: relay.now.monotonic).waiting == 4)
        relay.at(.seconds(1))
        relay.clock()
        #expect(relay.router.lanes(at: relay.now.monotonic).waiting == 1)
        relay.finished(1)
        #expect(relay.router.lanes(at: relay.now.monotonic) == LanesStatus(crowded: 0, waiting: 0, longest: []))
        relay.finished(5)
    }

    @Test("differ by device and app, and a delivery without a device has none")
    func apart() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        for other: Request in [.deliver(to: "tablet"), .deliver(to: "phone", app: "news"), .deliver(), .deliver()] {
            #expect(try bench.submit(other).last?.hasPrefix("start") == true)
        }
    }

    @Test("do not exist for iOS and the web", arguments: [Platform.ios, .web])
    func noLanes(platform: Platform) throws {
        var bench = Bench()
        for _ in 1...2 {
            let request = Request.deliver(Payload.otherIOS, to: "phone", platform: platform)
            #expect(try bench.submit(request).last?.hasPrefix("start") == true)
        }
    }

    @Test("in device mode hold up a Braze payload and its receipt until its turn")
    func brazeWaits() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        #expect(try bench.submit(.deliver(Payload.braze(), to: "phone")) == ["request 2", "row 2.0"])
        bench.at(.seconds(20))
        #expect(
            bench.clock() == [
                "stop 1.0", "update 1.0 expired", "end 1.0 expired",
                "received 2", "update 2.0 handed_to_tracker", "end 2.0 handed_to_tracker",
            ])
        #expect(bench.end(2)?.queue == .seconds(20))
        #expect(bench.nextDue == nil)
    }

    @Test("in relay mode hand a Braze payload over on acceptance")
    func brazeInRelay() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver(to: "phone"))
        #expect(
            try bench.submit(.deliver(Payload.braze(), to: "phone")) == [
                "request 2", "received 2", "row 2.0 handed_to_tracker", "end 2.0 handed_to_tracker",
            ])
    }

    @Test("in relay mode expire a delivery that waits too long, and continue with the next")
    func expiresInLane() throws {
        var bench = Bench(.testing(.relay, routes: [.key("brief", to: "crm", budget: .seconds(1)), .all(to: "crm")]))
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(#"{"brief":"1"}"#, to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        bench.started(1)
        bench.at(.seconds(1))
        #expect(bench.clock() == ["update 2.0 expired", "end 2.0 expired"])
        #expect(bench.end(2)?.reason == "still waiting in its lane")
        #expect(bench.finished(1).last == "start 3.0 crm")
    }

    @Test("in device mode give a waiting delivery no deadline yet")
    func noDeadlineInLane() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        #expect(bench.row(2)?.deadline == nil)
        #expect(bench.row(2)?.route == nil)
        bench.at(.seconds(5))
        bench.finished(1)
        #expect(bench.row(2)?.deadline == bench.now.monotonic + .seconds(9))
        #expect(bench.row(2)?.route == "all-crm")
    }

    @Test("full of deliveries that take no time are emptied in parts, at once")
    func longLane() throws {
        var bench = Bench(
            .testing(
                routes: [.key("slow", to: "crm"), .all(to: "log")],
                handlers: [
                    .exec("crm"), Handler(name: "log", kind: .journal),
                ]))
        try bench.submit(.deliver(#"{"slow":"1"}"#, to: "phone"))
        for _ in 1...500 { try bench.submit(.deliver(to: "phone")) }
        #expect(bench.router.requestsInFlight == 501)
        var ended = [bench.finished(1).count { $0.hasPrefix("end") }]
        while bench.router.hasWorkLeft { ended.append(bench.clock().count { $0.hasPrefix("end") }) }
        #expect(ended == [129, 128, 128, 116])
        #expect(bench.router.requestsInFlight == 0)
    }

    @Test("pass ended deliveries in parts; later ones wait until the lane is through")
    func deadLane() throws {
        var bench = Bench(
            .testing(
                .relay, routes: [.key("slow", to: "crm"), .all(to: "crm", budget: .milliseconds(100))],
                inFlight: 10_000, inFlightPerPeer: 10_000))
        try bench.submit(.deliver(#"{"slow":"1"}"#, to: "phone"))
        bench.started(1)
        for _ in 1...3000 { try bench.submit(.deliver("{}", to: "phone")) }
        bench.at(.milliseconds(100))
        while let due = bench.nextDue, due <= .milliseconds(100) { bench.clock() }
        #expect(bench.router.requestsInFlight == 1)
        bench.finished(1)
        #expect(bench.router.hasWorkLeft, "2,048 are looked at in one turn")
        #expect(try bench.submit(.deliver("{}", to: "phone")).contains("start 3002.0 crm"))
        #expect(!bench.router.hasWorkLeft)
    }

    @Test("pass deliveries for a handler without a free place in parts, while other places are free")
    func manyWaitForOne() throws {
        var one = Handler.exec("one")
        (one.maxConcurrent, one.queueMax) = (1, 10_000)
        var bench = Bench(
            .testing(
                routes: [.key("slow", to: "crm"), .all(to: "one")], handlers: [.exec("crm"), one], places: 1,
                inFlight: 10_000, inFlightPerPeer: 10_000))
        try bench.submit(.deliver(#"{"slow":"1"}"#))
        for _ in 1...3000 { try bench.submit(.deliver("{}")) }
        bench.started(1)
        #expect(bench.finished(1).contains("start 2.0 one"))
        var table = bench.router.table
        table.limits.handlers = 2
        bench.router.configure(table)
        #expect(bench.clock().isEmpty && bench.router.hasWorkLeft, "2,048 are looked at in one turn")
        var draining = bench
        draining.handle(.draining)
        #expect(!draining.router.hasWorkLeft, "nothing is started any more, so nothing is left to be looked at")
        #expect(bench.clock().isEmpty && !bench.router.hasWorkLeft)
        #expect(bench.finished(2).contains("start 3.0 one"))
    }

    @Test("keep a handler that declines at their head")
    func declinedKeepsLane() throws {
        var bench = Bench(.testing(routes: [.all(to: "a"), .all(to: "b")], handlers: [.exec("a"), .exec("b")]))
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        bench.started(1)
        #expect(bench.finished(1, 0, .declined) == ["update 1.0 started", "start 1.0 b"])
        #expect(bench.row(2)?.deadline == nil)
    }
}
