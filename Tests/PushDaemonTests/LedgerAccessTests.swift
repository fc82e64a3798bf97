import TestSupport
import Testing

@testable import PushDaemon
@testable import PushModel
@testable import Store

@Suite("The desk that asks the ledger")
struct LedgerAccessTests {
    private final class Bed {
        let daemon: TwinDaemon
        private let directory = TemporaryDirectory()

        init() throws {
            daemon = try TwinDaemon(
                directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
                clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
                surroundings: try TwinSurroundings())
        }

        deinit { daemon.abandon() }

        /// Accepts a request that is not on the disk yet.
        ///
        /// - Returns: the number of its batch.
        func accept() -> UInt64 {
            let line = #"{"op":"deliver","platform":"android","app":"shop","payload":{"data":{"k":"v"}}}"#
            daemon.takeWithoutCommit(Array(line.utf8))
            return daemon.pipeline.lastGrowingNumber
        }
    }

    @Test("calls back once the ledger has a batch, at once if it has it already")
    func applied() throws {
        let bed = try Bed()
        let (queries, batch) = (bed.daemon.queries, bed.accept())
        var called: [String] = []
        queries.whenApplied(batch) { called.append("patient") }
        queries.whenApplied(batch, until: .max) { called.append("hasIt \($0)") }
        queries.whenApplied(batch, until: 10) { called.append("late \($0)") }
        queries.whenApplied(batch - 1) { called.append("at once") }
        #expect(called == ["at once"] && queries.nextDue == 10)
        queries.endTurn(at: 10)
        #expect(called == ["at once", "late false"] && queries.nextDue == nil)
        try bed.daemon.takeTurns { queries.applied >= batch }
        #expect(called == ["at once", "late false", "patient", "hasIt true"] && queries.waitCount == 0)
    }

    @Test("reports a ledger that cannot be written, except to callers without a time limit")
    func stalled() throws {
        let bed = try Bed()
        let (queries, batch) = (bed.daemon.queries, bed.accept())
        var called: [String] = []
        queries.whenApplied(batch) { called.append("patient") }
        queries.whenApplied(batch, until: .max) { called.append("first \($0)") }
        queries.ledgerStalled(StoreError(.noSpace, message: "full", context: ""))
        #expect(
            called == ["first false"] && queries.refusal(id: nil).message == "the ledger cannot be written now: full")
        queries.whenApplied(batch, until: .max) { called.append("second \($0)") }
        #expect(called == ["first false", "second false"])
        queries.ledgerResumed()
        queries.whenApplied(batch, until: .max) { called.append("third \($0)") }
        try bed.daemon.takeTurns { queries.applied >= batch }
        #expect(called == ["first false", "second false", "patient", "third true"])
    }

    @Test("releases callers whose wait ends when the daemon is to stop, and no others")
    func end() throws {
        let bed = try Bed()
        let (queries, batch) = (bed.daemon.queries, bed.accept())
        var called: [Int64] = []
        for due in [Int64.max, 20, 10, 30] {
            queries.whenApplied(batch, until: due, endsAtStop: due < 30) { _ in called.append(due) }
        }
        queries.expireWaits()
        #expect(called == [20, 10] && queries.waitCount == 2)
    }

    @Test("has at most 8 questions of users in flight, and asks the next ones user by user")
    func turns() throws {
        let bed = try Bed()
        var answered: [String] = []
        for number in 1...10 {
            bed.daemon.queries.ask(.line(SequenceNumber(1)), of: Account(uid: 1000)) { _ in
                answered.append("a\(number)")
            }
        }
        bed.daemon.queries.ask(.line(SequenceNumber(1)), of: Account(uid: 1001)) { _ in answered.append("b") }
        bed.daemon.queries.ask(.devices(of: "u", through: SequenceNumber(1))) { _ in answered.append("the daemon's own")
        }
        try bed.daemon.takeTurns { answered.count == 12 }
        #expect(answered == (1...8).map { "a\($0)" } + ["the daemon's own", "a9", "b", "a10"])
    }
}
