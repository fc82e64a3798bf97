import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A sync that fails", .timeLimit(.minutes(30)))
final class FailedSyncTests {
    private let directory = TemporaryDirectory()

    /// Writes until the store reports a problem.
    private func failure(of ledger: TestLedger) async throws -> StoreReport {
        for seq in 1...200 as ClosedRange<Int64> {
            let number = try ledger.write(Fixture.delivery(seq, bytes: 500_000))
            if let report = try await ledger.problem(applying: number) { return report }
        }
        throw NeverSynced()
    }

    /// The error after 100 MB of writes without a sync.
    private struct NeverSynced: Error {}

    @Test(
        "ends the store, and is never taken for a full disk",
        arguments: [EIO, ENOSPC, EDQUOT], ["ledger.db-wal", "ledger.db"])
    func isTheEnd(error: Int32, file: String) async throws {
        let watch = DiskWatch(directory.path)
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 16 << 20))
        watch.failSyncs(of: file, with: error)
        let report = try await failure(of: ledger)
        guard case .failed(let failure) = report else {
            Issue.record("\(report)")
            return
        }
        #expect(failure.kind == .failed && !failure.isTransient, "\(failure)")
        let end = try #require(watch.events.firstIndex(of: "sync \(file) \(error)"))
        ledger.committer.stop()
        // A later sync may succeed although the first one lost pages: a later write would hide that loss.
        let after = watch.events[(end + 1)...].filter { $0.contains(" ledger.db") }
        #expect(after == [], "nothing is copied from the WAL, and nothing is synced again")
    }

    @Test("of the WAL alone has the same result", arguments: [EIO, ENOSPC, EDQUOT])
    func ofTheWAL(error: Int32) throws {
        let watch = DiskWatch(directory.path)
        let writer = try LedgerWriter(directory: directory.path)
        try writer.sync()
        watch.failSyncs(of: "-wal", with: error)
        let failure = #expect(throws: StoreError.self) { try writer.sync() }
        #expect(failure?.kind == .failed && failure?.isTransient == false)
    }

    @Test(
        "or a failed write to the log ends the store, except for ENOSPC and EDQUOT",
        arguments: [(EIO, false), (EROFS, false), (EACCES, false), (ENOSPC, true), (EDQUOT, true)])
    func logWrite(error: Int32, isTransient: Bool) {
        #expect(StoreError.logWrite("segment", errno: error).isTransient == isTransient)
    }

    @Test("loses nothing: the log keeps the batches, and the next start applies them again")
    func nothingIsLost() async throws {
        let watch = DiskWatch(directory.path)
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 16 << 20))
        watch.failSyncs(of: "ledger.db-wal", with: EIO, passing: 3)
        _ = try await failure(of: ledger)
        let last = ledger.committer.status
        ledger.committer.stop()
        #expect(last.logUsed > 0)
        watch.failSyncs(of: "", with: 0)
        // The disk has lost the pages that were not synced: truncates the WAL.
        truncate(directory.path + "/ledger.db-wal", 0)
        unlink(directory.path + "/ledger.db-shm")
        let next = try TestLedger(directory.path)
        let numbers = try next.storedNumbers()
        #expect(numbers == Array(1...Int64(numbers.count)) && numbers.count > 1)
        #expect(UInt64(numbers.count) == next.committer.lastNumber)
    }

    @Test("is never needed for the log: its files are opened with O_DSYNC")
    func synced() throws {
        let ledger = try TestLedger(directory.path)
        defer { withExtendedLifetime(ledger) {} }
        var segments = 0
        // Other tests have open files, too.
        for number in 0..<Int32(1 << 16) where fcntl(number, F_GETFD) >= 0 {
            var link = [UInt8](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(number)", &link, link.count)
            guard length > 0 else { continue }
            let path = String(decoding: link[..<length], as: UTF8.self)
            guard path.hasPrefix(directory.path + "/log/segment-") else { continue }
            segments += 1
            #expect(fcntl(number, F_GETFL) & O_DSYNC == O_DSYNC, "\(path)")
        }
        #expect(segments > 0)
    }
}
