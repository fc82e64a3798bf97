import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Transactions of the ledger", .timeLimit(.minutes(30)))
final class TransactionTests {
    private let directory = TemporaryDirectory()

    /// A reader with an open snapshot: while it is open, the WAL does not restart.
    private static func reader(_ ledger: TestLedger) throws -> Database {
        let reader = try ledger.secondConnection()
        try reader.execute("BEGIN; SELECT count(*) FROM requests")
        return reader
    }

    @Test("apply waiting batches together, or in two if the ledger was being tried at that moment")
    func waited() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        let reader = try Self.reader(ledger)
        let rawConnection = try ledger.secondConnection()
        try rawConnection.execute("BEGIN IMMEDIATE")
        try ledger.write(Fixture.delivery(2))
        guard case .ledgerStalled = try await ledger.report() else {
            Issue.record("the ledger did not stall")
            return
        }
        var last: UInt64 = 0
        for seq in 3...50 { last = try ledger.write(Fixture.delivery(Int64(seq))) }
        let before = WALFrames(directory.path).commits
        try rawConnection.execute("ROLLBACK")
        try await ledger.applied(last)
        #expect((before + 1...before + 2).contains(WALFrames(directory.path).commits))
        try reader.execute("COMMIT")
        #expect(try ledger.storedNumbers() == Array(1...50))
    }

    @Test("include a whole slice of the pruning: a kill at any time deletes a request with all its rows or not at all")
    func pruning() async throws {
        let ledger = try TestLedger(directory.path)
        let entries: [LedgerRecord] = [.customData(.entry(Fixture.entry(1), .rejected, problem: nil))]
        try await ledger.commit((1...100).flatMap { Fixture.delivery(Int64($0), acceptedAt: 1) } + entries)
        let reader = try Self.reader(ledger)
        let before = WALFrames(directory.path).commits
        ledger.committer.prune(olderThan: WallTime(milliseconds: .max))
        #expect(try await ledger.report() == .pruned(requests: 100))
        #expect(WALFrames(directory.path).commits == before + 1)
        try reader.execute("COMMIT")
        for table in ["requests", "invocations", "events", "entries"] {
            #expect(try ledger.secondConnection().integer("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
    }

    @Test("number as many as the slices")
    func slices() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(
            (1...Int64(Pruning.slice) * 2 + 1).flatMap { Fixture.delivery($0, acceptedAt: 1) })
        let reader = try Self.reader(ledger)
        let before = WALFrames(directory.path).commits
        ledger.committer.prune(olderThan: WallTime(milliseconds: 2))
        #expect(try await ledger.report() == .pruned(requests: Pruning.slice * 2 + 1))
        #expect(WALFrames(directory.path).commits == before + 3)
        try reader.execute("COMMIT")
    }
}

/// The valid frames of a WAL: https://www.sqlite.org/fileformat2.html#walformat
struct WALFrames {
    private(set) var count = 0
    /// The number of frames that end a transaction.
    private(set) var commits = 0

    init(_ directory: String) {
        guard let bytes = readFile(directory + "/ledger.db-wal"), bytes.count >= 32 else { return }
        func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let frame = 24 + number(8)
        for start in stride(from: 32, through: bytes.count - frame, by: frame) {
            guard bytes[start + 8..<start + 16] == bytes[16..<24] else { return }
            count += 1
            if number(start + 4) != 0 { commits += 1 }
        }
    }
}
