import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The durability of the store", .timeLimit(.minutes(30)))
struct DurabilityTests {
    // A killed process leaves the page cache: the test covers the process and not the disk.
    @Test("kill -9 while a batch is applied: the next start has all of the batch, a reader before it none")
    func killed() async throws {
        let directory = TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
            let ledger = try TestLedger(path)
            for seq in 1...20 { try await ledger.commit(Fixture.delivery(Int64(seq))) }
            let before = DurabilityTests.size(path + "/ledger.db-wal")
            try ledger.write((21...5020).flatMap { Fixture.delivery(Int64($0), bytes: 1300) })
            // The batch is larger than the cache, so SQLite writes pages long before the commit.
            // If no page is written, SIGALRM ends the process, and the test fails.
            alarm(60)
            while DurabilityTests.size(path + "/ledger.db-wal") == before { sched_yield() }
            kill(getpid(), SIGKILL)
        }
        var numbers: [Int64] = []
        try LedgerReader(directory: directory.path).rows { numbers.append($0.seq.value) }
        #expect(numbers.prefix(20) == Array(1...20)[...])
        // The whole batch is there only if the transaction was faster than the signal.
        #expect(numbers.count == 20 || numbers.count == 5020)
        #expect(try TestLedger(directory.path).storedNumbers() == Array(1...5020))
    }

    @Test(
        "a full disk stalls the writes when the log is full, is reported once, and loses nothing",
        .needsRoot)
    func fullDisk() async throws {
        let directory = TemporaryDirectory()
        // The log allocates long segments in advance, also once there is room again; ledger and WAL need as much beside
        // it.
        try #require(mount("tmpfs", directory.path, "tmpfs", 0, "size=192m") == 0)
        defer { umount2(directory.path, 2) }  // MNT_DETACH: the ledger is still open here when the test failed.
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        Self.fill(directory.path)

        // The log has space of its own: the store acknowledges until that is used up.
        var seq: Int64 = 1
        while try ledger.committer.commit(ledger.batch(Fixture.delivery(seq + 1, bytes: 50_000))) != nil { seq += 1 }
        #expect(seq > 5)
        var stalls: [StoreError] = []
        while stalls.count < 2 {
            switch try await ledger.report() {
            case .stalled(let error), .ledgerStalled(let error): stalls.append(error)
            case let other: Issue.record("\(other)")
            }
        }
        #expect(stalls.allSatisfy { $0.kind == .noSpace })
        #expect(stalls.allSatisfy { $0.advice == "free space on that file system; nothing accepted so far is lost" })
        #expect(try ledger.storedNumbers() == [1])

        unlink(directory.path + "/filler")
        try await ledger.applied(UInt64(seq) + 1)
        #expect(try ledger.storedNumbers() == Array(1...seq + 1))
        ledger.committer.stop()
    }

    @Test(
        "a full disk that keeps the WAL from being emptied is reported as a full disk, and not as a reader",
        .needsRoot)
    func fullDiskBehindWAL() async throws {
        let directory = TemporaryDirectory()
        try #require(mount("tmpfs", directory.path, "tmpfs", 0, "size=4m") == 0)
        defer { umount2(directory.path, Int32(MNT_DETACH)) }
        // With a WAL limit of 0 the ledger copies the WAL before each transaction.
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 2 << 20, walLength: 0))
        try await ledger.commit(Fixture.delivery(1, bytes: 50_000))
        // A file of the log that is removed a moment later makes room again, so the disk is filled until the ledger waits.
        var (last, seq): (UInt64, Int64) = (0, 2)
        var problem: StoreReport?
        while problem == nil, seq < 20 {
            Self.fill(directory.path)
            last = try ledger.write(Fixture.delivery(seq, bytes: 50_000))
            problem = try await ledger.problem(applying: last)
            seq += 1
        }
        guard case .ledgerStalled(let error)? = problem else {
            Issue.record("the ledger did not wait: \(String(describing: problem))")
            return
        }
        #expect(error.kind == .noSpace, "\(error)")
        unlink(directory.path + "/filler")
        #expect(try await ledger.report() == .ledgerResumed)
        try await ledger.applied(last)
        ledger.committer.stop()
    }

    @Test(
        "the ledger copies a long WAL to the database, and a short one after a second without a batch",
        .timeLimit(.minutes(30)))
    func checkpoints() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let file = directory.path + "/ledger.db"
        try await ledger.commit((1...9000).flatMap { Fixture.delivery(Int64($0), bytes: 1300) })
        // Commits without a pause: a second without a batch is not the reason of the copy.
        var next: Int64 = 9001
        while Self.size(file) <= 9000 * 1300 {
            try await ledger.commit(Fixture.delivery(next))
            next += 1
        }
        let long = Self.size(file)

        try await ledger.commit((next..<next + 1999).flatMap { Fixture.delivery($0, bytes: 1300) })
        while Self.size(file) < long + 1_900 * 1300 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("a reader with an open snapshot lets the WAL grow to its bound, then the ledger waits for the reader")
    func heldReader() async throws {
        let directory = TemporaryDirectory()
        let bound = 4 << 20
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 64 << 20, walLength: bound))
        try await ledger.commit(Fixture.delivery(1))
        let reader = try ledger.secondConnection()
        try reader.execute("BEGIN; SELECT count(*) FROM requests")
        var last: UInt64 = 0
        for page in 0..<20 {
            let first = Int64(page) * 500 + 2
            last = try ledger.write((first..<first + 500).flatMap { Fixture.delivery($0, bytes: 1300) })
        }
        guard case .ledgerStalled(let error) = try await ledger.report() else {
            Issue.record("the ledger did not wait")
            return
        }
        #expect(error.kind == .busy && error.message.hasPrefix("a reader keeps SQLite from emptying the WAL"))
        // One transaction may exceed the bound by its own size.
        #expect(Self.size(directory.path + "/ledger.db-wal") < bound + 5 << 20)
        let status = ledger.committer.status
        #expect(status.walLength > bound && status.batchesBehind > 0 && status.bytesBehind > 0)
        #expect(status.behindSince != nil && status.logUsed > 0 && status.logUsed < status.logLimit)

        try reader.execute("COMMIT")
        #expect(try await ledger.report() == .ledgerResumed)
        try await ledger.applied(last)
        #expect(try ledger.storedNumbers().count == 10_001)
    }

    /// Fills a file system with a file in this directory.
    private static func fill(_ directory: String) {
        let filler = open(directory + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(filler, block, block.count) > 0 {}
        close(filler)
    }

    static func size(_ path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }
}
