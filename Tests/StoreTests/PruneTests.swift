import Synchronization
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Pruning", .timeLimit(.minutes(30)))
struct PruneTests {
    @Test("removes requests older than the cutoff with all their rows, in as many slices as it needs")
    func old() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...600).flatMap { Fixture.delivery(Int64($0), acceptedAt: Int64($0)) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 600))
        #expect(try await ledger.report() == .pruned(requests: 599))
        #expect(try ledger.storedNumbers() == [600])
        let reader = try ledger.reader()
        #expect(try reader.story(of: SequenceNumber(599)) == nil)
        #expect(try reader.events(after: 0, limit: 10).map(\.event.seq.value) == [600])
        let database = try ledger.secondConnection()
        #expect(try database.integer("SELECT count(*) FROM invocations") == 1)
        #expect(try database.integer("SELECT count(*) FROM events") == 1)
    }

    @Test("keeps a request with an invocation in flight, however old")
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

    @Test("keeps the receipt of a remembered delivery, until the tracker forgets it")
    func remembered() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, acceptedAt: 0) + [.tracker(.delivery(Fixture.tracked(1)))])
        try await ledger.commit(Fixture.delivery(2, acceptedAt: 0) + [.tracker(.delivery(Fixture.tracked(2)))])
        try await ledger.commit(Fixture.delivery(3, acceptedAt: 9) + [.tracker(.delivery(Fixture.tracked(3)))])
        try await ledger.commit([
            .request(Fixture.request(4, acceptedAt: 0)),
            .tracker(.interaction(Fixture.interaction(4, of: 2, closing: "no"))),
            .event(Fixture.event(4, .open, delivery: 2)),
        ])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 3))
        #expect(try ledger.storedNumbers() == [3])
        #expect(try ledger.tracked().map(\.seq.value) == [1, 2, 3])
        #expect(try ledger.reader().events(after: 0, limit: 10).map(\.cursor) == [1, 2, 3])
        var buttons: [String] = []
        try ledger.reader().closedButtons(ofNewest: 3) { buttons.append("\($0) \($1)") }
        #expect(buttons == ["2 no"], "that a button was pressed is remembered with its delivery")
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM interactions") == 0)

        try await ledger.commit([.tracker(.forgottenDelivery(SequenceNumber(1)))])
        #expect(try ledger.reader().events(after: 0, limit: 10).map(\.cursor) == [2, 3])
        // A delivery that is forgotten while its request is stored keeps its receipt.
        try await ledger.commit([2, 3].map { .tracker(.forgottenDelivery(SequenceNumber($0))) })
        #expect(try ledger.reader().events(after: 0, limit: 10).map(\.cursor) == [3])
        #expect(try ledger.tracked() == [])
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM closed_buttons") == 0)
    }

    @Test("never lets a cursor repeat, whatever was pruned")
    func cursors() async throws {
        let directory = TemporaryDirectory()
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(7, acceptedAt: 0) + Fixture.delivery(41, acceptedAt: 0))
            ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
            #expect(try await ledger.report() == .pruned(requests: 2))
            #expect(try ledger.reader().lastCursor() == 2)
        }
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(42))
        #expect(try ledger.reader().events(after: 0, limit: 10).map(\.cursor) == [3])
        #expect(try ledger.reader().lastCursor() == 3)
    }

    @Test("never lets a sequence number repeat")
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

    @Test("keeps the figures of pruned requests until they are too old, also after a slice that was rolled back")
    func rolledBack() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let rows = RowBuffer()
        for record in Fixture.delivery(1, acceptedAt: 60_000) + Fixture.delivery(2, acceptedAt: 600_000) {
            rows.append(record)
        }
        try writer.apply([rows], through: LogPosition(number: 1, checksum: 0, segment: 1, end: 4096))
        let cutoff = WallTime(milliseconds: 60_001)
        try writer.database.execute(
            "CREATE TRIGGER never BEFORE DELETE ON request_rows BEGIN SELECT RAISE(ABORT, 'not now'); END")
        #expect(throws: StoreError.self) { _ = try writer.prune(PruningSlice(olderThan: cutoff, limit: 10)) }
        try writer.database.execute("DROP TRIGGER never")
        #expect(
            try writer.prune(PruningSlice(olderThan: cutoff, limit: 10))
                == Pruned(requests: 1, newest: WallTime(milliseconds: 60_000)))
        #expect(try writer.database.integer("SELECT pruned_minute FROM figure_state") == 2)
        #expect(try writer.database.integer("SELECT min(place >> 32) FROM figures_by_minute") == 1)
        let late = WallTime(milliseconds: 6_000_000)
        _ = try writer.prune(PruningSlice(olderThan: cutoff, limit: 10, figures: late))
        #expect(try writer.database.integer("SELECT first_minute FROM figure_state") == 2, "rows keep their figures")
        #expect(try writer.database.integer("SELECT min(place >> 32) FROM figures_by_minute") == 10)
    }

    @Test("lets one batch in between two slices")
    func between() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...2000).flatMap { Fixture.delivery(Int64($0), acceptedAt: 0) })
        ledger.committer.stop()

        let committer = Mutex<Committer?>(nil)
        let (reports, continuation) = AsyncStream.makeStream(of: StoreReport.self)
        // Submits on the ledger's own thread, so that the batches between two slices do not depend on timing.
        let made = try Committer(directory: StateDirectory(path: directory.path)) { report in
            committer.withLock { committer in
                guard case .applied(let number) = report, let committer else { return }
                if number == 2 { committer.prune(olderThan: WallTime(milliseconds: 1)) }
                let rows = committer.takeBuffer()
                for record in Fixture.delivery(2000 + Int64(number)) { rows.append(record) }
                let batch = CommitBatch(
                    number: number + 1, rows: rows, lastSequence: SequenceNumber(2000 + Int64(number)))
                #expect(throws: Never.self) { _ = try committer.commit(batch) }
                committer.expedite(through: number + 1)
            }
            continuation.yield(report)
        }
        committer.withLock { $0 = made }
        let rows = made.takeBuffer()
        for record in Fixture.delivery(2001) { rows.append(record) }
        _ = try made.commit(CommitBatch(number: 2, rows: rows, lastSequence: SequenceNumber(2001)))
        var applied = 0
        for await report in reports {
            if case .applied = report { applied += 1 }
            if case .pruned(let requests, _, _, _, _) = report {
                #expect(requests == 2000)
                break
            }
        }
        // 2000 requests are eight slices of 256, and no page has to be given back; one batch comes before each of these
        // turns, and the first turn starts the pruning.
        #expect(applied == 10)
        committer.withLock { $0 = nil }
        made.stop()
    }
}
