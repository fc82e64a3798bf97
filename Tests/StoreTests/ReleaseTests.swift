import CLinux
import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A batch that the ledger has applied")
struct ReleaseTests {
    @Test("stays in the log until the ledger's WAL is synced; a failed sync ends the store", .timeLimit(.minutes(30)))
    func failedSync() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 16 << 20))
        try await ledger.commit(Fixture.delivery(1))
        // The log fills while another connection holds the ledger's write lock.
        let rawConnection = try ledger.secondConnection()
        try rawConnection.execute("BEGIN IMMEDIATE")
        var next: Int64 = 2
        while true {
            let batch = ledger.batch((next..<next + 350).flatMap { Fixture.delivery($0, bytes: 1300) })
            next += 350
            guard try ledger.committer.commit(batch) != nil else { break }
        }
        let used = ledger.committer.status.logUsed
        #expect(used > 12 << 20)

        try breakSync(of: directory.path + "/ledger.db-wal")
        try rawConnection.execute("COMMIT")
        var failure: StoreError?
        while failure == nil {
            if case .failed(let error) = try await ledger.report() { failure = error }
        }
        #expect(failure?.message.hasPrefix("sync: ") == true && failure?.kind == .failed)
        #expect(ledger.committer.status.logUsed == used)
        #expect(ledger.committer.stop() == failure)
    }

    /// Replaces the descriptor by which the store syncs the WAL with one that fsync(2) refuses.
    private func breakSync(of path: String) throws {
        let isWanted = { (file: Int32) in
            var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/fd/\(file)", &target, target.count)
            return count > 0 && String(decoding: target[..<count], as: UTF8.self) == path
                && fcntl(file, F_GETFL) & O_ACCMODE == O_RDONLY
        }
        let file = try #require((0..<4096).first(where: isWanted))
        let event = CLinux_eventfd()
        try #require(event >= 0 && dup2(event, file) == file)
        close(event)
    }
}
