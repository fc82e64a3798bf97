import PushModel
import TestSupport
import Testing

@testable import Store

/// `ledger-v8.sql` is what a daemon of schema 8 left when it was killed, in relay mode: a request that was handled, three
/// that became dead letters, and one whose handler still ran.
@Suite("What schema 8 left", .timeLimit(.minutes(30)))
struct MigrationFrom8Tests {
    @Test("keeps every row, has no gap that nobody noted, and takes those of today")
    func ledger() async throws {
        let directory = try EarlierLedger.dumped("ledger-v8.sql", schema: 8)
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.intruder().integer("PRAGMA user_version") == Schema.version)
        let reader = try ledger.reader()
        var rows: [LedgerRow] = []
        try reader.rows { rows.append($0) }
        #expect(rows.map(\.seq.value) == Array(1...5))
        #expect(rows.map(\.invocation?.result?.outcome) == [.handled, .failed, .unrouted, .failed, nil])
        #expect(rows.map(\.id) == (0..<5).map { "v8-\($0)" })
        let story = try #require(try reader.story(of: SequenceNumber(2)))
        #expect(story.attempts.count == 1 && story.deadLetters.count == 1)
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [5])
        #expect(try reader.gaps() == [] && reader.lastAlive() == nil)
        try await ledger.commit(Whole.gaps.map { .gap($0) } + Whole.lifeSigns.map { .lifeSign($0) })
        #expect(try ledger.reader().gaps() == Whole.gaps)
    }
}
