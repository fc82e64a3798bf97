import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Custom data in the ledger", .timeLimit(.minutes(30)))
final class CustomDataTests {
    private let directory = TemporaryDirectory()

    private func ledger(_ records: CustomDataRecord...) async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(records.map { .customData($0) })
        return ledger
    }

    private static func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    private func move(
        _ number: Int64, _ state: EntryState, at: Int64 = 7, by: Int64? = nil, claimant: UUID128? = nil,
        reason: String? = nil
    ) -> LedgerRecord {
        .customData(
            .moved(
                EntryMove(
                    number: EntryNumber(number), state: state, at: Self.time(at), by: by.map { SequenceNumber($0) },
                    claimant: claimant, reason: reason)))
    }

    private func unfinished(_ ledger: TestLedger) throws -> [String] {
        var found: [String] = []
        try ledger.reader().unfinishedEntries { record in
            found.append("\(record.entry.number) \(record.state)\(record.claimant.map { " \($0.low)" } ?? "")")
        }
        return found
    }

    private static let destinations: [EntryDestination] = [
        .stored(suite: ""), .stored(suite: "group.com.shop"), .sent(.externalID("u")), .sent(.brazeID("")),
        .sent(.alias(name: "n", label: "l")),
    ]

    @Test("returns an entry as it was saved, for every way of sending", arguments: destinations, RoundTripTests.texts)
    func roundTrip(destination: EntryDestination, text: String?) async throws {
        var entry = Fixture.entry(StoredRange.number.upperBound)
        (entry.destination, entry.app, entry.device, entry.externalID, entry.name) = (
            destination, text, text, text, text
        )
        (entry.kind, entry.platform) = (.userAttributes, .ios)
        (entry.data, entry.time) = (Array((text ?? "").utf8), Self.time(StoredRange.time.lowerBound))
        let problem = EntryProblem(.tooLong, text ?? "", field: text ?? "")
        let ledger = try await ledger(
            .entry(Fixture.entry(1, cause: 2), .queued, problem: nil), .entry(entry, .rejected, problem: problem))
        #expect(
            try ledger.reader().entries(of: entry.cause) == [
                EntryRecord(entry: entry, state: .rejected, problem: problem)
            ])
        let other = try ledger.reader().entries(of: SequenceNumber(2))
        #expect(other == [EntryRecord(entry: Fixture.entry(1, cause: 2), state: .queued)])
    }

    @Test("returns the unfinished entries in order of numbers, with the run that claimed each")
    func unfinished() async throws {
        let ledger = try await ledger(
            .entry(Fixture.entry(3), .pending, problem: nil), .entry(Fixture.entry(1), .queued, problem: nil),
            .entry(Fixture.entry(2), .queued, problem: nil),
            .entry(Fixture.entry(4), .rejected, problem: EntryProblem(.tooLong, "no")),
            .entry(Fixture.entry(5), .pending, problem: nil))
        #expect(try unfinished(ledger) == ["1 queued", "2 queued", "3 pending", "5 pending"])
        try await ledger.commit([
            move(1, .claimed, claimant: UUID128(high: 1, low: 9)),
            move(2, .claimed, claimant: UUID128(high: 1, low: 9)),
            move(5, .discarded), move(3, .flushed, by: 8),
        ])
        #expect(try unfinished(ledger) == ["1 claimed 9", "2 claimed 9"])
        try await ledger.commit([move(1, .unknown, reason: "it went away"), move(2, .sent)])
        #expect(try unfinished(ledger) == ["1 unknown"])
        let stored = try ledger.reader().entries(of: SequenceNumber(1))
        #expect(stored.map(\.state) == [.unknown, .sent, .flushed, .rejected, .discarded])
        #expect(stored.map(\.settledAt) == [Self.time(7), Self.time(7), Self.time(7), nil, Self.time(7)])
        #expect(stored.map(\.settledBy) == [nil, nil, SequenceNumber(8), nil, nil])
        #expect(stored.map(\.reason) == ["it went away", nil, nil, "no", nil])
    }

    @Test("finds unfinished entries, finished entries, and users by a value, each by an index")
    func plans() async throws {
        let ledger = try await ledger()
        func plan(_ sql: String) throws -> String {
            let database = try ledger.secondConnection()
            let statement = try database.prepare("EXPLAIN QUERY PLAN " + sql)
            var plan = ""
            while try statement.step() { plan += (statement.text(3) ?? "") + "\n" }
            return plan
        }
        #expect(
            try plan(
                "SELECT * FROM entries INDEXED BY entries_unfinished WHERE \(EntryFilter.isUnfinished) "
                    + "ORDER BY number") == "SCAN entries USING INDEX entries_unfinished\n")
        #expect(
            try plan(
                "SELECT number FROM entries INDEXED BY entries_finished WHERE \(EntryFilter.isFinished) "
                    + "AND coalesce(settled_at, saved_at) < 5"
            ).hasPrefix("SEARCH entries USING INDEX entries_finished (state=? AND <expr><?)"))
        let users = try plan(LedgerReader.candidates)
        #expect(users.contains("USING INDEX attributes_by_value (name=? AND <expr>=? AND"), "\(users)")
        #expect(users.contains("(name=? AND <expr>>? AND <expr><?)"), "\(users)")
    }

    @Test("reports a move of a missing entry as an error of the program")
    func moveOfNothing() async throws {
        let ledger = try await ledger()
        ledger.submit([move(4, .sent)])
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("it was written")
            return
        }
        #expect(error.message == "a row changes entry 4 of custom data, which the ledger does not have")
    }

    @Test("tells the parts that a request's reply rejected from the entries that the endpoint refused")
    func rejected() async throws {
        let ledger = try await ledger(
            .entry(Fixture.entry(1), .pending, problem: nil),
            .entry(
                Fixture.entry(2), .rejected, problem: EntryProblem(.reservedName, "reserved", field: "properties.time")),
            .entry(Fixture.entry(3), .queued, problem: nil),
            .entry(Fixture.entry(4, cause: 2), .rejected, problem: EntryProblem(.missing, "other")))
        try await ledger.commit([move(3, .rejected, reason: "the endpoint said no")])
        try await ledger.commit([.request(Fixture.request(1))])
        let story = try ledger.reader().story(of: SequenceNumber(1))
        #expect(story?.entries.map(\.entry.number.value) == [1, 2, 3])
        #expect(story?.entries.map(\.wasRejectedOnArrival) == [false, true, false])
        #expect(story?.entries[1].reason == "properties.time: reserved")
        #expect(
            story?.entries.map(\.problem) == [
                nil, EntryProblem(.reservedName, "reserved", field: "properties.time"),
                EntryProblem(.blamedByEndpoint, "the endpoint said no"),
            ])
    }

    @Test("keeps only the last sending state")
    func sending() async throws {
        let ledger = try await ledger()
        #expect(try ledger.reader().sendingState() == nil)
        for phase in SendingState.Phase.allCases {
            let isWaiting = phase == .waiting
            let state = SendingState(
                phase: phase, reason: isWaiting ? "429" : nil, failures: isWaiting ? 3 : 0,
                until: isWaiting ? Self.time(9) : nil, since: Self.time(-1))
            try await ledger.commit([.customData(.sending(state))])
            #expect(try ledger.reader().sendingState() == state)
        }
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM sending") == 1)
    }

    @Test("returns a custom event with its name and properties")
    func event() async throws {
        let ledger = try await ledger()
        var event = Fixture.event(1, .customEvent)
        event.content = .customEvent(name: "bought", properties: #"{"price":1.50}"#)
        try await ledger.commit([.event(event), .event(Fixture.event(2))])
        #expect(try ledger.reader().events(after: 0, limit: 9).map(\.event) == [event, Fixture.event(2)])
    }
}

