import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The audit in the ledger", .timeLimit(.minutes(30)))
final class AuditTests {
    private let directory = TemporaryDirectory()

    private func act(_ at: Int64, user: String? = nil, device: String? = nil) -> AuditRecord {
        AuditRecord(
            at: WallTime(milliseconds: at), AuditRecord.Subject(.flush, "app shop", externalID: user, device: device),
            .control, .done, uid: 1000, pid: 7, count: 1)
    }

    private func times(_ ledger: TestLedger) throws -> [Int64] {
        try ledger.reader().audit(after: 0, limit: 1000).map(\.record.at.milliseconds)
    }

    @Test("has at most 100,000 acts: the oldest are deleted; it is read in pages, in the order of writing")
    func bounded() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...3).map { .audit(act(10 - $0)) })
        #expect(try times(ledger) == [9, 8, 7])
        let page = try ledger.reader().audit(after: 1, limit: 1)
        #expect(page.map(\.number) == [2] && page.map(\.record) == [act(8)])
        try ledger.secondConnection().execute(
            "UPDATE audit SET number = number + \(AuditRecord.most - 1) WHERE number > 1")
        try await ledger.commit([.audit(act(6))])
        #expect(try times(ledger) == [8, 7, 6], "100,003 is the number of the newest")
    }

    @Test("loses acts that are older than the figures, and only them")
    func pruned() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit([40, 60_001, 50, 59_999, 60_000].map { .audit(act($0)) })
        ledger.committer.prune(olderThan: WallTime(milliseconds: 900_000))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try times(ledger).count == 5, "Retention= is of requests")
        ledger.committer.prune(
            olderThan: WallTime(milliseconds: 900_000), figures: WallTime(milliseconds: 60_000))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try times(ledger) == [60_001, 60_000])
        // More than one slice.
        try await ledger.commit((0..<600).map { .audit(act($0)) })
        ledger.committer.prune(
            olderThan: WallTime(milliseconds: 900_000), figures: WallTime(milliseconds: 60_000))
        #expect(try await ledger.report() == .pruned(requests: 0))
        #expect(try times(ledger) == [60_001, 60_000])
    }

    @Test("keeps the acts of an erased person without the person, and all others as they are")
    func erased() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit([
            .audit(act(1, user: "anna", device: "d1")), .audit(act(2, device: "d1")),
            .audit(act(3, user: "ben", device: "d1")), .audit(act(4, user: "anna", device: "d9")), .audit(act(5)),
        ])
        let order = ErasureOrder(
            person: Person(externalID: "anna", devices: ["d1"]),
            bound: ErasureBound(request: SequenceNumber(0), entry: EntryNumber(0)))
        #expect(try ledger.reader().count(order).rows == 3)
        ledger.committer.erase(order)
        guard case .erasedRows(let receipt) = try await ledger.report() else {
            Issue.record("no rows were erased")
            return
        }
        #expect(receipt.states == 3 && receipt.rows == 3)
        #expect(try await ledger.report() == .erased)
        let acts = try ledger.reader().audit(after: 0, limit: 9).map(\.record)
        #expect(acts == [act(1), act(2), act(3, user: "ben", device: "d1"), act(4), act(5)])
        let database = try #require(readFile(directory.path + "/ledger.db"))
        #expect(!database.contains(Array("anna".utf8)), "no page has the name")
    }

    @Test("survives a crash, a backup with a restore, which is an act and keeps all others, and a salvage")
    func survives() async throws {
        let (state, file) = (directory.path + "/state", directory.path + "/file.db")
        do {
            let ledger = try await Way.nextStart.ledger(state, [[.audit(act(1, user: "anna"))]])
            #expect(try ledger.reader().audit(after: 0, limit: 9).map(\.record) == [act(1, user: "anna")])
            _ = try Backup.write(ledger.reader(), to: file)
            try await ledger.commit([.audit(act(2))])
            ledger.committer.stop()
        }
        let salvaged = directory.path + "/salvaged.db"
        #expect(try Salvage.write(from: state, to: salvaged).isWhole)
        #expect(try Database(path: salvaged, access: .readOnly).integer("SELECT count(*) FROM audit") == 2)

        let backup = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(backup) }
        var restore = act(3)
        restore.subject = AuditRecord.Subject(.restore, file)
        _ = try Restoration.restore(backup, into: state, at: WallTime(milliseconds: 4), as: restore)
        restore.count = 0
        try act(5).write(toLedgerIn: state)
        let ledger = try TestLedger(state)
        #expect(
            try ledger.reader().audit(after: 0, limit: 9).map(\.record) == [
                act(1, user: "anna"), act(2), restore, act(5),
            ])
    }

    @Test("is read by batches of version 4 alone: older programs of a pair get none")
    func version() throws {
        let buffer = RowBuffer(headroom: 0)
        buffer.append(.configuration(Whole.configurations[0]))
        #expect(buffer.version < RowKind.audit.since)
        buffer.append(.audit(act(1)))
        #expect(buffer.version == 4 && RowKind.audit.since == 4)
    }
}
