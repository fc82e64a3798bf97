import CSQLite
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Dead letters in the ledger", .timeLimit(.minutes(30)))
final class DeadLetterTests {
    private let directory = TemporaryDirectory()

    /// Requests 1 to `count`, each with a dead letter of 100 bytes that is as many milliseconds old as its number.
    private func ledger(_ count: Int64) async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        for seq in 1...count {
            try await ledger.commit(
                Fixture.delivery(seq) + [
                    .attempt(
                        AttemptRecord(
                            id: InvocationID(seq: SequenceNumber(seq), n: 0), route: nil, handler: "crm", asked: .zero,
                            started: nil, ended: .zero, answer: seq == 1 ? .declined : .rejected)),
                    .deadLetter(
                        DeadLetter(
                            id: InvocationID(seq: SequenceNumber(seq), n: 0), at: WallTime(milliseconds: seq),
                            byteCount: 100)),
                ])
        }
        return ledger
    }

    private func left(_ ledger: TestLedger) throws -> [Int64] {
        try ledger.reader().deadLetters(DeadLetterFilter(), limit: 100).map(\.value).sorted()
    }

    @Test("keep their requests beyond Retention=, with their attempts, as long as they are dead letters")
    func keeps() async throws {
        let ledger = try await ledger(3)
        let everything = WallTime(milliseconds: .max)
        ledger.committer.prune(olderThan: everything)
        #expect(try await ledger.report() == .pruned(requests: 0))
        try await ledger.commit([.noDeadLetters(SequenceNumber(2))])
        ledger.committer.prune(olderThan: everything)
        #expect(try await ledger.report() == .pruned(requests: 1))
        #expect(try left(ledger) == [1, 3])
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM attempts") == 2)
    }

    /// Waits until the ledger's thread has counted the dead letters.
    private func totals(
        _ ledger: TestLedger, are expected: [String: DeadLetterTotals.Share], oldest: Int64?
    ) async throws {
        let oldest = oldest.map(WallTime.init(milliseconds:))
        for _ in 0..<6000 {
            let totals = ledger.committer.status.deadLetters
            if totals?.handlers == expected, totals?.oldest == oldest { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let found = try #require(ledger.committer.status.deadLetters)
        #expect(found.handlers == expected && found.oldest == oldest, "\(found)")
        let all = try ledger.reader().deadLetterTotals()
        #expect(found.all == DeadLetterTotals.Share(count: all.count, bytes: all.bytes))
    }

    @Test("are counted by handler as they come, are replayed, expire and are read by a start")
    func counted() async throws {
        let ledger = try TestLedger(directory.path)
        try await totals(ledger, are: [:], oldest: nil)
        for seq in Int64(1)...4 {
            let id = InvocationID(seq: SequenceNumber(seq), n: 0)
            var invocation = Fixture.invocation(seq, outcome: .failed)
            invocation.handler = seq == 4 ? nil : seq == 3 ? "sms" : "crm"
            try await ledger.commit([
                .request(Fixture.request(seq)), .invocation(invocation),
                .deadLetter(DeadLetter(id: id, at: WallTime(milliseconds: seq), byteCount: 100)),
            ])
        }
        let share = { (count: Int) in DeadLetterTotals.Share(count: count, bytes: 100 * count) }
        try await totals(ledger, are: ["crm": share(2), "sms": share(1), "(none)": share(1)], oldest: 1)
        try await ledger.commit([.noDeadLetters(SequenceNumber(1)), .noDeadLetters(SequenceNumber(9))])
        try await totals(ledger, are: ["crm": share(1), "sms": share(1), "(none)": share(1)], oldest: 2)
        let limits = DeadLetterLimits(cutoff: WallTime(milliseconds: .min), byteCountMax: 200)
        ledger.committer.prune(olderThan: WallTime(milliseconds: .min), deadLetters: limits)
        #expect(try await ledger.report() == .pruned(requests: 0, deadLetters: 1, deadLettersBySize: 1))
        try await totals(ledger, are: ["sms": share(1), "(none)": share(1)], oldest: 3)
        ledger.committer.stop()
        try await totals(try TestLedger(directory.path), are: ["sms": share(1), "(none)": share(1)], oldest: 3)
    }

    @Test("with thousands of attempts store the first and the last ones, their output, and the count of the others")
    func manyAttempts() async throws {
        let ledger = try TestLedger(directory.path)
        var open = Fixture.invocation(1, outcome: nil)
        try await ledger.commit([.request(Fixture.request(1)), .invocation(open)])
        let (count, output) = (2000, ErrorOutput(Array(repeating: 65, count: 4000)))
        let records = (1...count).map { number in
            LedgerRecord.attempt(
                AttemptRecord(
                    id: open.id, route: nil, handler: "crm", asked: .zero, started: .zero, ended: .zero, answer: .retry,
                    reason: "not yet", output: output, number: number, numberOfHandler: number))
        }
        try await ledger.commit(records)
        #expect(
            try ledger.reader().pendingAttempts()[open.id].map { [$0.count, $0.countOfHandler] } == [count, count])
        open.result = Fixture.invocation(1, outcome: .failed).result
        let letter = DeadLetter(id: open.id, at: WallTime(milliseconds: 1), byteCount: 100)
        try await ledger.commit([.update(open), .deadLetter(letter)])
        let story = try #require(try ledger.reader().story(of: SequenceNumber(1)))
        let last = count - AttemptRecord.keptLast + 1
        #expect(story.attempts.map(\.number) == Array(1...AttemptRecord.keptFirst) + Array(last...count))
        #expect(
            story.attempts.filter { $0.output?.end.isEmpty == false }.map(\.number) == [1, count - 2, count - 1, count])
        #expect(story.attempts.allSatisfy { $0.output.map { $0.end.count + $0.cut } == 4000 })
        #expect(story.attemptsLeftOut == [0: count - AttemptRecord.keptFirst - AttemptRecord.keptLast])
        // The limit counts the stored bytes: the line, four outputs, and little for each attempt.
        let bytes = try ledger.reader().deadLetterTotals().bytes
        #expect(bytes > 16_100 && bytes < 20_000, "\(bytes)")
        var answers: [Int] = []
        try ledger.reader().answers { answers.append($2) }
        #expect(answers == [count], "the figures are of all of them")
        ledger.committer.stop()
        let writer = try LedgerWriter(directory: directory.path)
        try writer.transaction { () throws(StoreError) in try writer.recountFigures() }
        #expect(try writer.reader().figures(from: nil, to: nil).whole.answers["crm"]?.retries == count)
    }

    @Test("expire by age, and the oldest expire first when they exceed their limit of bytes")
    func limits() async throws {
        let ledger = try await ledger(6)
        let start = WallTime(milliseconds: .min)
        let old = WallTime(milliseconds: 3)
        ledger.committer.prune(olderThan: start, deadLetters: DeadLetterLimits(cutoff: old, byteCountMax: 1000))
        #expect(try await ledger.report() == .pruned(requests: 0, deadLetters: 2))
        #expect(try left(ledger) == [3, 4, 5, 6])
        // All four have the same length.
        let large = try ledger.reader().deadLetterTotals().1 / 4 * 3
        ledger.committer.prune(olderThan: start, deadLetters: DeadLetterLimits(cutoff: start, byteCountMax: large))
        #expect(try await ledger.report() == .pruned(requests: 0, deadLetters: 1, deadLettersBySize: 1))
        #expect(try left(ledger) == [4, 5, 6])
        #expect(try ledger.reader().deadLetterTotals() == (3, large))
    }

    @Test("cost a slice of a pruning few steps of SQLite, however many there are")
    func cost() throws {
        let writer = try LedgerWriter(directory: directory.path)
        let count = 20_000
        try writer.database.execute(
            """
            WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            INSERT INTO dead_letters SELECT n, 0, n, 100 FROM numbers
            """)
        var opened: OpaquePointer?
        defer { sqlite3_close(opened) }
        #expect(sqlite3_open_v2(directory.path + "/ledger.db", &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        let limits = DeadLetterLimits(cutoff: WallTime(milliseconds: 10), byteCountMax: 100 * count - 100_000)
        for (sql, deleted) in [(limits.deletionByAge(limit: 256), 9), (limits.deletionBySize(limit: 256), 256)] {
            var statement: OpaquePointer?
            #expect(sqlite3_prepare_v2(opened, sql, -1, &statement, nil) == SQLITE_OK)
            #expect(sqlite3_step(statement) == SQLITE_DONE && sqlite3_changes(opened) == deleted)
            let steps = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
            #expect(steps < 8 * count, "\(steps) steps for \(count) dead letters")
            sqlite3_finalize(statement)
        }
    }

    @Test("are found by filter, newest first, up to a limit")
    func filter() async throws {
        let ledger = try await ledger(4)
        let reader = try ledger.reader()
        var filter = DeadLetterFilter()
        #expect(try reader.deadLetters(filter, limit: 2).map(\.value) == [4, 3])
        #expect(try reader.countOfDeadLetters(filter) == 4)
        filter.after = SequenceNumber(1)
        filter.through = SequenceNumber(3)
        #expect(try reader.deadLetters(filter, limit: 1, oldestFirst: true).map(\.value) == [2])
        #expect(try reader.deadLetters(filter, limit: 9, oldestFirst: true).map(\.value) == [2, 3])
        #expect(try reader.countOfDeadLetters(filter) == 2)
        filter.outcome = .expired
        #expect(try reader.deadLetters(filter, limit: 9) == [])
        #expect(try reader.countOfDeadLetters(filter) == 0)
        var answers: [String] = []
        try reader.answers { answers.append("\($0) \($1.rawValue) \($2)") }
        #expect(answers == ["crm declined 1", "crm rejected 3"])
    }
}
