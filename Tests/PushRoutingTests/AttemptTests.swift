import Testing

@testable import PushModel
@testable import PushRouter

/// The rows of the ledger about the answers of handlers.
@Suite("Attempts", .timeLimit(.minutes(30)))
struct AttemptTests {
    private func answers(_ bench: Bench) -> [AttemptRecord.Answer] { bench.ledger.attempts.map(\.answer) }

    @Test("an attempt that is handled at once without output has no row")
    func handledAtOnce() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        #expect(bench.finished(1) == ["update 1.0 handled", "end 1.0 handled"])
        #expect(bench.ledger.attempts == [] && bench.ledger.deadLetters == [])
    }

    @Test("the output of an attempt on standard error is stored, even when it is handled at once")
    func output() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.handle(.observed(.init(1), RunFacts(status: 0, output: ErrorOutput(Array("careful".utf8)))))
        bench.finished(1)
        #expect(answers(bench) == [.handled])
        #expect(bench.ledger.attempts.first?.output?.text == "careful")
    }

    @Test("each attempt stores its times since acceptance and its own observed facts")
    func times() throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.at(.milliseconds(10))
        bench.started(1)
        bench.at(.milliseconds(30))
        bench.handle(.observed(.init(1), RunFacts(status: 75)))
        bench.finished(1, 0, .retry(after: .milliseconds(100), reason: "the queue is full"))
        bench.at(.milliseconds(130))
        bench.clock()
        bench.started(1)
        bench.at(.milliseconds(140))
        bench.finished(1)
        let id = InvocationID(1)
        #expect(
            bench.ledger.attempts == [
                AttemptRecord(
                    id: id, route: "all-crm", handler: "crm", asked: .zero, started: .milliseconds(10),
                    ended: .milliseconds(30), answer: .retry, status: 75, retryAfter: .milliseconds(100),
                    reason: "the queue is full"),
                AttemptRecord(
                    id: id, route: "all-crm", handler: "crm", asked: .milliseconds(130), started: .milliseconds(130),
                    ended: .milliseconds(140), answer: .handled, number: 2, numberOfHandler: 2),
            ])
        #expect(bench.runs[id]?.attempt == 2)
    }

    @Test("numbers, times and the count of Retry= continue after a restart of the daemon", arguments: [true, false])
    func overRestarts(isIdempotent: Bool) throws {
        let handler = Handler(
            name: "crm", kind: .exec(.init(arguments: ["/x"])), idempotent: isIdempotent, retries: 2)
        var bench = Bench(.testing(.relay, handlers: [handler]))
        try bench.submit(.deliver())
        let id = InvocationID(1)
        for number in 1...3 {
            #expect(bench.runs[id]?.attempt == number)
            bench.started(1)
            bench.at(.milliseconds(Int64(number) * 100))
            bench.finished(1, 0, .retry(after: .zero, reason: "not yet"))
            if number < 3 { bench.crash() }
        }
        #expect(bench.end(1)?.reasonCode == .retriesUsedUp)
        #expect(bench.ledger.attempts.map(\.number) == [1, 2, 3])
        #expect(bench.ledger.attempts.map(\.numberOfHandler) == [1, 2, 3])
        let result = try #require(bench.ledger.rows[id]?.result)
        #expect(result.queue == .zero && result.exec == .milliseconds(300) && result.total == .milliseconds(300))
    }

    @Test("a handler that declines has an attempt, and so have the next route's handler and a built-in one")
    func declined() throws {
        var table = RoutingTable.testing(
            routes: [.all(to: "first"), .all(to: "second"), .all(to: "journal")],
            handlers: [.exec("first"), .exec("second"), Handler(name: "journal", kind: .journal)])
        table.mode = .relay
        var bench = Bench(table)
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .declined)
        bench.started(1)
        bench.finished(1, 0, .declined)
        #expect(bench.outcome(1) == .handled)
        #expect(bench.ledger.attempts.map(\.handler) == ["first", "second", "journal"])
        #expect(answers(bench) == [.declined, .declined, .handled])
        #expect(bench.ledger.deadLetters == [])
    }

    @Test("the deadline, a signal, a refusal and a failed start have different answers")
    func otherEnds() throws {
        var bench = Bench(.testing(.relay))
        for _ in 1...4 { try bench.submit(.deliver()) }
        for seq in 1...3 as ClosedRange<Int64> { bench.started(seq) }
        bench.finished(2, 0, .signaled(9))
        bench.finished(3, 0, .rejected(reason: "no"))
        bench.handle(.failedToStart(.init(4), reason: "no such file"))
        bench.at(.seconds(9))
        bench.clock()
        #expect(answers(bench) == [.killed, .rejected, .notStarted, .timedOut])
        #expect(bench.ledger.attempts.map(\.reason) == [nil, "no", "no such file", nil])
        #expect(bench.ledger.attempts.map(\.started) == [.zero, .zero, nil, .zero])
        #expect(bench.ledger.deadLetters.map(\.seq.value).sorted() == [1, 2, 3, 4])
    }

    @Test("device mode makes no dead letters")
    func device() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .rejected(reason: "no"))
        #expect(answers(bench) == [.rejected] && bench.ledger.deadLetters == [])
    }

    @Test("the router repeats a handler at most as often as Retry= allows")
    func retries() throws {
        let handler = Handler(name: "crm", kind: .exec(.init(arguments: ["/x"])), retries: 1)
        var bench = Bench(.testing(.relay, handlers: [handler]))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .retry(after: .milliseconds(1)))
        bench.at(.milliseconds(1))
        bench.clock()
        bench.started(1)
        bench.finished(1, 0, .retry(after: .milliseconds(1)))
        #expect(bench.end(1)?.reasonCode == .retriesUsedUp)
        #expect(answers(bench) == [.retry, .retry])
        #expect(bench.ledger.attempts.map(\.retryAfter) == [.milliseconds(1), nil])
    }

    @Test(
        "a last retry without time left is a failure: its reason has the number of attempts and the last reason",
        arguments: [
            (
                [(Duration.zero, Duration.seconds(3600), "HTTP status 429")],
                "tried once; the handler asked for another retry, but no time was left: HTTP status 429"
            ),
            (
                [(.zero, .seconds(1), "connection refused"), (.seconds(1), .seconds(8), nil)],
                "tried 2 times; the handler asked for another retry, but no time was left"
            ),
        ] as [([(Duration, Duration, String?)], String)])
    func missAfterRetry(answers: [(Duration, Duration, String?)], reason: String) throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        for (time, wait, said) in answers {
            bench.at(time)
            bench.clock()
            bench.started(1)
            bench.finished(1, 0, .retry(after: wait, reason: said))
        }
        #expect(bench.outcome(1) == .failed && bench.end(1)?.reasonCode == .notDoneAfterRetries, "broken, not late")
        #expect(bench.end(1)?.reason == reason)
    }

    @Test(
        "an attempt that begins late, finds no place or does not start leaves the reason of the one before",
        arguments: [
            .retry(after: .seconds(8), reason: "no route to host"),
            .unavailable(reason: "no route to host", after: .seconds(8)),
        ] as [HandlerAnswer])
    func missBeforeRetry(answer: HandlerAnswer) throws {
        var bench = Bench(.testing(.relay))
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, answer)
        bench.at(.seconds(8))
        #expect(bench.clock().contains("start 1.0 crm"))
        bench.at(.seconds(9))
        bench.clock()
        #expect(
            bench.end(1)?.reason
                == "tried 2 times and not finished at the deadline: no route to host")
    }

    @Test("an attempt without time left fails at once, and lets the next in its lane begin")
    func laneWaits() throws {
        var bench = Bench(.testing(.relay))
        for _ in 1...2 { try bench.submit(.deliver(to: "phone")) }
        bench.started(1)
        bench.at(.seconds(1))
        try bench.submit(.deliver(to: "phone"))
        #expect(bench.finished(1, 0, .retry(after: .seconds(60))).contains("start 2.0 crm"))
        #expect(bench.outcome(1) == .failed)
    }

    @Test("the waits double, each lasts between half and all of that, and equal numbers give equal waits")
    func backOff() {
        let rules = RetryRules(delay: .milliseconds(100), delayMax: .seconds(1))
        for (attempt, longest) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (90, 1000)] {
            let waits = (1...200 as ClosedRange<Int64>).map { rules.wait(afterAttempt: attempt, of: .init($0)) }
            #expect(waits.allSatisfy { $0 >= .milliseconds(longest / 2) && $0 <= .milliseconds(longest) })
            #expect(Set(waits).count > 20, "those of one instant spread")
            #expect(waits == (1...200 as ClosedRange<Int64>).map { rules.wait(afterAttempt: attempt, of: .init($0)) })
        }
    }

    @Test("an output keeps its end and the count of cut bytes, and contains no control character")
    func end() {
        var output = ErrorOutput()
        for chunk in [5, 4000, 300, 9000, 1, 4096, 10] {
            Array(repeating: UInt8(ascii: "x"), count: chunk).withUnsafeBytes { output.append($0) }
        }
        #expect(output.end.count == ErrorOutput.keptMax)
        #expect(output.cut == 5 + 4000 + 300 + 9000 + 1 + 4096 + 10 - ErrorOutput.keptMax)
        #expect(ErrorOutput(Array("a\u{1B}[2Jb\tc\n".utf8)).text == "a\u{FFFD}[2Jb\tc\n")
        #expect(ErrorOutput([0x82, 0xAC] + Array("x".utf8), cut: 1).text == "x")
    }
}
