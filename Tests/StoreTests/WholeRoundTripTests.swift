import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// The path of records into a ledger.
enum Way: CaseIterable {
    /// From memory, as they were submitted.
    case memory
    /// Read back from the log by the thread that writes the ledger, because too much is in memory.
    case readBack
    /// Read from the log by the next start.
    case nextStart
}

extension Way {
    /// A ledger with the records of the batches.
    func ledger(_ path: String, _ batches: [[LedgerRecord]]) async throws -> TestLedger {
        let ledger = try TestLedger(path)
        guard self != .memory else {
            for batch in batches { try await ledger.commit(batch) }
            return ledger
        }
        // While this transaction is open, the ledger applies nothing from the log.
        let rawConnection = try ledger.secondConnection()
        try rawConnection.execute("BEGIN IMMEDIATE")
        var last: UInt64 = 0
        if self == .readBack { last = try ledger.write([.request(Fixture.request(9001, bytes: Backlog.memoryLimit))]) }
        for batch in batches { last = try ledger.write(batch) }
        if self == .readBack {
            try rawConnection.execute("ROLLBACK")
            ledger.committer.expedite(through: last)
            try await ledger.applied(last)
            return ledger
        }
        guard case .ledgerStalled = try await ledger.report() else {
            Issue.record("the ledger did not stall")
            return ledger
        }
        ledger.committer.stop()
        try rawConnection.execute("ROLLBACK")
        let next = try TestLedger(path)
        #expect(next.committer.recovery.batches == batches.count && next.committer.recovery.setAside == nil)
        return next
    }
}

@Suite("Every field of every record", .timeLimit(.minutes(30)))
final class WholeRoundTripTests {
    private let directory = TemporaryDirectory()