@Suite("Entries for people", .timeLimit(.minutes(30)))
final class EntryFilterTests {
    private let directory = TemporaryDirectory()

    /// Entries 1 to 5 in two suites, 6 sent, 7 rejected, 8 flushed.
    private func ledger() async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        var sent = Fixture.entry(6, savedAt: 600)
        sent.destination = .sent(.brazeID("b"))
        let stored = (1...5).map { number in
            Fixture.entry(
                number, suite: number.isMultiple(of: 2) ? "group" : "standard", data: #"{"n":1}"#,
                savedAt: number * 100)
        }
        var other = Fixture.entry(7, savedAt: 700)
        other.app = nil
        try await ledger.commit(
            stored.map { .customData(.entry($0, .pending, problem: nil)) } + [
                .customData(.entry(sent, .queued, problem: nil)),
                .customData(.entry(other, .rejected, problem: EntryProblem(.tooLong, "no"))),
                .customData(.entry(Fixture.entry(8, savedAt: 800), .pending, problem: nil)),
                .customData(
                    .moved(EntryMove(number: EntryNumber(8), state: .flushed, at: WallTime(milliseconds: 950)))),
            ])
        return ledger
    }

    @Test(
        "are found by state, suite and app, the oldest first",
        arguments: [
            (EntryFilter(states: [.pending, .queued]), [1, 2, 3, 4, 5, 6]),
            (EntryFilter(states: [.pending], suite: "group"), [2, 4]),
            (EntryFilter(states: [.rejected, .flushed]), [7, 8]),
            (EntryFilter(states: [.rejected], app: "com.example.shop"), []),
            (EntryFilter(states: Set(EntryState.allCases), app: "com.example.shop"), [1, 2, 3, 4, 5, 6, 8]),
            (EntryFilter(states: [.queued], suite: "standard"), []),
        ] as [(EntryFilter, [Int64])])
    func filter(filter: EntryFilter, expected: [Int64]) async throws {
        let reader = try await ledger().reader()
        var found: [Int64] = []
        try reader.entries(filter) { found.append($0.entry.number.value) }
        #expect(found == expected)
        found = []
        try reader.entries(filter, limit: 2) { found.append($0.entry.number.value) }
        #expect(found == Array(expected.prefix(2)))
        #expect(try reader.entryCounts(filter).reduce(0) { $0 + $1.count } == expected.count)
    }

    @Test("are counted by suite and state, with bytes of names and values and the oldest")
    func counts() async throws {
        let counts = try await ledger().reader().entryCounts(EntryFilter(states: [.pending, .queued]))
        func count(_ suite: String?, _ state: EntryState, _ count: Int, _ bytes: Int, _ oldest: Int64) -> EntryCount {
            EntryCount(
                suite: suite, state: state, count: count, bytes: bytes, oldest: WallTime(milliseconds: oldest))
        }
        #expect(
            counts == [
                count(nil, .queued, 1, 8, 600), count("group", .pending, 2, 26, 200),
                count("standard", .pending, 3, 39, 100),
            ])
    }

    @Test("show a custom event from being saved to its end")
    func delays() async throws {
        let reader = try await ledger().reader()
        func delays(_ start: Int64?, _ end: Int64?) throws -> [EntryDelay] {
            var delays: [EntryDelay] = []
            let (start, end) = (start.map(WallTime.init(milliseconds:)), end.map(WallTime.init(milliseconds:)))
            try reader.customEventDelays(from: start, to: end) { delays.append($0) }
            return delays
        }
        let flushed = EntryDelay(
            name: "bought", state: .flushed, savedAt: WallTime(milliseconds: 800),
            settledAt: WallTime(milliseconds: 950))
        #expect(try delays(nil, nil) == [flushed])
        #expect(try delays(800, 801) == [flushed])
        #expect(try delays(801, nil) == [] && delays(nil, 800) == [])
    }
}

