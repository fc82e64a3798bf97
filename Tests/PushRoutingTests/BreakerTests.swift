import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The circuit breaker of one handler, Breaker=")
struct BreakerTests {
    private static let rules = BreakerRules(failures: 2, window: .seconds(30), pause: .seconds(10))

    private func table(
        _ mode: DispatchMode = .relay, rules: BreakerRules? = Self.rules, limit: Int? = nil, fallback: Bool = true
    ) -> RoutingTable {
        var crm = Handler.exec("crm")
        (crm.breaker, crm.maxConcurrent) = (rules, limit)
        let routes: [Route] = [.key("k", to: "crm")] + (fallback ? [.all(to: "other")] : [])
        return .testing(mode, routes: routes, handlers: [crm, .exec("other")])
    }

    private func state(_ bench: Bench, of handler: String = "crm") -> HandlerStatus.BreakerState? {
        bench.router.handlers(at: bench.now.monotonic).first { $0.name == handler }?.breaker
    }

    /// Kills `crm` under the next deliveries, until its breaker is open.
    @discardableResult
    private func open(_ bench: inout Bench, failures: Int = 2) throws -> [String] {
        var effects: [String] = []
        for _ in 1...failures {
            try bench.submit(.deliver())
            let seq = bench.router.lastNumber.value
            bench.started(seq)
            effects = bench.finished(seq, 0, .signaled(9))
        }
        return effects
    }

    /// Has `crm` fail once, and ask for a second run of delivery 2 after 8 seconds; then a second passes.
    private func openUpToRetry(_ bench: inout Bench) throws {
        try open(&bench, failures: 1)
        try bench.submit(.deliver())
        bench.started(2)
        bench.finished(2, 0, .retry(after: .seconds(8)))
        bench.at(.seconds(1))
    }

    @Test("opens after so many failures in a row, and the next matching route gets the later deliveries")
    func opens() throws {
        var bench = Bench(table())
        #expect(try open(&bench, failures: 1).contains { $0.hasPrefix("breaker") } == false)
        #expect(state(bench) == .closed)
        #expect(try open(&bench, failures: 1).contains("breaker crm open"))
        #expect(state(bench) == .open)
        #expect(try bench.submit(.deliver()).contains("start 3.0 other"))
        bench.finished(3)
        #expect(bench.outcome(3) == .handled)
        #expect(bench.end(3)?.reason == "not asked, because the breaker is open: crm")
        #expect(bench.row(3)?.handler == "other")
    }

    @Test("leaves the budget of the route that it passes over in the row, if no other route takes the delivery")
    func budgetOfThePassed() throws {
        var crm = Handler.exec("crm")
        crm.breaker = Self.rules
        var bench = Bench(
            .testing(.relay, routes: [.key("k", to: "crm", budget: .seconds(2))], handlers: [crm]))
        try open(&bench)
        try bench.submit(.deliver())
        #expect(bench.end(3)?.reasonCode == .breakerOpen)
        #expect(bench.row(3)?.handler == "crm" && bench.row(3)?.budget == .seconds(2))
    }

    @Test("moves waiting invocations past its handler in parts, when they are too many for one turn")
    func muchWaiting() throws {
        var crm = Handler.exec("crm")
        (crm.breaker, crm.queueMax) = (Self.rules, 2000)
        var bench = Bench(
            .testing(
                .relay, routes: [.all(to: "crm"), .all(to: "journal")],
                handlers: [crm, Handler(name: "journal", kind: .journal)], places: 2, inFlight: 2000,
                inFlightPerPeer: 2000))
        for _ in 1...1402 { try bench.submit(.deliver()) }
        for seq: Int64 in 1...2 { bench.started(seq) }
        bench.finished(1, 0, .signaled(9))
        // Number 3 has the free place, and number 2 answers last.
        bench.started(3)
        var turns: [Int] = []
        var effects = bench.finished(2, 0, .signaled(9))
        #expect(effects.contains("breaker crm open"))
        while true {
            turns.append(effects.count { $0.hasSuffix(" handled") && $0.hasPrefix("end ") })
            guard bench.router.hasWorkLeft else { break }
            effects = bench.clock()
        }
        #expect(turns.count > 10 && turns.allSatisfy { $0 <= 128 } && turns.reduce(0, +) == 1399, "\(turns)")
        #expect((4...1402).allSatisfy { bench.end($0)?.reason == "not asked, because the breaker is open: crm" })
        #expect(state(bench) == .open)
    }

