import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushSettings
@testable import Store

@Suite("Readers that wait for the ledger")
struct LedgerSyncTests {
    @Test("are answered once the ledger has their batch, and then those whose time is over")
    func order() {
        var waits = BatchWaits<String>()
        waits.add("late", position: 9, due: 100)
        waits.add("hasty", position: 9, due: 10)
        waits.add("early", position: 3, due: 50)
        waits.add("early too", position: 3, due: 10)
        #expect(waits.nextDue() == 10 && !waits.hasServedWaiter(by: 2))
        #expect(waits.next(applied: 2, now: 9) == nil)
        var answered: [String] = []
        while let (reader, isComplete) = waits.next(applied: 5, now: 10) { answered.append("\(reader) \(isComplete)") }
        #expect(answered == ["early true", "early too true", "hasty false"])
        #expect(waits.count == 1 && waits.nextDue() == 100)
        #expect(waits.hasServedWaiter(by: 9) && waits.next(applied: 9, now: 10)?.waiter == "late")
        #expect(waits.nextDue() == nil && waits.count == 0)
    }

    @Test("leave no state behind, however they are answered")
    func rest() {
        var waits = BatchWaits<Int>()
        for round in 1...10_000 {
            waits.add(round, position: UInt64(round), due: 1 << 40)
            #expect(waits.next(applied: UInt64(round), now: 0)?.waiter == round)
        }
        #expect(waits.count == 0 && waits.waitCount <= 65)
    }

    private final class Parts {
        let daemon: TwinDaemon
        let sync: LedgerSync
        private let directory = TemporaryDirectory()

        init() throws {
            daemon = try TwinDaemon(
                directory: directory.path, settings: try #require(Settings.load(ConfigurationSources()).settings),
                boot: UUID128(high: 0, low: 0), clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)),
                scripts: TwinScripts(), surroundings: try TwinSurroundings())
            sync = LedgerSync(
                pipeline: daemon.pipeline, committer: daemon.committer, queries: daemon.queries, stateID: daemon.stateID
            )
            let line = #"{"op":"deliver","platform":"android","app":"shop","payload":{"data":{"k":"v"}}}"#
            daemon.takeWithoutCommit(Array(line.utf8))
        }

        func ask(_ session: ClientSession) {
            let client = ControlClient(session: session, place: session.reserveReply(), id: nil)
            sync.answer(client, timeout: .seconds(60))
        }
    }

    @Test("are at most 8 of one connection, which is not served until one of them is answered")
    func perConnection() throws {
        let parts = try Parts()
        defer { parts.daemon.abandon() }
        let session = try TwinSession()
        session.open(owner: parts.daemon)
        for _ in 1...8 {
            #expect(!session.session.isBlocked)
            parts.ask(session.session)
        }
        #expect(session.session.isBlocked)
        parts.daemon.queries.applied(through: parts.daemon.pipeline.lastGrowingNumber - 1)
        #expect(session.session.isBlocked && parts.daemon.queries.waitCount == 8)
        parts.daemon.queries.applied(through: parts.daemon.pipeline.lastGrowingNumber)
        #expect(!session.session.isBlocked && parts.daemon.queries.waitCount == 0)
    }

    @Test("are answered in slices of 256 a turn")
    func aTurn() throws {
        let parts = try Parts()
        defer { parts.daemon.abandon() }
        let sessions = try (1...40).map { _ in try TwinSession() }
        for session in sessions {
            session.open(owner: parts.daemon)
            for _ in 1...8 { parts.ask(session.session) }
        }
        #expect(parts.daemon.queries.waitCount == 320)
        parts.daemon.queries.applied(through: parts.daemon.pipeline.lastGrowingNumber)
        #expect(parts.daemon.queries.waitCount == 64)
        parts.daemon.queries.ledgerStalled(StoreError(.failed, message: "", context: ""))
        #expect(parts.daemon.queries.waitCount == 0 && sessions.allSatisfy { !$0.session.isBlocked })
    }
}