@Suite("Pruning of custom data", .timeLimit(.minutes(30)))
struct CustomDataPruneTests {
    @Test("removes entries that ended before the cutoff, whatever the age of their requests, and no unfinished entry")
    func prune() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let states: [EntryState] = [.pending, .queued, .claimed, .unknown, .flushed, .sent, .rejected, .discarded]
        let old = states.indices.map { Fixture.entry(Int64($0) + 1, savedAt: 0) }
        var records: [LedgerRecord] = old.map { .customData(.entry($0, .pending, problem: nil)) }
        records += zip(old, states).map { entry, state in
            let claimant = state == .claimed ? UUID128(high: 1, low: 9) : nil
            return .customData(
                .moved(
                    EntryMove(
                        number: entry.number, state: state, at: WallTime(milliseconds: 50), claimant: claimant)))
        }
        records.append(
            .customData(.entry(Fixture.entry(20, savedAt: 49), .rejected, problem: EntryProblem(.tooLong, "no"))))
        records.append(
            .customData(.entry(Fixture.entry(21, savedAt: 50), .rejected, problem: EntryProblem(.tooLong, "no"))))
        records.append(
            .customData(
                .attribute(
                    AttributeRow(
                        owner: .user("u1"), kind: .customAttributes, name: "a", change: .set(Array("1".utf8)),
                        at: WallTime(milliseconds: 0), entry: EntryNumber(5)))))
        try await ledger.commit(records + Fixture.delivery(1, acceptedAt: 100))

        ledger.committer.prune(olderThan: WallTime(milliseconds: 50))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try numbers(ledger) == [1, 2, 3, 4, 5, 6, 7, 8, 21])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 51))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try numbers(ledger) == [1, 2, 3, 4])
        #expect(try ledger.reader().highestEntryNumber() == EntryNumber(21), "no number is given again")
        #expect(try ledger.reader().attributes(of: .user("u1")).map(\.name) == ["a"], "a profile says what is")
    }

    @Test("takes as many slices as it needs")
    func slices() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.reader().highestEntryNumber() == EntryNumber(0))
        try await ledger.commit(
            (1...600).map { .customData(.entry(Fixture.entry($0, savedAt: $0), .rejected, problem: nil)) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 600))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try numbers(ledger) == [600])
    }

    private func numbers(_ ledger: TestLedger) throws -> [Int64] {
        var numbers: [Int64] = []
        try ledger.reader().entries(EntryFilter(states: Set(EntryState.allCases))) {
            numbers.append($0.entry.number.value)
        }
        return numbers
    }
}