    @Test("fails an invocation that no other route matches, with a fixed reason code")
    func failed() throws {
        var bench = Bench(table(fallback: false))
        try open(&bench)
        try bench.submit(.deliver())
        #expect(bench.outcome(3) == .failed && bench.end(3)?.reasonCode == .breakerOpen)
        #expect(bench.end(3)?.reason == "breaker_open; not asked, because the breaker is open: crm")
        #expect(bench.row(3)?.handler == "crm" && bench.row(3)?.started == false)
    }

    @Test("counts missed deadlines, deaths and failed starts, and of the answers only a retry without success")
    func counts() throws {
        for answer: HandlerAnswer in [.handled(.init()), .declined, .rejected(reason: "no")] {
            var bench = Bench(table())
            try open(&bench, failures: 1)
            try bench.submit(.deliver())
            bench.finished(2, 0, answer)
            try open(&bench, failures: 1)
            #expect(state(bench) == .closed, "\(answer)")
        }
        for event: RouterEvent in [
            .finished(.init(2), .lost(reason: "gone")), .failedToStart(.init(2), reason: "no such file"),
            .finished(.init(2), .signaled(11)),
        ] {
            var bench = Bench(table())
            try open(&bench, failures: 1)
            try bench.submit(.deliver())
            bench.handle(event)
            #expect(state(bench) == .open, "\(event)")
        }
        var bench = Bench(table())
        for seq: Int64 in 1...2 {
            try bench.submit(.deliver())
            bench.started(seq)
        }
        bench.at(.seconds(9))
        #expect(bench.clock().contains("breaker crm open"))
    }

