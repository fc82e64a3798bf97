import CLinux
import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("What the ledger has taken over")
struct ReleaseTests {
    @Test("stays in the log until the ledger's WAL is synced; when that fails the store ends", .timeLimit(.minutes(1)))
    func failedSync() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 16 << 20))
        try await ledger.commit(Fixture.delivery(1))
        try breakSync(of: directory.path + "/ledger.db-wal")

        // More than the log holds, unless somebody lets go of something.
        var (next, written) = (2 as Int64, 0)
        for _ in 0..<24 {
            let batch = ledger.batch((next..<next + 700).flatMap { Fixture.delivery($0, bytes: 1300) })
            next += 700
            guard try ledger.committer.commit(batch) != nil else { break }
            written += 700 * 1300
        }
        var failure: StoreError?
        while failure == nil {
            if case .failed(let error) = try await ledger.report() { failure = error }
        }
        #expect(failure?.message.hasPrefix("fdatasync: ") == true && failure?.kind == .failed)
        // All that was written is still there.
        #expect(ledger.committer.status.logUsed > written && written > 8 << 20)
        #expect(ledger.committer.stop() == failure)
    }

    /// Puts something that cannot be synced in the place of the descriptor that the store syncs the WAL by.
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
