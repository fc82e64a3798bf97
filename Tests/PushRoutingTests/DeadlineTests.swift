import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The deadline")
struct DeadlineTests {
    static let almostNine = Duration.nanoseconds(8_999_999_999)

    @Test("a handler that ends a nanosecond before nine seconds is in time")
    func inTime() throws {
        var bench = Bench()
        #expect(try bench.submit(.deliver()) == ["request 1", "row 1.0 started", "start 1.0 crm"])
        bench.started(1)
        bench.at(Self.almostNine)
        #expect(bench.clock() == [])
        #expect(bench.finished(1) == ["update 1.0 handled", "end 1.0 handled"])
        #expect(bench.end(1)?.exec == Self.almostNine)
        #expect(bench.nextDue == nil)
    }

    @Test("a handler that ends at nine seconds missed it, whatever its answer")
    func atTheDeadline() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(9))
        #expect(bench.finished(1) == [])
        #expect(bench.clock() == ["stop 1.0", "update 1.0 timed_out", "end 1.0 timed_out"])
        #expect(bench.end(1)?.reason == "not finished at the deadline")
        #expect(bench.finished(1) == [])
    }

    @Test("the clock ends an invocation at its deadline, not before, and once")
    func clock() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.nextDue == .seconds(9))
        bench.at(Self.almostNine)
        #expect(bench.clock() == [])
        bench.at(.seconds(9))
        #expect(bench.clock() == ["stop 1.0", "update 1.0 timed_out", "end 1.0 timed_out"])
        #expect(bench.clock() == [])
        #expect(bench.router.handlersRunning == 0)
    }

    @Test("an event after the deadline starts nothing, even before the clock event")
    func lateWithoutClock() throws {
        var bench = Bench(.testing(.relay, places: 1))
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "phone"))
        try bench.submit(.deliver(to: "tablet"))
        bench.started(1)
        bench.at(.seconds(9))
        #expect(bench.handle(.reconfigured(.testing(places: 64))) == [])
        #expect(bench.handle(.failedToStart(.init(1), reason: "late")) == [])
        bench.clock()
        #expect([1, 2, 3].map { bench.outcome($0) } == [.timedOut, .expired, .expired])
        #expect(bench.end(2)?.reason == "still waiting in its lane")
    }

    @Test("a requested start that is never reported expires, and the handler is stopped all the same")
    func neverStarted() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.at(.seconds(9))
        #expect(bench.clock() == ["stop 1.0", "update 1.0 expired", "end 1.0 expired"])
        #expect(bench.end(1)?.reason == "no handler was started in time")
        #expect(bench.started(1) == [])
        #expect(bench.end(1)?.queue == .seconds(9), "it ran for no time")
        #expect(bench.end(1)?.exec == .zero)
        #expect(bench.ledger.rows[InvocationID(seq: SequenceNumber(1), n: 0)]?.started == false)
    }

    @Test(
        "in device mode the time counts from the invocation, in relay mode from acceptance",
        arguments: [
            (DispatchMode.device, Duration.seconds(14)), (.relay, .seconds(10)),
        ])
    func whichClock(mode: DispatchMode, deadline: Duration) throws {
        var bench = Bench(.testing(mode))
        try bench.submit(.deliver(to: "phone"))
        bench.started(1)
        bench.at(.seconds(1))
        try bench.submit(.deliver(to: "phone"))
        bench.at(.seconds(5))
        #expect(bench.finished(1).last == "start 2.0 crm")
        bench.started(2)
        #expect(bench.nextDue == deadline)
        bench.at(deadline)
        bench.clock()
        let end = try #require(bench.end(2))
        #expect(end.outcome == .timedOut)
        #expect(end.queue == .seconds(4))
        #expect(end.exec == deadline - .seconds(5))
        #expect(end.total == deadline - .seconds(1))
    }

    @Test("in device mode a lack of places counts against the handler")
    func shortageCounts() throws {
        var bench = Bench(.testing(places: 1))
        try bench.submit(.deliver())
        bench.started(1)
        #expect(try bench.submit(.deliver()) == ["request 2", "row 2.0"])
        bench.at(.seconds(9))
        bench.clock()
        #expect(bench.outcome(2) == .expired)
        #expect(bench.end(2)?.queue == .seconds(9))
        #expect(bench.end(2)?.exec == .zero)
    }

    @Test(
        "a route may give less time than the budget, never more",
        arguments: [
            (Duration.seconds(4), Duration.seconds(4)), (.seconds(20), .seconds(9)),
        ])
    func routeBudget(asked: Duration, given: Duration) throws {
        var bench = Bench(.testing(routes: [.all(to: "crm", budget: asked)]))
        try bench.submit(.deliver())
        #expect(bench.nextDue == given)
        #expect(bench.row(1)?.budget == given)
        #expect(bench.runs[.init(1)]?.deadline == bench.row(1)?.deadline)
    }

    @Test("SIGTERM comes the grace before the deadline; a handler that it ends timed out")
    func grace() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", grace: .seconds(2))]))
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.nextDue == .seconds(7))
        bench.at(.seconds(7))
        #expect(bench.clock() == ["terminate 1.0"])
        bench.at(.seconds(8))
        #expect(bench.finished(1, 0, .signaled(15)) == ["update 1.0 timed_out", "end 1.0 timed_out"])
        #expect(bench.end(1)?.reason == "the handler was ended by SIGTERM before its deadline (Grace=)")
    }

    @Test(
        "a handler that exits by itself in its grace gets the outcome of its exit",
        arguments: [
            (HandlerAnswer(exitStatus: 0), Outcome.handled), (HandlerAnswer(exitStatus: 1), .failed),
            (.signaled(9), .failed),
        ])
    func exitInGrace(answer: HandlerAnswer, outcome: Outcome) throws {
        var bench = Bench(.testing(handlers: [.exec("crm", grace: .seconds(2))]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(7))
        bench.clock()
        bench.finished(1, 0, answer)
        #expect(bench.outcome(1) == outcome)
    }

    @Test("a SIGTERM that the daemon did not send is a failure")
    func foreignSignal() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", grace: .seconds(2))]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .signaled(15))
        #expect(bench.end(1)?.outcome == .failed)
        #expect(bench.end(1)?.reason == "ended by signal 15 (SIGTERM)")
    }

    @Test("a handler in its grace is still stopped at the deadline")
    func stoppedInGrace() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", grace: .seconds(2))]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(8))
        bench.clock()
        bench.at(.seconds(9))
        #expect(bench.clock().first == "stop 1.0")
        #expect(bench.outcome(1) == .timedOut)
    }

    @Test("a handler that starts with less than its grace left gets no SIGTERM")
    func lateStart() throws {
        var bench = Bench(.testing(.relay, handlers: [.exec("crm", grace: .seconds(2))], places: 1))
        try bench.submit(.deliver())
        bench.started(1)
        try bench.submit(.deliver())
        bench.at(.seconds(7))
        #expect(bench.clock() == ["terminate 1.0"])
        bench.at(.seconds(8))
        #expect(bench.finished(1, 0, .rejected(reason: "no")).last == "start 2.0 crm")
        bench.started(2)
        #expect(bench.clock() == [])
        bench.at(.seconds(9))
        #expect(bench.clock() == ["stop 2.0", "update 2.0 timed_out", "end 2.0 timed_out"])
    }

    @Test("the SIGTERM of a handler that declined does not count for the next route's")
    func graceOfAnotherRoute() throws {
        let routes: [Route] = [.all(to: "first"), .all(to: "second")]
        var bench = Bench(
            .testing(
                routes: routes, handlers: [.exec("first", grace: .seconds(5)), .exec("second", grace: .seconds(1))]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .declined)
        bench.started(1)
        bench.at(.seconds(4))
        #expect(bench.clock() == [])
        #expect(bench.nextDue == .seconds(8))
        bench.at(.seconds(8))
        #expect(bench.clock() == ["terminate 1.0"])
    }

    @Test("the SIGTERM of an attempt does not count for the next attempt")
    func graceOfAnEarlierTry() throws {
        var bench = Bench(.testing(.relay, handlers: [.exec("crm", grace: .seconds(2))]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.at(.seconds(7))
        bench.clock()
        bench.finished(1, 0, .retry(after: .milliseconds(1)))
        bench.at(.milliseconds(7001))
        #expect(bench.clock() == ["update 1.0 started", "start 1.0 crm"])
        bench.started(1)
        bench.finished(1, 0, .signaled(15))
        #expect(bench.outcome(1) == .failed)
    }

    @Test("an obsolete deadline sets no timer")
    func staleTimers() throws {
        var bench = Bench(.testing(handlers: [.exec("crm", grace: .seconds(2))]))
        for seq in 1...3 as ClosedRange<Int64> {
            bench.at(.seconds(seq))
            try bench.submit(.deliver())
            bench.started(seq)
        }
        bench.finished(1)
        #expect(bench.nextDue == .seconds(9))
        bench.finished(3)
        bench.finished(2)
        #expect(bench.nextDue == nil)
    }
}
