import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The size of the ledger", .timeLimit(.minutes(30)))
final class SizeTests {
    private let directory = TemporaryDirectory()

    /// A ledger with 400 requests of 128 KiB: 50 MiB.
    private func filled() async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        for start in stride(from: Int64(1), through: 400, by: 20) {
            try await ledger.commit(
                (start..<start + 20).flatMap { Fixture.delivery($0, acceptedAt: $0 * 60_000, bytes: 128 << 10) })
        }
        return ledger
    }

    @Test("is brought below the limit: the oldest finished requests are deleted, and the file shrinks")
    func size() async throws {
        let ledger = try await filled()
        try await ledger.commit(
            [.request(Fixture.request(401, acceptedAt: 0)), .invocation(Fixture.invocation(401, outcome: nil))])
        let before = ledger.committer.status.ledgerLength
        let limit = 24 << 20
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: limit)
        guard case .pruned(0, 0, 0, bySize: let requests, remains: nil) = try await ledger.report() else {
            throw Unexpected()
        }
        let left = try ledger.storedNumbers()
        #expect(requests == 401 - left.count && requests > 150)
        #expect(left == left.sorted() && left.last == 401, "the oldest go, and what is in flight stays")
        #expect(left.first == Int64(requests + 1))
        let free = try ledger.secondConnection().integer("PRAGMA freelist_count") * Int64(LedgerWriter.newPageLength)
        #expect(free <= 8 << 20, "told when the pages are given back as well")
        ledger.committer.stop()
        let status = ledger.committer.status
        #expect(before > 40 << 20)
        // The target is eight ninths of the limit; a small ledger may have 8 MiB more for the next writes.
        #expect(status.ledgerLength <= limit / 9 * 8 + (9 << 20), "\(status.ledgerLength)")
    }

    @Test("shrinks by whole minutes: reports count a minute by its figures once one of its rows is deleted")
    func minutes() async throws {
        let ledger = try TestLedger(directory.path)
        // Ten requests a minute, 128 KiB each.
        for minute in Int64(1)...40 {
            try await ledger.commit(
                (0..<10).flatMap { number in
                    Fixture.delivery(minute * 10 + number, acceptedAt: minute * 60_000 + number, bytes: 128 << 10)
                })
        }
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 24 << 20)
        guard case .pruned(0, 0, 0, bySize: let requests, remains: nil) = try await ledger.report() else {
            throw Unexpected()
        }
        let left = try ledger.storedNumbers()
        #expect(requests == 400 - left.count && requests > 150)
        #expect(left.first.map { $0 % 10 } == 0, "\(left.first ?? 0) is within a minute")
    }

    @Test("a ledger below MaxSize= keeps every request")
    func small() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...20).flatMap { Fixture.delivery($0, acceptedAt: $0) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 64 << 20)
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try ledger.storedNumbers() == Array(1...20))
    }

    @Test("is reported with all deleted requests when another pruning is requested meanwhile")
    func twice() async throws {
        let ledger = try await filled()
        let before = ledger.committer.status.ledgerUsed
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 24 << 20)
        while ledger.committer.status.ledgerUsed >= before { await Task.yield() }
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 12 << 20)
        var told = 0
        for _ in 1...2 {
            guard case .pruned(_, _, _, let bySize, _) = try await ledger.report() else { throw Unexpected() }
            told += bySize
        }
        #expect(try told == 400 - ledger.storedNumbers().count && told > 250)
    }

    @Test("is known after a restart, before any write")
    func start() async throws {
        do { _ = try await filled() }
        let ledger = try TestLedger(directory.path)
        while ledger.committer.status.ledgerUsed == 0 { await Task.yield() }
        #expect(ledger.committer.status.ledgerUsed > 50 << 20)
    }

    @Test("does not let the WAL grow without bound while many requests are deleted")
    func wal() async throws {
        let ledger = try await filled()
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 20)
        _ = try await ledger.report()
        var facts = stat()
        // The size of the WAL is its high-water mark: SQLite truncates it only when a checkpoint is complete and the
        // WAL restarts.
        #expect(stat(directory.path + "/ledger.db-wal", &facts) == 0 && facts.st_size < 40 << 20, "\(facts.st_size)")
    }

    @Test("deletes no custom data that ended after the deleted requests")
    func entries() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...40).flatMap { Fixture.delivery($0, acceptedAt: $0, bytes: 128 << 10) })
        try await ledger.commit(
            [20, 1000].map { time in
                .customData(.entry(Fixture.entry(time, savedAt: time), .rejected, problem: nil))
            })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 20)
        #expect(try await ledger.report() == .pruned(requests: 0, bySize: 40))
        #expect(try ledger.secondConnection().integer("SELECT group_concat(number) FROM entries") == 1000)
    }

    private struct Unexpected: Error {}

    @Test("is reported when it stays above the limit and nothing more can be deleted")
    func stuck() async throws {
        let ledger = try TestLedger(directory.path)
        let request = Fixture.request(1, acceptedAt: 0, bytes: 1 << 20)
        try await ledger.commit([.request(request), .invocation(Fixture.invocation(1, outcome: nil))])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 19)
        guard case .pruned(0, 0, 0, bySize: 0, let remains?) = try await ledger.report() else { throw Unexpected() }
        #expect(remains.inFlight == 1 && remains.deadLetters == 0 && remains.figureBytes > 0)
        #expect(try ledger.storedNumbers() == [1])
    }
}