    @Test(
        "counts a handler that asks for retries until its time is over, one delivery after the other",
        arguments: [nil, .seconds(3600), .milliseconds(500)] as [Duration?])
    func retriesUntilDeadline(wait: Duration?) throws {
        var bench = Bench(table())
        for seq: Int64 in 1...2 {
            #expect(state(bench) == .closed)
            try bench.submit(.deliver())
            let deadline = try #require(bench.router.invocations[.init(seq)]?.record.deadline)
            var changes: [String] = []
            while bench.outcome(seq) == nil {
                if bench.router.invocations[.init(seq)]?.stage == .starting {
                    bench.started(seq)
                    let effects = bench.finished(seq, 0, .retry(after: wait, reason: "connection refused"))
                    changes += effects.filter { $0.hasPrefix("breaker") }
                    if bench.outcome(seq) != nil { break }
                }
                bench.at(try #require(bench.nextDue))
                changes += bench.clock().filter { $0.hasPrefix("breaker") }
            }
            #expect(bench.outcome(seq) == .failed && bench.now.monotonic < deadline, "it is broken, not late")
            #expect(changes == (seq == 2 ? ["breaker crm open"] : []))
        }
        #expect(try bench.submit(.deliver()).contains("start 3.0 other"))
    }

    @Test("counts a handler that has exhausted its retries")
    func retriesUsedUp() throws {
        var crm = Handler.exec("crm")
        (crm.breaker, crm.retries) = (Self.rules, 0)
        var bench = Bench(
            .testing(.relay, routes: [.key("k", to: "crm"), .all(to: "other")], handlers: [crm, .exec("other")]))
        for seq: Int64 in 1...2 {
            try bench.submit(.deliver())
            bench.started(seq)
            bench.finished(seq, 0, .retry(after: nil))
            #expect(bench.end(seq)?.reasonCode == .retriesUsedUp)
        }
        #expect(state(bench) == .open)
    }

    @Test("counts a retry that did not begin, or found no place, by the deadline", arguments: [false, true])
    func retryNotBegun(hasNoPlace: Bool) throws {
        var bench = Bench(table(limit: 1))
        try openUpToRetry(&bench)
        if hasNoPlace {
            try bench.submit(.deliver())
            bench.started(3)
        }
        bench.at(.seconds(8))
        #expect(bench.clock().contains("start 2.0 crm") == !hasNoPlace)
        bench.at(.seconds(9))
        #expect(bench.clock().contains("breaker crm open"))
    }

    @Test("moves what waits for a place of its handler on as soon as it opens, while others still have the places")
    func movesWaiting() throws {
        var bench = Bench(table(limit: 1))
        try openUpToRetry(&bench)
        try bench.submit(.deliver())
        bench.started(3)
        #expect(try !bench.submit(.deliver()).contains { $0.hasPrefix("start") })
        bench.at(.seconds(8))
        #expect(!bench.clock().contains { $0.hasPrefix("start") })
        bench.at(.seconds(9))
        let effects = bench.clock()
        #expect(effects.contains("breaker crm open") && effects.contains("start 4.0 other"), "\(effects)")
        #expect(state(bench) == .open)
    }

    @Test("counts a worker that got no invocation by the deadline: it had to answer")
    func unopenedInstance() throws {
        var crm = Handler(name: "crm", kind: .worker(.init(arguments: ["/usr/bin/crm"]), InstanceRules(instances: 2)))
        crm.breaker = Self.rules
        var bench = Bench(.testing(.relay, routes: [.all(to: "crm")], handlers: [crm]))
        for _ in 1...2 { try bench.submit(.deliver()) }
        bench.at(.seconds(9))
        #expect(bench.clock().contains("breaker crm open"))
    }

    @Test("does not count the request to a handler for the next one, after it declined or its breaker opened")
    func nextHandler() throws {
        var (crm, other) = (Handler.exec("crm"), Handler.exec("other"))
        (crm.breaker, crm.maxConcurrent) = (BreakerRules(failures: 1, window: .seconds(30)), 1)
        other.breaker = crm.breaker
        let table = RoutingTable.testing(
            .relay, routes: [.key("k", to: "crm"), .all(to: "other")], handlers: [crm, other])
        for declines in [true, false] {
            var bench = Bench(table)
            try bench.submit(.deliver())
            bench.started(1)
            bench.finished(1, 0, .retry(after: .seconds(1), reason: "busy"))
            if !declines {
                try bench.submit(.deliver())
                bench.started(2)
            }
            bench.at(.seconds(1))
            bench.clock()
            if declines { bench.started(1) }
            let effects = declines ? bench.finished(1, 0, .declined) : bench.finished(2, 0, .signaled(9))
            #expect(effects.contains("start 1.0 other"), "\(effects)")
            bench.at(.seconds(9))
            bench.clock()
            #expect(bench.outcome(1) != nil && bench.end(1)?.reason?.contains("busy") == false)
            #expect(state(bench, of: "other") == .closed)
        }
    }

    @Test("does not count a retry as an answer: a success after it ends the count, and closes a probing breaker")
    func retryThenDone() throws {
        var bench = Bench(table())
        try open(&bench, failures: 1)
        try bench.submit(.deliver())
        bench.started(2)
        bench.finished(2, 0, .retry(after: .seconds(1)))
        bench.at(.seconds(1))
        bench.clock()
        bench.started(2)
        bench.finished(2)
        try open(&bench, failures: 1)
        #expect(state(bench) == .closed)
        try open(&bench, failures: 1)
        #expect(state(bench) == .open)
        bench.at(.seconds(11))
        #expect(try bench.submit(.deliver()).contains("start 5.0 crm"))
        bench.started(5)
        bench.finished(5, 0, .retry(after: .seconds(1)))
        #expect(state(bench) == .probing)
        bench.at(.seconds(12))
        #expect(bench.clock().contains("start 5.0 crm"))
        bench.started(5)
        #expect(bench.finished(5).contains("breaker crm closed"))
    }

    @Test("does not count a program that the daemon started too late")
    func late() throws {
        var bench = Bench(table())
        for _ in 1...3 { try bench.submit(.deliver()) }
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.outcome(1) == .expired && state(bench) == .closed)
    }

    @Test("forgets failures older than its period")
    func window() throws {
        var bench = Bench(table())
        try open(&bench, failures: 1)
        bench.at(.seconds(30) + .nanoseconds(1))
        try open(&bench, failures: 1)
        #expect(state(bench) == .closed)
        bench.at(.seconds(60))
        try open(&bench, failures: 1)
        #expect(state(bench) == .open)
    }

    @Test("lets one invocation through after the pause; any answer to it closes the breaker")
    func probe() throws {
        var bench = Bench(table())
        try open(&bench)
        bench.at(.seconds(10) - .nanoseconds(1))
        #expect(try bench.submit(.deliver()).contains("start 3.0 other"))
        bench.at(.seconds(10))
        #expect(try bench.submit(.deliver()).contains("start 4.0 crm"))
        #expect(state(bench) == .probing)
        #expect(try bench.submit(.deliver()).contains("start 5.0 other"))
        #expect(bench.finished(4, 0, .rejected(reason: "no")).contains("breaker crm closed"))
        #expect(try bench.submit(.deliver()).contains("start 6.0 crm"))
    }

