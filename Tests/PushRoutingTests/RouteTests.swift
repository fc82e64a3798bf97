import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Routes, answers and attempts")
struct RouteTests {
    @Test("an invocation without a matching route is unrouted on acceptance")
    func unrouted() throws {
        var bench = Bench(.testing(routes: []))
        #expect(try bench.submit(.deliver()) == ["request 1", "row 1.0 unrouted", "end 1.0 unrouted"])
        #expect(bench.end(1)?.reason == "no route matches")
        #expect(bench.row(1)?.deadline == nil)
    }

    @Test("a handler that declines passes the invocation to the next route, with the rest of its time")
    func declined() throws {
        let routes: [Route] = [.all(to: "a", budget: .seconds(3)), .key("other", to: "a"), .all(to: "b")]
        var bench = Bench(.testing(routes: routes, handlers: [.exec("a"), .exec("b")]))
        try bench.submit(.deliver())
        bench.at(.seconds(1))
        bench.started(1)
        bench.at(.seconds(2))
        #expect(bench.finished(1, 0, .declined) == ["update 1.0 started", "start 1.0 b"])
        #expect(bench.row(1)?.route == "all-b")
        #expect(bench.nextDue == .seconds(9))
        bench.started(1)
        bench.at(.seconds(4))
        bench.finished(1)
        let end = try #require(bench.end(1))
        #expect(end.outcome == .handled)
        #expect(end.queue == .seconds(1))
        #expect(end.exec == .seconds(3))
    }

