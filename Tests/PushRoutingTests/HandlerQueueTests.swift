import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The queue of one handler, Queue=")
struct HandlerQueueTests {
    private static let routes: [Route] = [.key("slow", to: "slow"), .all(to: "fast")]
    private static let slow = #"{"slow":"1"}"#

    private func table(
        _ mode: DispatchMode = .device, places: Int = 64, limit: Int? = 1, queue: Int, routes: [Route] = Self.routes
    ) -> RoutingTable {
        var slow = Handler.exec("slow")
        (slow.maxConcurrent, slow.queueMax) = (limit, queue)
        return .testing(mode, routes: routes, handlers: [slow, .exec("fast")], places: places)
    }

    private func refusal(_ bench: inout Bench, _ request: Request) -> Refusal? {
        do throws(Refusal) {
            try bench.submit(request)
            return nil
        } catch {
            return error
        }
    }

    private func status(_ bench: Bench, _ name: String = "slow") -> HandlerStatus? {
        bench.router.handlers(at: bench.now.monotonic).first { $0.name == name }
    }

    @Test("that is full refuses new invocations with a retry time, and changes nothing")
    func full() throws {
        var bench = Bench(table(queue: 2))
        for _ in 1...3 { try bench.submit(.deliver(Self.slow)) }
        bench.at(.milliseconds(8_800))
        #expect(
            refusal(&bench, .deliver(Self.slow, to: "phone"))
                == .overloaded(
                    message: "2 callbacks wait already for the handler slow, the limit (Queue=)",
                    retryAfter: .milliseconds(200)))
        #expect(bench.ledger.requests.count == 3 && bench.router.requestsInFlight == 3)
        #expect(bench.router.memory.devices.known("phone", app: "shop") == nil)
        let now = status(bench)
        #expect(now?.running == 1 && now?.waiting == 2 && now?.limit == 1 && now?.queueLimit == 2 && now?.refused == 1)
        bench.finished(1)
        #expect(refusal(&bench, .deliver(Self.slow)) == nil)
        #expect(status(bench)?.running == 1 && status(bench)?.waiting == 2)
    }

    @Test("of length 0 accepts an invocation with a free place, and refuses every other")
    func none() throws {
        var bench = Bench(table(limit: 2, queue: 0))
        for _ in 1...2 { try bench.submit(.deliver(Self.slow)) }
        #expect(refusal(&bench, .deliver(Self.slow)) != nil)
        bench.finished(2)
        #expect(refusal(&bench, .deliver(Self.slow)) == nil)
        var small = Bench(table(places: 1, limit: nil, queue: 0))
        try small.submit(.deliver())
        #expect(refusal(&small, .deliver(Self.slow)) != nil)
    }

    @Test("of a dead handler takes neither a place nor time from the others")
    func isolation() throws {
        var bench = Bench(table(places: 4, limit: 3, queue: 50))
        var refused = 0
        for step in 0..<200 {
            bench.at(.milliseconds(step * 20))
            if refusal(&bench, .deliver(Self.slow)) != nil { refused += 1 }
            let effects = try bench.submit(.deliver())
            let seq = bench.router.lastNumber
            #expect(effects.contains("start \(seq).0 fast"))
            bench.handle(.started(InvocationID(seq: seq, n: 0)))
            bench.at(.milliseconds(step * 20 + 5))
            bench.handle(.finished(InvocationID(seq: seq, n: 0), .handled(.init())))
            let end = bench.ends[InvocationID(seq: seq, n: 0)]?.result
            #expect(end?.queue == .zero && end?.exec == .milliseconds(5))
        }
        #expect(refused == 200 - 53 && status(bench)?.refused == 147)
        #expect(status(bench)?.running == 3 && status(bench)?.waiting == 50)
    }

    @Test("may be exceeded by an invocation that a handler declined: it waits, and expires without a place")
    func declined() throws {
        let routes: [Route] = [.key("first", to: "fast"), .all(to: "slow")]
        var bench = Bench(table(.relay, queue: 1, routes: routes))
        for _ in 1...2 { try bench.submit(.deliver()) }
        for _ in 3...4 { try bench.submit(.deliver(#"{"first":"1"}"#)) }
        for seq: Int64 in 3...4 {
            bench.started(seq)
            bench.finished(seq, 0, .declined)
        }
        #expect(status(bench)?.waiting == 3)
        bench.at(.seconds(8))
        #expect(bench.finished(1).contains("start 2.0 slow"))
        bench.at(.seconds(9))
        bench.clock()
        for seq: Int64 in 3...4 {
            #expect(bench.outcome(seq) == .expired && bench.end(seq)?.reasonCode == .queueFull)
            let why = "no place at its handler became free in time (MaxConcurrent=, Queue=)"
            #expect(bench.end(seq)?.reason == "\(why); fast declined after 0 ms")
        }
    }

    @Test("may be exceeded by an invocation that waits for its next attempt")
    func retried() throws {
        var bench = Bench(table(.relay, queue: 1))
        try bench.submit(.deliver(Self.slow))
        bench.started(1)
        bench.finished(1, 0, .retry(after: .seconds(1)))
        for _ in 2...3 { try bench.submit(.deliver(Self.slow)) }
        bench.at(.seconds(1))
        bench.clock()
        #expect(status(bench)?.waiting == 2 && bench.outcome(1) == nil)
        bench.at(.seconds(9))
        bench.clock()
        // The invocation had its handler already: its wait for a retry is no wait in a queue.
        #expect(bench.outcome(1) == .timedOut && bench.end(1)?.reasonCode == .notDoneAfterRetries)
    }

    @Test("that a reload shortens refuses at once, and ends no waiting invocation; new places are used")
    func reload() throws {
        var bench = Bench(table(limit: 2, queue: 10))
        for _ in 1...8 { try bench.submit(.deliver(Self.slow)) }
        bench.handle(.reconfigured(table(limit: 1, queue: 3)))
        #expect(status(bench)?.running == 2 && status(bench)?.waiting == 6)
        #expect(refusal(&bench, .deliver(Self.slow)) != nil)
        #expect(!bench.finished(1).contains { $0.hasPrefix("start") }, "more ran than may now")
        #expect(bench.finished(2).contains("start 3.0 slow"))
        #expect(
            bench.handle(.reconfigured(table(limit: 3, queue: 3))).filter { $0.hasPrefix("start") } == [
                "start 4.0 slow", "start 5.0 slow",
            ])
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.end(8)?.reasonCode == .queueFull)
    }

    @Test("is restored by a start, however long it is")
    func recovery() throws {
        var bench = Bench(table(queue: 5))
        for _ in 1...5 { try bench.submit(.deliver(Self.slow)) }
        var shorter = bench
        #expect(shorter.crashRaw(sameBoot: true, table: table(queue: 1)).compactMap(\.text).contains("start 2.0 slow"))
        #expect(status(shorter)?.waiting == 3 && refusal(&shorter, .deliver(Self.slow)) != nil)
        shorter.at(.seconds(9))
        shorter.clock()
        for seq: Int64 in 3...5 { #expect(shorter.end(seq)?.reasonCode == .queueFull) }
    }

    @Test("refuses neither a token for the SDKs of other handlers, nor a payload because of an observer")
    func broadcasts() throws {
        let routes: [Route] = [
            Route(name: "a", match: RouteMatch(callbacks: [.onNewToken]), handler: "slow"),
            Route(name: "b", match: RouteMatch(callbacks: [.onNewToken]), handler: "fast"), .all(to: "fast"),
            Route(name: "watch", match: RouteMatch(callbacks: [.onMessageReceived]), handler: "slow", observes: true),
        ]
        var bench = Bench(table(queue: 0, routes: routes))
        for seq: Int64 in 1...3 { #expect(try bench.submit(.token()).contains("start \(seq).1 fast")) }
        #expect(try bench.submit(.deliver()).contains("start 4.0 fast"))
        #expect(status(bench)?.waiting == 3)
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.end(3, 0)?.reasonCode == .queueFull && bench.end(4, 1)?.reasonCode == .queueFull)
    }

    @Test("counts every callback of one request")
    func twoCallbacks() throws {
        var bench = Bench(table(limit: 1, queue: 2, routes: [.all(to: "slow")]))
        let ios = Request.deliver(Payload.otherIOS, platform: .ios, state: .foreground)
        try bench.submit(ios)
        #expect(status(bench)?.waiting == 1)
        #expect(refusal(&bench, ios) != nil)
        #expect(refusal(&bench, .deliver()) == nil)
    }

    @Test("of a removed handler is served, and status shows the handler until its last invocation ends")
    func drains() throws {
        var bench = Bench(table(queue: 5))
        for _ in 1...2 { try bench.submit(.deliver(Self.slow)) }
        bench.handle(.reconfigured(.testing(routes: [.all(to: "fast")], handlers: [.exec("fast")])))
        #expect(status(bench)?.isDraining == true && status(bench)?.waiting == 1)
        #expect(try bench.submit(.deliver(Self.slow)).contains("start 3.0 fast"))
        #expect(bench.finished(1).contains("start 2.0 slow"))
        bench.finished(2)
        #expect(status(bench) == nil)
    }
}
