import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Following the outcomes", .timeLimit(.minutes(30)))
final class FollowingTests {
    private let directory = TemporaryDirectory()

    private func waiting(_ seq: Int64, acceptedAt: Int64 = 1_760_000_000_000) -> [LedgerRecord] {
        [
            .request(Fixture.request(seq, acceptedAt: acceptedAt)),
            .invocation(Fixture.invocation(seq, outcome: nil)),
        ]
    }

    /// The numbers of the requests decided since the cursor.
    private func decided(_ reader: LedgerReader, _ cursor: inout OutcomeCursor, limit: Int = 100) throws -> [Int64] {
        try reader.outcomes(after: &cursor, limit: limit).decided.map(\.seq.value)
    }

    @Test("returns every outcome once, in whatever order requests are decided")
    func once() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1) + waiting(2))
        let reader = try ledger.reader()
        var cursor = try reader.outcomeCursor(from: nil)
        #expect(try decided(reader, &cursor).isEmpty && cursor.pendingCount == 1)
        try await ledger.commit(waiting(3) + Fixture.delivery(4))
        #expect(try decided(reader, &cursor) == [4])
        #expect(cursor.pendingCount == 2)
        try await ledger.commit([.update(Fixture.invocation(3))])
        #expect(try decided(reader, &cursor) == [3])
        try await ledger.commit([.update(Fixture.invocation(2))])
        #expect(try decided(reader, &cursor) == [2])
        #expect(try decided(reader, &cursor).isEmpty && cursor.pendingCount == 0)
    }

    @Test("begins with the requests of a time, or with the last so many, and waits for undecided ones before them")
    func beginning() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(
            waiting(1, acceptedAt: 1000) + Fixture.delivery(2, acceptedAt: 2000)
                + Fixture.delivery(3, acceptedAt: 3000) + Fixture.delivery(4, acceptedAt: 4000))
        let reader = try ledger.reader()
        var cursor = try reader.outcomeCursor(from: WallTime(milliseconds: 3000))
        #expect(try decided(reader, &cursor) == [3, 4])
        try await ledger.commit([.update(Fixture.invocation(1))])
        #expect(try decided(reader, &cursor) == [1])
        var last = try reader.outcomeCursor(from: WallTime(milliseconds: 0), limit: 1)
        #expect(try decided(reader, &last) == [4])
        var none = try reader.outcomeCursor(from: WallTime(milliseconds: 5000))
        #expect(try decided(reader, &none).isEmpty)
    }

    @Test("returns pages of whole requests, with their times of acceptance")
    func pages() async throws {
        let ledger = try TestLedger(directory.path)
        for seq in Int64(1)...7 {
            try await ledger.commit(
                Fixture.delivery(seq, acceptedAt: seq) + [.invocation(Fixture.invocation(seq, n: 1))])
        }
        let reader = try ledger.reader()
        var cursor = try reader.outcomeCursor(from: WallTime(milliseconds: 0))
        var (found, accepted): ([InvocationID], [Int64]) = ([], [])
        var hasMore = true
        while hasMore {
            let new = try reader.outcomes(after: &cursor, limit: 5)
            found += new.decided.compactMap(\.invocation?.id)
            accepted += new.accepted.map(\.milliseconds)
            hasMore = new.hasMore
        }
        #expect(found.map(\.seq.value) == (1...7).flatMap { [$0, $0] } && accepted == Array(1...7))
    }

    @Test("sees a new change number after a commit, and the same one after a read")
    func changes() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        let reader = try ledger.reader()
        let before = try reader.changeNumber()
        _ = try reader.outcomeCursor(from: nil)
        #expect(try reader.changeNumber() == before)
        try await ledger.commit(Fixture.delivery(2))
        #expect(try reader.changeNumber() != before)
    }

    @Test("begins with the first event of a time")
    func events() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1) + Fixture.delivery(2))
        let reader = try ledger.reader()
        let time = Fixture.event(1).time * 1000
        #expect(try reader.eventCursor(from: WallTime(milliseconds: time)) == 0)
        #expect(try reader.eventCursor(from: WallTime(milliseconds: time + 1000)) == 2)
    }
}
