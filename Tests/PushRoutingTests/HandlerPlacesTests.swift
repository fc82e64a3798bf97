import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The places of one handler, MaxConcurrent=")
struct HandlerPlacesTests {
    private static let routes: [Route] = [.key("slow", to: "slow"), .all(to: "fast")]

    private func bench(_ mode: DispatchMode = .device, places: Int = 64) -> Bench {
        var slow = Handler.exec("slow")
        slow.maxConcurrent = 2
        return Bench(.testing(mode, routes: Self.routes, handlers: [slow, .exec("fast")], places: places))
    }

    @Test("are as many as it says; an invocation that waits for one holds up no other handler, and runs in order")
    func limit() throws {
        var bench = bench(places: 3)
        for _ in 1...4 { try bench.submit(.deliver(#"{"slow":"1"}"#)) }
        #expect(try bench.submit(.deliver()).contains("start 5.0 fast"))
        #expect(bench.finished(2).contains("start 3.0 slow"))
        #expect(!bench.finished(5).contains { $0.hasPrefix("start") })
        #expect(bench.finished(1, 0, .declined).contains("start 4.0 slow"))
    }

    @Test("are free of owners and of copies once all have ended, and not before")
    func emptied() throws {
        let watch = Route(name: "watch", match: RouteMatch(), handler: "fast", observes: true)
        var table = RoutingTable.testing(
            .device, routes: [watch] + Self.routes, handlers: [.exec("slow"), .exec("fast")], places: 1)
        table.limits.observers = 1
        let orders: [[(Int64, Int)]] = [[(1, 0), (2, 0), (1, 1), (2, 1)], [(1, 1), (2, 1), (1, 0), (2, 0)]]
        for order in orders {
            var bench = Bench(table)
            #expect(bench.router.places.isEmpty)
            for _ in 1...2 { try bench.submit(.deliver(#"{"slow":"1"}"#)) }
            for (seq, n) in order {
                #expect(!bench.router.places.isEmpty, "\(seq).\(n) is there")
                bench.finished(seq, n)
            }
            #expect(bench.router.places.isEmpty)
        }
    }

    @Test("are waited for until the deadline, and the reason code is fixed")
    func expired() throws {
        var bench = bench()
        for _ in 1...3 { try bench.submit(.deliver(#"{"slow":"1"}"#)) }
        bench.started(1)
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.outcome(3) == .expired)
        #expect(bench.end(3)?.reasonCode == .queueFull)
        #expect(bench.end(3)?.reason?.contains("no place at its handler") == true)
        #expect(bench.end(2)?.reason == "no handler was started in time")
    }

    @Test("go to the next waiting invocation when one ends while it waits for a place of HandlersMax=")
    func handedOn() throws {
        var bench = bench(.relay, places: 2)
        for _ in 1...2 { try bench.submit(.deliver(#"{"slow":"1"}"#)) }
        for _ in 3...4 { try bench.submit(.deliver(#"{"slow":"1"}"#)) }
        bench.finished(1)
        bench.finished(2)
        #expect(bench.runs[InvocationID(4)] != nil)
        bench.finished(3)
        bench.finished(4)
        for seq: Int64 in 5...7 {
            #expect(try bench.submit(.deliver(#"{"slow":"1"}"#)).contains("start \(seq).0 slow") == (seq < 7))
        }
    }
}

@Suite("Handlers that leave places to others")
struct LeftPlacesTests {
    private func bench(places: Int, observers: Int = 16, observing: [Route] = []) -> Bench {
        let names = ["one", "two", "three"]
        let handlers = names.map { name in
            var handler = Handler.exec(name)
            handler.leavesPlaces = true
            return handler
        }
        var table = RoutingTable.testing(
            .device, routes: observing + names.map { .key($0, to: $0) }, handlers: handlers, places: places)
        table.limits.observers = observers
        return Bench(table)
    }

    /// The number of deliveries for a handler that start at once, of so many.
    private func starts(of name: String, _ count: Int, _ bench: inout Bench) throws -> Int {
        try (0..<count).count { _ in
            try bench.submit(.deliver(#"{"\#(name)":"1"}"#)).contains { $0.hasPrefix("start") }
        }
    }

    @Test("run in at most as many places as stay free: one takes half, two take a third each, each has one")
    func shares() throws {
        var bench = bench(places: 12)
        #expect(try starts(of: "one", 50, &bench) == 6)
        #expect(try starts(of: "two", 50, &bench) == 3)
        #expect(try starts(of: "three", 50, &bench) == 2)
        #expect(bench.router.handlersRunning == 11)
    }

    @Test("have half of the owners' places and half of the observers': neither holds up the other")
    func observers() throws {
        let watch = Route(name: "watch", match: RouteMatch(), handler: "one", observes: true)
        var bench = bench(places: 12, observers: 4, observing: [watch])
        let starts = try (0..<10).flatMap { _ in
            try bench.submit(.deliver(#"{"one":"1"}"#)).filter { $0.hasPrefix("start ") }
        }
        #expect(starts.count == 8)
        #expect(bench.router.places.running.owners == 6 && bench.router.places.running.observers == 2, "\(starts)")
        let owner = try #require(bench.runs.keys.first { bench.row($0.seq.value, $0.n)?.isObserver == false })
        let next = bench.finished(owner.seq.value, owner.n).filter { $0.hasPrefix("start ") }
        #expect(next.count == 1, "the next owner, and no copy: \(next)")
        #expect(bench.router.places.running.owners == 6 && bench.router.places.running.observers == 2)
    }

    @Test("a handler gets the only place there is")
    func onlyPlace() throws {
        var bench = bench(places: 1)
        #expect(try starts(of: "one", 2, &bench) == 1)
        #expect(bench.finished(1).contains("start 2.0 one"))
    }

    @Test("get more places as others free theirs, in order")
    func goesOn() throws {
        var bench = bench(places: 6)
        #expect(try starts(of: "one", 4, &bench) == 3)
        #expect(try starts(of: "two", 3, &bench) == 2)
        #expect(bench.finished(5).contains("start 7.0 two"))
        // The first handler has three, and no more than three are free.
        for seq: Int64 in [6, 7] { #expect(!bench.finished(seq).contains { $0.hasPrefix("start") }) }
        #expect(bench.finished(1).contains("start 4.0 one"))
    }

    @Test("free a place for waiting invocations of other handlers when they end")
    func others() throws {
        var bench = bench(places: 4)
        #expect(try starts(of: "one", 2, &bench) == 2)
        #expect(try starts(of: "two", 2, &bench) == 1)
        #expect(bench.finished(1).contains("start 4.0 two"))
    }
}