    @Test("stays open for another pause when the probe fails, without another journal entry")
    func failedProbe() throws {
        var bench = Bench(table())
        try open(&bench)
        bench.at(.seconds(10))
        try bench.submit(.deliver())
        bench.at(.seconds(12))
        #expect(!bench.finished(3, 0, .signaled(9)).contains { $0.hasPrefix("breaker") })
        bench.at(.seconds(21))
        #expect(try bench.submit(.deliver()).contains("start 4.0 other"))
        bench.at(.seconds(22))
        #expect(try bench.submit(.deliver()).contains("start 5.0 crm"))
    }

    @Test("lets another one through when the probe ended without a run")
    func withdrawnProbe() throws {
        var bench = Bench(table(limit: 1))
        try bench.submit(.deliver())
        bench.started(1)
        try open(&bench, failures: 0 + 1)
        #expect(bench.outcome(2) == nil)
        bench = Bench(table())
        try open(&bench)
        bench.at(.seconds(10))
        // Its program does not start before its deadline, which says nothing about the handler.
        try bench.submit(.deliver())
        bench.at(.seconds(19))
        bench.clock()
        #expect(bench.outcome(3) == .expired)
        #expect(try bench.submit(.deliver()).contains("start 4.0 crm"))
    }

    @Test("sends waiting invocations to the next route when it opens, and an answer from before does not close it")
    func waiting() throws {
        var bench = Bench(table(limit: 3))
        for _ in 1...5 { try bench.submit(.deliver()) }
        for seq: Int64 in 1...3 { bench.started(seq) }
        bench.finished(1, 0, .signaled(9))
        #expect(bench.runs[.init(4)]?.handler.name == "crm" && bench.runs[.init(5)] == nil)
        let effects = bench.finished(2, 0, .signaled(9))
        #expect(effects.contains("start 5.0 other"), "\(effects)")
        bench.finished(3)
        #expect(state(bench) == .open)
        let status = bench.router.handlers(at: bench.now.monotonic).first { $0.name == "crm" }
        #expect(status?.waiting == 0 && status?.running == 1 && status?.passedOver == 1)
    }

    @Test("applies to an invocation when its turn in its lane comes")
    func lane() throws {
        var bench = Bench(table())
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        bench.started(1)
        try open(&bench)
        #expect(bench.finished(1).contains("start 2.0 other"))
    }

    @Test("keeps its state over a reload that leaves the handler unchanged, and is reset by one that changes it")
    func reload() throws {
        var bench = Bench(table())
        try open(&bench)
        bench.handle(.reconfigured(table()))
        #expect(state(bench) == .open)
        var changed = Self.rules
        changed.failures = 3
        bench.handle(.reconfigured(table(rules: changed)))
        #expect(state(bench) == .closed)
        bench.handle(.reconfigured(table(rules: nil)))
        #expect(state(bench) == nil)
    }

    @Test("is closed after a restart of the daemon")
    func restart() throws {
        var bench = Bench(table())
        try open(&bench)
        bench.crash()
        #expect(state(bench) == .closed)
    }

    @Test("is off in device mode: an app calls its handler every time")
    func deviceMode() throws {
        var bench = Bench(table(.device))
        try open(&bench, failures: 4)
        #expect(state(bench) == nil)
        #expect(try bench.submit(.deliver()).contains("start 5.0 crm"))
    }

    @Test("never moves a callback that only one handler may have to another")
    func pinned() throws {
        var crm = Handler.exec("crm")
        crm.breaker = Self.rules
        let routes = [
            Route.key("k", to: "crm"),
            Route(name: "watch", match: RouteMatch(), handler: "crm", observes: true), .all(to: "other"),
        ]
        var bench = Bench(.testing(.relay, routes: routes, handlers: [crm, .exec("other")]))
        for n in 0...1 {
            if n == 0 { try bench.submit(.deliver()) }
            bench.handle(.finished(.init(1, n), .signaled(9)))
        }
        #expect(try bench.submit(.deliver()).contains("start 2.0 other"))
        #expect(bench.outcome(2, 1) == .failed && bench.end(2, 1)?.reasonCode == .breakerOpen)
    }
}