    @Test("is in the ledger as written, by each path", arguments: Way.allCases)
    func every(way: Way) async throws {
        let reader = try await way.ledger(directory.path, [Whole.records]).reader()
        #expect(try reader.audit(after: 0, limit: 9).map(\.record) == Whole.acts)
        for request in Whole.requests { #expect(try reader.story(of: request.seq)?.request == request) }
        let story = try #require(try reader.story(of: Whole.number(101)))
        #expect(story.invocations == Whole.invocations)
        #expect(story.attempts == Whole.attempts)
        var letters = story.deadLetters
        // The ledger adds the size of the attempt: 44 bytes of texts, and 64.
        for place in letters.indices { letters[place].byteCount -= 108 }
        #expect(letters == Whole.deadLetters)
        #expect(story.verdict == Whole.interactions[0].verdict)
        #expect(story.entries == [Whole.entries[0]])
        #expect(try reader.story(of: Whole.number(102))?.entries == [Whole.entries[1]])
        #expect(
            try reader.events(after: 0, limit: 9).map(\.event)
                == Whole.events + Whole.tracked.map { Fixture.event($0.seq.value) })
        #expect(try reader.knownDevices() == Whole.devices)
        for fanOut in Whole.fanOuts { #expect(try reader.fanOut(of: fanOut.seq) == fanOut) }
        #expect(try reader.lastConfiguration() == Whole.configurations[1])
        #expect(
            try reader.configuration(of: Whole.number(1400))
                == DecidingConfiguration(Whole.configurations[0], isInForce: false))
        #expect(try reader.pendingStarts() == Whole.pendingStarts)
        #expect(try reader.heldInteractions() == Whole.held)
        #expect(try reader.sendingState() == Whole.sending[1])
        #expect(try reader.gaps() == Whole.gaps)
        #expect(try reader.producers() == Whole.producers)
        // On this path a request with a higher number was accepted before, which counts as later.
        if way != .readBack { #expect(try reader.lastAlive() == Whole.lifeSigns[1].at) }
        #expect(try reader.lastBelieved() == Whole.lifeSigns[1].believed)
        var (tracked, interactions) = ([TrackedRow](), [InteractionRow]())
        var (sessions, starts) = ([SessionRow](), [StartsRow]())
        try reader.trackedDeliveries(newest: 9) { row, _ in tracked.append(row) }
        try reader.sessions { sessions.append($0) }
        try reader.sessionStarts { starts.append($0) }
        try reader.interactions { interactions.append($0.row) }
        #expect(tracked == Whole.tracked && sessions == Whole.sessions && starts == Whole.starts)
        #expect(interactions == Whole.interactions)
        let owners = Whole.attributes.map(\.owner)
        let attributes = try owners.flatMap { try reader.attributes(of: $0) }
        #expect(attributes.map(\.owner) == owners && attributes.map(\.value) == ["\"a\"", "2922"])
        #expect(attributes.map(\.kind) == Whole.attributes.map(\.kind))
        #expect(attributes.map(\.name) == Whole.attributes.map(\.name))
        #expect(attributes.map(\.setAt) == Whole.attributes.map(\.at))
        #expect(attributes.map(\.entry) == Whole.attributes.map(\.entry))
    }

    @Test("of an invocation is replaced by an update, by each path", arguments: Way.allCases)
    func update(way: Way) async throws {
        var (first, second) = (Whole.invocations[0], Whole.invocations[1])
        second.id = first.id
        let ledger = try await way.ledger(
            directory.path, [[.request(Whole.requests[0]), .invocation(first)], [.update(second)]])
        #expect(try ledger.reader().story(of: first.id.seq)?.invocations == [second])
        let bare = InvocationRecord(
            id: first.id, callback: .none, provider: nil, route: nil, handler: nil, budget: .zero, deadline: nil,
            started: false, result: nil)
        try await ledger.commit([.update(bare)])
        #expect(try ledger.reader().story(of: first.id.seq)?.invocations == [bare], "nothing stays of what was")
        first.result?.completion?.options = []
        try await ledger.commit([.update(first)])
        #expect(try ledger.reader().story(of: first.id.seq)?.invocations == [first])
    }

    @Test("of a stopped handler's output is in its last attempt, by each path", arguments: Way.allCases)
    func output(way: Way) async throws {
        var attempts = [Whole.attempts[0], Whole.attempts[0], Whole.attempts[1]]
        attempts[1].output = nil
        let output = ErrorOutput(Array("late".utf8), cut: 7)
        let start: [LedgerRecord] = [.request(Whole.requests[0])] + Whole.invocations.map { .invocation($0) }
        let records = start + attempts.map { .attempt($0) } + Whole.deadLetters.map { .deadLetter($0) }
        let ledger = try await way.ledger(
            directory.path, [records, [.output(attempts[1].id, output), .noDeadLetters(Whole.number(101))]])
        attempts[1].output = output
        let story = try #require(try ledger.reader().story(of: Whole.number(101)))
        #expect(story.attempts == attempts)
        #expect(story.deadLetters == [], "they were replayed or purged")
    }

    @Test(
        "of a record with a number is replaced by a later record with that number, by each path",
        arguments: Way.allCases)
    func replaced(way: Way) async throws {
        var (device, session, start) = (Whole.devices[1], Whole.sessions[1], Whole.starts[1])
        (device.number, session.number, start.number) = (Whole.number(31), Whole.number(33), Whole.number(35))
        let reader = try await way.ledger(
            directory.path,
            [
                [
                    .device(Whole.devices[0]), .subscriptions(Whole.subscriptionChanges[0]),
                    .tracker(.session(Whole.sessions[0])), .tracker(.starts(Whole.starts[0])),
                ],
                [.device(device), .tracker(.session(session)), .tracker(.starts(start))],
            ]
        ).reader()
        var (sessions, starts) = ([SessionRow](), [StartsRow]())
        try reader.sessions { sessions.append($0) }
        try reader.sessionStarts { starts.append($0) }
        device.detail.topics = Whole.devices[0].detail.topics
        #expect(try reader.knownDevices() == [device], "the subscriptions stay")
        #expect(sessions == [session] && starts == [start])
    }

    @Test("of an entry's move is in the entry afterwards, by each path", arguments: Way.allCases)
    func moves(way: Way) async throws {
        let entries: [LedgerRecord] = Whole.entries.map { .customData(.entry($0.entry, $0.state, problem: $0.problem)) }
        let moves: [LedgerRecord] = Whole.moves.map { .customData(.moved($0)) }
        let requests: [LedgerRecord] = Whole.requests.map { .request($0) }
        let reader = try await way.ledger(directory.path, [requests + entries, moves]).reader()
        for (entry, move) in zip(Whole.entries, Whole.moves) {
            var expected = entry
            (expected.state, expected.settledAt, expected.settledBy) = (move.state, move.at, move.by)
            (expected.claimant, expected.reason) = (move.claimant, move.reason)
            expected.problem = move.state == .rejected ? EntryProblem(.blamedByEndpoint, move.reason ?? "") : nil
            #expect(try reader.story(of: entry.entry.cause)?.entries == [expected])
        }
    }

    @Test(
        "of a tracked delivery's open and influenced open is in it afterwards, by each path", arguments: Way.allCases)
    func opened(way: Way) async throws {
        var rows = Whole.tracked
        for index in rows.indices { (rows[index].opened, rows[index].isInfluenced) = (nil, false) }
        let deliveries = rows.flatMap { row -> [LedgerRecord] in
            [.event(Fixture.event(row.seq.value)), .tracker(.delivery(row))]
        }
        let ledger = try await way.ledger(
            directory.path,
            [
                deliveries,
                [
                    .tracker(.opened(rows[0].seq, at: Whole.time(71), by: Whole.number(72))),
                    .tracker(.influenced(rows[1].seq)),
                ],
            ])
        rows[0].opened = .init(at: Whole.time(71), by: Whole.number(72))
        rows[1].isInfluenced = true
        #expect(try ledger.tracked() == rows)
    }
}
