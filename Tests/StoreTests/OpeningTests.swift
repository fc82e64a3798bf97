import CSQLite
import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Opening a ledger", .timeLimit(.minutes(30)))
struct OpeningTests {
    /// A state directory with one delivery, stopped.
    private func stoppedLedger() async throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        ledger.committer.stop()
        return directory
    }

    private func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) {
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(file)
    }

    @Test("that is missing gives an error with the path and an advice")
    func missing() throws {
        let directory = TemporaryDirectory()
        let error = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        #expect(error?.kind == .missing)
        #expect(
            error?.description == "\(directory.path)/ledger.db: no pushes are recorded here yet: there is no ledger; "
                + "start pushrouterd once with this state directory, or name another with --state")
    }

    @Test("whose file is still empty gives an error that it is not set up yet")
    func empty() throws {
        let directory = TemporaryDirectory()
        overwrite(directory.path + "/ledger.db", at: 0, with: [])
        let error = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        #expect(error?.kind == .missing)
        #expect(error?.message == "the ledger is not set up yet")
    }

    @Test("of a newer program is refused by the daemon and by readers")
    func newer() async throws {
        let directory = try await stoppedLedger()
        try Database(path: directory.path + "/ledger.db", access: .readWrite).execute("PRAGMA user_version = 99")
        let writing = #expect(throws: StoreError.self) { try TestLedger(directory.path) }
        let reading = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        for error in [writing, reading] {
            #expect(error?.kind == .newerSchema)
            #expect(error?.message == "the ledger has schema 99; this program knows up to \(LedgerSchema.version)")
        }
        #expect(throws: Never.self) { _ = try StateDirectory(path: directory.path) }
    }

    @Test("that is no SQLite database is refused by the daemon and by readers")
    func notADatabase() throws {
        let directory = TemporaryDirectory()
        overwrite(directory.path + "/ledger.db", at: 0, with: Array(repeating: UInt8(ascii: "#"), count: 20_000))
        let writing = #expect(throws: StoreError.self) { try TestLedger(directory.path) }
        let reading = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        for error in [writing, reading] {
            #expect(error?.kind == .corrupt)
            #expect(error?.message == "file is not a database")
            // The message names no SQL statement: it does not help a person.
            #expect(error?.description.contains("PRAGMA") == false, "\(error?.description ?? "")")
        }
    }

    @Test("that is missing, or empty, while its log exists fails, and no new one begins", arguments: [false, true])
    func lost(isEmpty: Bool) async throws {
        let directory = try await stoppedLedger()
        for suffix in ["", "-wal", "-shm"] { unlink("\(directory.path)/ledger.db\(suffix)") }
        if isEmpty { writeFile("", to: directory.path + "/ledger.db") }
        let before = names(in: directory.path + "/log")
        let error = #expect(throws: StoreError.self) { _ = try TestLedger(directory.path) }
        #expect(error?.kind == .lost)
        #expect(error?.message == "the ledger is \(isEmpty ? "empty" : "missing"), but its log exists")
        #expect(names(in: directory.path + "/log") == before)
        #expect(names(in: directory.path).allSatisfy { !$0.contains("aside") })

        let restored = try Restoration.restore(nil, into: directory.path, at: WallTime(milliseconds: 5))
        #expect(restored.setAside != nil)
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
    }

    @Test("with damaged pages fails when they are read, and never returns wrong data")
    func damaged() async throws {
        let directory = try await stoppedLedger()
        let length = LedgerWriter.newPageLength
        for page in 2..<10 {
            overwrite(directory.path + "/ledger.db", at: page * length, with: Array(repeating: 0xFF, count: length))
        }
        let error = #expect(throws: StoreError.self) {
            _ = try LedgerReader(directory: directory.path).story(of: SequenceNumber(1))
        }
        #expect(error?.kind == .corrupt)
    }

    @Test("with a word that the program does not know gives an error with the column and the word")
    func unknownWord() async throws {
        let directory = try await stoppedLedger()
        try Database(path: directory.path + "/ledger.db", access: .readWrite)
            .execute("UPDATE request_rows SET platform = 99")
        let error = #expect(throws: StoreError.self) {
            _ = try LedgerReader(directory: directory.path).story(of: SequenceNumber(1))
        }
        #expect(error?.kind == .corrupt)
        #expect(error?.message == "column platform: 99 stands for no Platform")
        #expect(error?.context == directory.path + "/ledger.db")
    }

    @Test("beyond RLIMIT_FSIZE reports a full disk, which may pass, with the limit")
    func fileLimit() async throws {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 64 << 10, rlim_max: 64 << 10)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let error = #expect(throws: StoreError.self) { _ = try TestLedger(directory.path) }
            #expect(error?.kind == .noSpace, "\(error?.description ?? "")")
            #expect(error?.advice.contains("LimitFSIZE=") == true, "\(error?.description ?? "")")
            limit.rlim_cur = 0
            #expect(StoreError.system("write", "f", errno: EFBIG).kind == .noSpace)
            #expect(StoreError.system("write", "f", errno: EFBIG).advice.contains("LimitFSIZE="))
        }
    }

    @Test("a write of the log that RLIMIT_FSIZE cuts within a block finds no room, and the next one may pass")
    func fileLimitWithinBlock() async throws {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            signal(SIGXFSZ, SIG_IGN)
            let state = UUID128(high: 1, low: 2)
            let segment = try LogSegment.create(1, length: 64 << 10, in: directory.path, state: state)
            let blocks = AlignedMemory(byteCount: 16 << 10)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var former = rlimit()
            try #require(getrlimit(resource, &former) == 0)
            var limit = rlimit(rlim_cur: (20 << 10) + 1, rlim_max: former.rlim_max)
            try #require(setrlimit(resource, &limit) == 0)
            let error = #expect(throws: StoreError.self) {
                try segment.write(UnsafeRawBufferPointer(blocks.bytes), at: 16 << 10)
            }
            #expect(error?.kind == .noSpace, "\(error?.description ?? "")")
            try #require(setrlimit(resource, &former) == 0)
            try segment.write(UnsafeRawBufferPointer(blocks.bytes), at: 16 << 10)
        }
    }

    @Test("keeps what an earlier daemon wrote")
    func reopened() async throws {
        let directory = try await stoppedLedger()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(2))
        #expect(try ledger.storedNumbers() == [1, 2])
    }

    @Test(
        "as a user without permission fails with an advice", .needsRoot)
    func notPermitted() async throws {
        let directory = try await stoppedLedger()
        chmod(directory.path, 0o755)
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            try #require(setgroups(0, nil) == 0 && setgid(65534) == 0 && setuid(65534) == 0)
            let error = #expect(throws: StoreError.self) { try LedgerReader(directory: path) }
            #expect(error?.kind == .notPermitted)
            #expect(error?.advice.contains("group") == true)
            let locking = #expect(throws: StoreError.self) { _ = try StateDirectory(path: path) }
            #expect(locking?.kind == .notPermitted)
        }
    }

    @Test(
        "works for a user with read permission, while the daemon runs and after it",
        .needsRoot)
    func readOnlyUser() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        chmod(directory.path, 0o755)
        for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] { chmod("\(directory.path)/\(file)", 0o644) }
        for stopped in [false, true] {
            if stopped { ledger.committer.stop() }
            await #expect(processExitsWith: .success) { [path = directory.path as String] in
                try #require(setgroups(0, nil) == 0 && setgid(65534) == 0 && setuid(65534) == 0)
                #expect(try LedgerReader(directory: path).acceptedRequests() == 1)
            }
        }
    }

    @Test("that finds no memory for a connection is an error as any other")
    func withoutMemory() {
        let error = StoreError.sqlite(nil, SQLITE_NOMEM, context: "the ledger")
        #expect(error.kind == .failed && error.context == "the ledger" && error.message == "out of memory")
        #expect(error.advice.contains("MemoryMax="), "no fault of the disk")
    }
}
