import PushModel
import TestSupport
import Testing

@testable import Store

/// `ledger-v6.sql` and `log-v6.rows` are what one daemon of schema 6 left when it was killed, in relay mode: a request that
/// was handled, two that failed one after the other, one that no route had, and one whose handler still ran.
@Suite("What schema 6 left", .timeLimit(.minutes(30)))
struct MigrationFrom6Tests {
    private func check(_ reader: LedgerReader) throws {
        var rows: [LedgerRow] = []
        try reader.rows { rows.append($0) }
        #expect(rows.map(\.seq.value) == Array(1...5))
        #expect(rows.map(\.invocation?.result?.outcome) == [.handled, .failed, .unrouted, .failed, nil])
        #expect(rows.map(\.id) == (0..<5).map { "v6-\($0)" })
        #expect(rows.allSatisfy { $0.replayOf == nil && $0.invocation?.result?.ahead == nil })
        #expect(rows[3].invocation?.result?.waitedFor?.id.seq.value == 2)
        #expect(rows[3].invocation?.result?.waitedFor?.took == nil)
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [5])
        let story = try #require(try reader.story(of: SequenceNumber(2)))
        #expect(story.attempts == [] && story.deadLetters == [] && story.replays == [], "nobody noted any")
        #expect(story.request.replayOf == nil && story.request.transport == .fcm)
    }

    @Test("a ledger keeps every row, and takes those of today")
    func ledger() async throws {
        let directory = try EarlierLedger.dumped("ledger-v6.sql", schema: 6)
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.intruder().integer("PRAGMA user_version") == Schema.version)
        try check(try ledger.reader())
        try await ledger.commit(
            [.request(Whole.requests[0])] + Whole.invocations.map { .invocation($0) }
                + Whole.attempts.map { .attempt($0) })
        let story = try ledger.reader().story(of: Whole.requests[0].seq)
        #expect(story?.request == Whole.requests[0] && story?.attempts == Whole.attempts)
    }

    @Test("a log is applied")
    func log() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let bytes = TestSupport.Fixture.bytes("log-v6.rows")
        try bytes.withUnsafeBytes { rows throws in try writer.apply([rows], through: .start) }
        try check(try LedgerReader(directory: directory.path))
    }
}
