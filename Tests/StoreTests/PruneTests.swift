import PushModel
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite("Pruning")
struct PruneTests {
    @Test("takes out what is older than the cutoff with all that belongs to it, in as many slices as it needs")
    func old() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...600).flatMap { Fixture.delivery(Int64($0), acceptedAt: Int64($0)) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 600))
        #expect(try await ledger.report() == .pruned(requests: 599))
        #expect(try ledger.storedNumbers() == [600])
        let reader = try ledger.reader()
        #expect(try reader.story(of: SequenceNumber(599)) == nil)
        var events: [Int64] = []
        try reader.trackedDeliveries(since: WallTime(milliseconds: 0)) { events.append($0.seq.value) }
        #expect(events == [600])
        let database = try ledger.intruder()
        #expect(try database.integer("SELECT count(*) FROM invocations") == 1)
        #expect(try database.integer("SELECT count(*) FROM events") == 1)
    }

    @Test("leaves a request with an invocation in flight, however old")
    func pending() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, acceptedAt: 0) + Fixture.delivery(2, acceptedAt: 0))
        try await ledger.commit([.invocation(Fixture.invocation(1, n: 1, outcome: nil))])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 1))
        #expect(try ledger.reader().pendingInvocations().map(\.request) == [Fixture.request(1, acceptedAt: 0)])
        #expect(try ledger.reader().story(of: SequenceNumber(1))?.invocations.count == 2)
    }

    @Test("never lets a number be given again")
    func highest() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.reader().highestSequenceNumber() == SequenceNumber(0))
        try await ledger.commit(Fixture.delivery(7, acceptedAt: 0) + Fixture.delivery(41, acceptedAt: 0))
        #expect(try ledger.reader().highestSequenceNumber() == SequenceNumber(41))
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 2))
        #expect(try ledger.storedNumbers() == [])
        #expect(try ledger.reader().highestSequenceNumber() == SequenceNumber(41))
    }

    @Test("lets one batch in between two slices")
    func between() async throws {
        let directory = TemporaryDirectory()
        let committer = Mutex<Committer?>(nil)
        let (reports, continuation) = AsyncStream.makeStream(of: CommitReport.self)
        // On the committer's own thread, so what comes between two slices is no matter of luck.
        let made = try Committer(directory: StateDirectory(path: directory.path)) { report in
            committer.withLock { committer in
                if case .committed(through: 1, _) = report { committer?.prune(olderThan: WallTime(milliseconds: 1)) }
                if case .committed(let number, _) = report {
                    committer?.submit(Fixture.delivery(2000 + Int64(number)), number: number + 1)
                }
            }
            continuation.yield(report)
        }
        committer.withLock { $0 = made }
        made.submit((1...2000).flatMap { Fixture.delivery(Int64($0), acceptedAt: 0) }, number: 1)
        var committed: UInt64 = 0
        for await report in reports {
            if case .committed(let number, _) = report { committed = number }
            if case .pruned(let requests) = report {
                #expect(requests == 2000)
                break
            }
        }
        // 2000 are eight slices of 256, each after a batch; the first batch is the 2000.
        #expect(committed == 9)
        committer.withLock { $0 = nil }
        made.stop()
    }
}