    @Test("an invocation that every handler declines is unrouted")
    func allDecline() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.finished(1, 0, .declined) == ["update 1.0 unrouted", "end 1.0 unrouted"])
        #expect(bench.end(1)?.reason == "every matching route declined; crm declined after 0 ms")
    }

    @Test("a next route with a shorter, already elapsed time ends the invocation and starts nothing")
    func nextRouteIsOver() throws {
        let routes: [Route] = [.all(to: "a"), .all(to: "b", budget: .seconds(2))]
        var bench = Bench(.testing(routes: routes, handlers: [.exec("a"), .exec("b")]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(2))
        #expect(bench.finished(1, 0, .declined) == ["update 1.0 timed_out", "end 1.0 timed_out"])
        #expect(
            bench.end(1)?.reason
                == "the deadline of route all-b had passed before its handler could start; a declined after 2000 ms")
    }

    @Test("in device mode nothing is retried")
    func noRetryOnDevice() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .retry(after: nil))
        #expect(bench.end(1)?.outcome == .failed)
        #expect(bench.end(1)?.reason == "the handler asked for a retry; device mode does not retry (Mode=)")
    }

    @Test("in relay mode a handler runs again after the delay, until an attempt is handled")
    func retry() throws {
        var bench = Bench(.testing(.relay, places: 1))
        try bench.submit(.deliver())
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.finished(1, 0, .retry(after: nil)) == ["update 2.0 started", "start 2.0 crm", "update 1.0"])
        let wait = RetryRules().wait(afterAttempt: 1, of: .init(1))
        #expect(bench.nextDue == wait && wait >= .milliseconds(100) && wait <= .milliseconds(200))
        bench.at(wait)
        #expect(bench.clock() == [])
        bench.started(2)
        #expect(bench.finished(2).last == "start 1.0 crm")
        bench.started(1)
        bench.at(.seconds(1))
        bench.finished(1)
        #expect(bench.outcome(1) == .handled)
        #expect(bench.end(1)?.exec == .seconds(1))
    }

    @Test("a handler chooses the delay of the retry; a retry at the deadline is too late")
    func retryAfter() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .retry(after: .seconds(3)))
        bench.at(.seconds(3))
        #expect(bench.clock() == ["update 1.0 started", "start 1.0 crm"])
        bench.started(1)
        #expect(bench.finished(1, 0, .retry(after: .seconds(6))).contains("end 1.0 failed"))
    }

    @Test("a handler that asks for a retry at once waits for RetryDelay= all the same")
    func retryAfterNothing() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        var starts = 0
        for millisecond in 0...1500 {
            bench.at(.milliseconds(millisecond))
            guard starts == 0 || bench.clock().contains("start 1.0 crm") else { continue }
            starts += 1
            bench.started(1)
            bench.finished(1, 0, .retry(after: .zero))
        }
        // The waits are 100 to 200 ms, 200 to 400, 400 to 800, 800 to 1600.
        #expect((4...5).contains(starts), "\(starts)")
        let waits = bench.ledger.attempts.compactMap(\.retryAfter)
        #expect(zip(waits, [100, 200, 400, 800]).allSatisfy { $0 >= .milliseconds($1) }, "\(waits)")
    }

    @Test("the row of a handler that is not idempotent records the start before the start", arguments: [true, false])
    func startedRow(idempotent: Bool) throws {
        var bench = Bench(.testing(handlers: [.exec("crm", idempotent: idempotent)]))
        let effects = try bench.submit(.deliver())
        #expect(effects == ["request 1", idempotent ? "row 1.0" : "row 1.0 started", "start 1.0 crm"])
    }

    @Test("the first program of an invocation may start before its rows are on disk if it is idempotent")
    func earlyStart() throws {
        func isEarly(_ bench: Bench, _ seq: Int64) throws -> Bool {
            try #require(bench.runs[InvocationID(seq, 0)]).mayStartEarly
        }
        var plain = Bench()
        try plain.submit(.deliver())
        #expect(try !isEarly(plain, 1))

        let again = Handler.exec("crm", idempotent: true)
        var bench = Bench(.testing(.relay, handlers: [again]))
        try bench.submit(.deliver())
        #expect(try isEarly(bench, 1))
        bench.started(1)
        bench.finished(1, 0, .retry(after: .zero))
        bench.at(.seconds(1))
        #expect(bench.clock().contains("start 1.0 crm"))
        #expect(try !isEarly(bench, 1), "a crash would forget that there was an attempt")

        var declining = Bench(
            .testing(routes: [.all(to: "first"), .all(to: "crm")], handlers: [.exec("first"), again]))
        try declining.submit(.deliver())
        declining.started(1)
        #expect(declining.finished(1, 0, .declined).contains("start 1.0 crm"))
        #expect(try !isEarly(declining, 1), "a start would fail the invocation, because the first one may have run")

        bench.term = 2
        bench.crash()
        try bench.submit(.deliver())
        #expect(try !isEarly(bench, 2), "the next leader would give its number to another request")
    }

    @Test("iOS leads to several callbacks: each has its own row, run and outcome")
    func severalInvocations() throws {
        var bench = Bench()
        #expect(
            try bench.submit(.deliver(Payload.otherIOS, platform: .ios, state: .foreground)) == [
                "request 1", "row 1.0 started", "start 1.0 crm", "row 1.1 started", "start 1.1 crm",
            ])
        #expect(bench.row(1, 0)?.callback == .willPresent)
        #expect(bench.row(1, 1)?.callback == .didReceiveRemoteNotification)
        bench.started(1, 0)
        bench.started(1, 1)
        bench.finished(1, 0, .handled(.init(options: ["banner"])))
        #expect(bench.end(1, 0)?.completion == Completion(by: .handler, result: .noData, options: ["banner"]))
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.outcome(1, 1) == .timedOut)
        #expect(bench.end(1, 1)?.completion == Completion(by: .default, result: .failed))
    }

    @Test("rows of invocations that wait for a place are written in order")
    func rowsInOrder() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        #expect(
            try bench.submit(.deliver(Payload.otherIOS, platform: .ios, state: .foreground)) == [
                "request 2", "row 2.0", "row 2.1",
            ])
    }

    @Test(
        "a handler's answer completes the callback; without one the host does",
        arguments: [
            (HandlerAnswer.Content(result: .newData), Completion(by: .handler, result: .newData)),
            (HandlerAnswer.Content(), Completion(by: .default, result: .noData)),
        ])
    func completion(reply: HandlerAnswer.Content, completion: Completion) throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .handled(reply))
        #expect(bench.end(1)?.completion == completion)
    }

    @Test(
        "the meaning of a program's exit status",
        arguments: [
            (Int32(0), HandlerAnswer.handled(.init())), (75, .retry(after: nil)), (80, .declined),
            (1, .rejected(reason: "exit status 1")), (255, .rejected(reason: "exit status 255")),
        ])
    func exitStatus(status: Int32, answer: HandlerAnswer) {
        #expect(HandlerAnswer(exitStatus: status) == answer)
    }

    @Test("the handler gets the payload unchanged")
    func payload() throws {
        var bench = Bench()
        try bench.submit(.deliver(#"{"n": 4503599627370497.5}"#))
        #expect(
            bench.runs[.init(1)]?.subject.payload?.rawBytes.elementsEqual(#"{"n": 4503599627370497.5}"#.utf8) == true)
    }

    @Test("an answer for an unknown invocation changes nothing")
    func unknownInvocation() {
        var bench = Bench()
        for event: RouterEvent in [
            .started(.init(5)), .finished(.init(5), .handled(.init())), .failedToStart(.init(5), reason: "no"),
        ] {
            #expect(bench.handle(event) == [])
        }
    }
}

@Suite("The conditions of a route")
struct RouteMatchTests {
    static let facts: RouteFacts = {
        let payload = JSONDocument(test: #"{"campaign":"summer-1","extra":"{\"tier\":\"gold\"}"}"#).root
        guard let decision = try? decide(Delivery(platform: .android, payload: payload)) else {
            preconditionFailure("the payload is one")
        }
        return RouteFacts(
            provider: "onesignal", platform: .android, callback: .onMessageReceived, app: "com.shop",
            keys: decision.keys)
    }()

    static let summer = RouteMatch.KeyCondition(key: "campaign", pattern: Glob("summer-*"))
    static let gold = RouteMatch.KeyCondition(key: "tier", pattern: Glob("gold"))

    @Test(
        "every condition must hold, with one entry of a list",
        arguments: [
            (RouteMatch(), true),
            (RouteMatch(providers: ["braze", "onesignal"]), true), (RouteMatch(providers: ["none"]), false),
            (RouteMatch(platforms: [.android]), true), (RouteMatch(platforms: [.ios, .web]), false),
            (RouteMatch(callbacks: [.onMessageReceived]), true), (RouteMatch(callbacks: [.push]), false),
            (RouteMatch(apps: [Glob("org.*"), Glob("com.*")]), true), (RouteMatch(apps: [Glob("org.*")]), false),
            (RouteMatch(data: [summer]), true), (RouteMatch(data: [.init(key: "campaign", pattern: nil)]), true),
            (RouteMatch(data: [.init(key: "campaign", pattern: Glob("winter-*"))]), false),
            (RouteMatch(data: [summer, .init(key: "absent", pattern: nil)]), false),
            (RouteMatch(keyValues: [gold]), true), (RouteMatch(data: [gold]), false),
            (RouteMatch(providers: ["onesignal"], platforms: [.ios]), false),
        ])
    func conditions(match: RouteMatch, holds: Bool) {
        #expect(match.holds(for: Self.facts) == holds)
    }

    @Test("patterns match the unescaped texts of values, each its own")
    func escapedValues() throws {
        let payload = JSONDocument(
            test: #"{"a":"summer\u002d1","b":"gold\u0021","extra":"{\"c\":\"\\u0078y\"}"}"#
        ).root
        var facts = Self.facts
        facts.keys = try decide(Delivery(platform: .android, payload: payload)).keys
        func condition(_ key: String, _ pattern: String) -> RouteMatch.KeyCondition {
            .init(key: key, pattern: Glob(pattern))
        }
        let match = RouteMatch(
            data: [condition("a", "summer-*"), condition("b", "gold!"), condition("a", "*-1")],
            keyValues: [condition("c", "xy")])
        #expect(match.holds(for: facts))
        let routes = [
            RouteMatch(data: [condition("b", "summer-*")]), RouteMatch(keyValues: [condition("c", "gold!")]), match,
        ]
        #expect(routes.map { $0.holds(for: facts) } == [false, false, true])
    }

    @Test("the word none stands for a payload of no known provider")
    func noProvider() {
        var facts = Self.facts
        facts.provider = nil
        #expect(RouteMatch(providers: ["none"]).holds(for: facts))
        #expect(!RouteMatch(providers: ["onesignal"]).holds(for: facts))
    }

    @Test("without a payload no condition on keys holds; others may")
    func noKeys() {
        var facts = Self.facts
        facts.keys = nil
        #expect(!RouteMatch(data: [Self.summer]).holds(for: facts))
        #expect(RouteMatch(platforms: [.android]).holds(for: facts))
    }

    @Test("the first route that matches wins, from a position on")
    func firstMatch() {
        let table = RoutingTable.testing(routes: [
            .key("absent", to: "crm"), .all(to: "crm"), .key("campaign", to: "crm"),
        ])
        #expect(table.owner(of: Self.facts) == 1)
        #expect(table.owner(of: Self.facts, from: 2) == 2)
        #expect(table.owner(of: Self.facts, from: 3) == nil)
        #expect(table.owners(of: Self.facts).map(\.name) == ["all-crm"])
    }

    @Test("a tap on iOS is routed by the keys of the payload that the platform hands back")
    func taps() throws {
        var bench = Bench(.testing(routes: [.key("order", to: "crm")]))
        let payload = JSONDocument(test: #"{"aps":{"alert":"x"},"order":"1"}"#).root
        let routed = try bench.submit(.open(.payload(payload), platform: .ios))
        #expect(routed.contains("start 1.0 crm"), "\(routed)")
    }
}
