import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("The size of the ledger", .timeLimit(.minutes(30)))
final class SizeTests {
    private let directory = TemporaryDirectory()

    /// 400 requests of 128 KiB: 50 MiB.
    private func filled() async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        for start in stride(from: Int64(1), through: 400, by: 20) {
            try await ledger.commit(
                (start..<start + 20).flatMap { Fixture.delivery($0, acceptedAt: $0 * 60_000, bytes: 128 << 10) })
        }
        return ledger
    }

    @Test("the oldest finished requests go until it is small enough, and the file becomes shorter")
    func size() async throws {
        let ledger = try await filled()
        try await ledger.commit(
            [.request(Fixture.request(401, acceptedAt: 0)), .invocation(Fixture.invocation(401, outcome: nil))])
        let before = ledger.committer.status.ledgerLength
        let limit = 24 << 20
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: limit)
        guard case .pruned(0, 0, bySize: let requests, remains: nil) = try await ledger.report() else {
            throw Unexpected()
        }
        let left = try ledger.storedNumbers()
        #expect(requests == 401 - left.count && requests > 150)
        #expect(left == left.sorted() && left.last == 401, "the oldest go, and what is in flight stays")
        #expect(left.first == Int64(requests + 1))
        let free = try ledger.intruder().integer("PRAGMA freelist_count") * Int64(LedgerWriter.newPageLength)
        #expect(free <= 8 << 20, "told when the pages are given back as well")
        ledger.committer.stop()
        let status = ledger.committer.status
        #expect(before > 40 << 20)
        // Eight ninths of the limit, and in a small ledger 8 MiB for what comes next.
        #expect(status.ledgerLength <= limit / 9 * 8 + (9 << 20), "\(status.ledgerLength)")
    }

    @Test("whole minutes go: reports count a minute by its figures as soon as one of its rows is out")
    func minutes() async throws {
        let ledger = try TestLedger(directory.path)
        // Ten a minute, 128 KiB each.
        for minute in Int64(1)...40 {
            try await ledger.commit(
                (0..<10).flatMap { number in
                    Fixture.delivery(minute * 10 + number, acceptedAt: minute * 60_000 + number, bytes: 128 << 10)
                })
        }
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 24 << 20)
        guard case .pruned(0, 0, bySize: let requests, remains: nil) = try await ledger.report() else {
            throw Unexpected()
        }
        let left = try ledger.storedNumbers()
        #expect(requests == 400 - left.count && requests > 150)
        #expect(left.first.map { $0 % 10 } == 0, "\(left.first ?? 0) is within a minute")
    }

    @Test("a ledger that is not too large keeps everything")
    func small() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...20).flatMap { Fixture.delivery($0, acceptedAt: $0) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 64 << 20)
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try ledger.storedNumbers() == Array(1...20))
    }

    @Test("what went is told in full when another pruning is asked for meanwhile")
    func twice() async throws {
        let ledger = try await filled()
        let before = ledger.committer.status.ledgerUsed
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 24 << 20)
        while ledger.committer.status.ledgerUsed >= before { await Task.yield() }
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 12 << 20)
        var told = 0
        for _ in 1...2 {
            guard case .pruned(_, _, let bySize, _) = try await ledger.report() else { throw Unexpected() }
            told += bySize
        }
        #expect(try told == 400 - ledger.storedNumbers().count && told > 250)
    }

    @Test("goes on being known after a start, before anything is written")
    func start() async throws {
        do { _ = try await filled() }
        let ledger = try TestLedger(directory.path)
        while ledger.committer.status.ledgerUsed == 0 { await Task.yield() }
        #expect(ledger.committer.status.ledgerUsed > 50 << 20)
    }

    @Test("does not have the WAL grow without bound while much is taken out")
    func wal() async throws {
        let ledger = try await filled()
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 20)
        _ = try await ledger.report()
        var facts = stat()
        // Its high-water mark: it is cut only when all of it is copied and it begins anew.
        #expect(stat(directory.path + "/ledger.db-wal", &facts) == 0 && facts.st_size < 40 << 20, "\(facts.st_size)")
    }

    @Test("takes no custom data that came to its end after the requests that go")
    func entries() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...40).flatMap { Fixture.delivery($0, acceptedAt: $0, bytes: 128 << 10) })
        try await ledger.commit(
            [20, 1000].map { time in
                .customData(.entry(Fixture.entry(time, savedAt: time), .rejected, problem: nil))
            })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 20)
        #expect(try await ledger.report() == .pruned(requests: 0, bySize: 40))
        #expect(try ledger.intruder().integer("SELECT group_concat(number) FROM entries") == 1000)
    }

    private struct Unexpected: Error {}

    @Test("says when nothing more can go and it is too large all the same")
    func stuck() async throws {
        let ledger = try TestLedger(directory.path)
        let request = Fixture.request(1, acceptedAt: 0, bytes: 1 << 20)
        try await ledger.commit([.request(request), .invocation(Fixture.invocation(1, outcome: nil))])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 0), sizeMax: 1 << 19)
        guard case .pruned(0, 0, bySize: 0, let remains?) = try await ledger.report() else { throw Unexpected() }
        #expect(remains.inFlight == 1 && remains.deadLetters == 0 && remains.figureBytes > 0)
        #expect(try ledger.storedNumbers() == [1])
    }
}
