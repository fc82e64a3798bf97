import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("What the ledger survives")
struct DurabilityTests {
    @Test("kill -9 in the middle of a transaction leaves all that was reported and nothing of the rest")
    func killed() async throws {
        let directory = TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
            let ledger = try TestLedger(path)
            for seq in 1...20 { try await ledger.commit(Fixture.delivery(Int64(seq))) }
            let before = DurabilityTests.size(path + "/ledger.db-wal")
            ledger.submit((21...5020).flatMap { Fixture.delivery(Int64($0), bytes: 1300) })
            // More than the cache holds, so SQLite writes pages long before the commit.
            while DurabilityTests.size(path + "/ledger.db-wal") == before { sched_yield() }
            kill(getpid(), SIGKILL)
        }
        // Before the next daemon, so it is the reader that recovers the log.
        var numbers: [Int64] = []
        try LedgerReader(directory: directory.path).rows { numbers.append($0.seq.value) }
        #expect(try TestLedger(directory.path).storedNumbers() == numbers)
        #expect(numbers.prefix(20) == Array(1...20)[...])
        // All of it only if the commit was faster than the signal.
        #expect(numbers.count == 20 || numbers.count == 5020)
    }

    @Test(
        "a full disk stalls the commit, says so once, and loses nothing",
        .enabled(if: isRoot, "only root can mount a small file system"))
    func fullDisk() async throws {
        let directory = TemporaryDirectory()
        try #require(mount("tmpfs", directory.path, "tmpfs", 0, "size=1m") == 0)
        defer { umount2(directory.path, 2) }  // MNT_DETACH: the ledger is still open here when the test failed.
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        let filler = open(directory.path + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(filler, block, block.count) > 0 {}
        close(filler)

        ledger.submit((2...40).flatMap { Fixture.delivery(Int64($0), bytes: 5000) })
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the commit did not stall")
            return
        }
        #expect(error.kind == .noSpace)
        #expect(error.message == "database or disk is full")
        #expect(error.advice == "free space on that file system; nothing accepted so far is lost")
        #expect(try ledger.storedNumbers() == [1])

        ledger.submit(Fixture.delivery(41))
        unlink(directory.path + "/filler")
        var through: UInt64 = 0
        while through < 3, case .committed(let number, _) = try await ledger.report() { through = number }
        #expect(try ledger.storedNumbers() == Array(1...41))
        ledger.committer.stop()
    }

    @Test(
        "the log is copied to the database when it is long, and earlier when nothing comes for a second",
        .timeLimit(.minutes(1)))
    func checkpoints() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let file = directory.path + "/ledger.db"
        try await ledger.commit((1...15_000).flatMap { Fixture.delivery(Int64($0), bytes: 1300) })
        // Whoever gets this report knows that what followed the last one is done.
        try await ledger.commit(Fixture.delivery(15_001))
        let long = Self.size(file)
        #expect(long > 15_000 * 1300)

        try await ledger.commit((15_002...17_000).flatMap { Fixture.delivery(Int64($0), bytes: 1300) })
        #expect(Self.size(file) == long)
        while Self.size(file) < long + 1_900 * 1300 { try await Task.sleep(for: .milliseconds(5)) }
    }

    static func size(_ path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }
}
