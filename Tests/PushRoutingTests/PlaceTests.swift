import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Places to run, and requests in flight")
struct PlaceTests {
    @Test("no more handlers run at once than there are places; waiting invocations run in order")
    func firstInFirstOut() throws {
        var bench = Bench(.testing(places: 2))
        for _ in 1...4 { try bench.submit(.deliver()) }
        #expect(bench.router.handlersRunning == 2)
        #expect(bench.runs.keys.sorted() == [.init(1), .init(2)])
        bench.started(2)
        #expect(bench.finished(2).last == "start 3.0 crm")
        bench.started(1)
        #expect(bench.finished(1).last == "start 4.0 crm")
    }

    @Test("a failed start frees its place")
    func failedStart() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        let effects = bench.handle(.failedToStart(.init(1), reason: "no such file"))
        #expect(effects == ["update 1.0 failed", "end 1.0 failed", "update 2.0 started", "start 2.0 crm"])
        #expect(bench.end(1)?.reason == "no such file")
        #expect(bench.end(1)?.exec == .zero)
    }

    @Test("a handler that was reported as started and did not start has not run", arguments: [false, true])
    func withdrawnStart(isSaid: Bool) throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.at(.milliseconds(40))
        if isSaid { bench.started(1) }
        bench.at(.milliseconds(50))
        bench.handle(.failedToStart(.init(1), reason: "no such file"))
        #expect(bench.end(1)?.reason == "no such file")
        #expect(bench.end(1)?.queue == .milliseconds(50) && bench.end(1)?.exec == .zero)
    }

    @Test("built-in handlers need no place, and finish on acceptance")
    func builtIn() throws {
        let handlers = [Handler.exec("crm"), Handler(name: "log", kind: .journal), Handler(name: "no", kind: .discard)]
        let routes: [Route] = [.key("log", to: "log"), .key("no", to: "no"), .all(to: "crm")]
        var bench = Bench(.testing(routes: routes, handlers: handlers, places: 1))
        try bench.submit(.deliver())
        #expect(
            try bench.submit(.deliver(#"{"log":"1"}"#)) == ["request 2", "row 2.0 handled", "end 2.0 handled"])
        #expect(
            try bench.submit(.deliver(#"{"no":"1"}"#)) == ["request 3", "row 3.0 handled", "end 3.0 handled"])
    }

    @Test("a reload with fewer places ends no run, and one with more places starts waiting invocations")
    func reload() throws {
        var bench = Bench(.testing(places: 2))
        for _ in 1...4 { try bench.submit(.deliver()) }
        bench.handle(.reconfigured(.testing(places: 1)))
        #expect(bench.router.handlersRunning == 2)
        bench.finished(1)
        #expect(bench.router.handlersRunning == 1)
        #expect(
            bench.handle(.reconfigured(.testing(places: 3))) == [
                "update 3.0 started", "start 3.0 crm", "update 4.0 started", "start 4.0 crm",
            ])
    }

    @Test("a reload moves no invocation in flight to another handler")
    func reloadKeepsHandlers() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        bench.handle(.reconfigured(.testing(routes: [.all(to: "new")], handlers: [.exec("new")])))
        #expect(bench.finished(1).last == "start 2.0 crm")
        #expect(try bench.submit(.deliver()).last == "start 3.0 new")
    }

    @Test("too many requests in flight of one peer are refused with a retry time, without an effect on other peers")
    func perPeer() throws {
        var bench = Bench(.testing(inFlightPerPeer: 2))
        try bench.submit(.deliver(), uid: 7)
        try bench.submit(.deliver(), uid: 7)
        bench.at(.milliseconds(8_700))
        #expect(
            throws: Refusal.overloaded(
                message: "2 requests of uid 7 are in flight, the limit", retryAfter: .milliseconds(300))
        ) { try bench.submit(.deliver(), uid: 7) }
        #expect(try bench.submit(.deliver(), uid: 8).first == "request 3")
        bench.finished(1)
        #expect(try bench.submit(.deliver(), uid: 7).first == "request 4")
    }

    @Test("too many requests in flight in all are refused for every peer")
    func inAll() throws {
        var bench = Bench(.testing(inFlight: 1))
        try bench.submit(.deliver(), uid: 7)
        #expect(
            throws: Refusal.overloaded(
                message: "1 request is in flight, the limit", retryAfter: .seconds(1))
        ) { try bench.submit(.deliver(), uid: 8) }
    }

    @Test("the retry time is at least 10 ms")
    func shortWait() throws {
        var bench = Bench(.testing(inFlight: 1))
        try bench.submit(.deliver())
        bench.at(.nanoseconds(8_999_999_999))
        do {
            try bench.submit(.deliver())
            Issue.record("it was accepted")
        } catch {
            guard case .overloaded(_, let wait) = error else { throw error }
            #expect(wait == .milliseconds(10))
        }
    }

    @Test("a request with two invocations in flight counts as one, until both have ended")
    func countsRequests() throws {
        var bench = Bench(.testing(inFlight: 1))
        try bench.submit(.deliver(Payload.otherIOS, platform: .ios, state: .foreground))
        #expect(bench.router.requestsInFlight == 1)
        bench.finished(1, 1)
        #expect(bench.router.requestsInFlight == 1)
        bench.finished(1, 0)
        #expect(bench.router.requestsInFlight == 0)
    }

    @Test("a refusal changes nothing: no effect, and the next request gets the number")
    func refusalChangesNothing() throws {
        var bench = Bench()
        let invalid = Request.deliver(#"{"message":{"data":{"badge":1}}}"#)
        #expect(throws: Refusal.self) { try bench.submit(invalid) }
        #expect(try bench.submit(.deliver()).first == "request 1")
    }

    @Test("draining accepts nothing, starts nothing, and lets running handlers finish")
    func draining() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        bench.started(1)
        bench.handle(.draining)
        #expect(throws: Refusal.draining) { try bench.submit(.deliver()) }
        #expect(bench.finished(1) == ["update 1.0 handled", "end 1.0 handled"])
        #expect(bench.router.handlersRunning == 0)
        #expect(bench.crash().last == "start 2.0 crm")
    }

    @Test("handing over accepts, starts nothing, and lets what runs finish; what was accepted is the next leader's")
    func handingOver() throws {
        var bench = Bench(.testing(places: 2))
        try bench.submit(.deliver())
        bench.started(1)
        bench.handle(.handingOver)
        #expect(try bench.submit(.deliver()).first == "request 2")
        #expect(bench.router.handlersRunning == 1 && !bench.router.hasWorkLeft)
        #expect(bench.finished(1) == ["update 1.0 handled", "end 1.0 handled"])
        #expect(bench.router.handlersRunning == 0 && bench.router.requestsInFlight == 1)
        bench.handle(.draining)
        #expect(throws: Refusal.draining) { try bench.submit(.deliver()) }
        #expect(bench.crash().last == "start 2.0 crm")
    }
}
