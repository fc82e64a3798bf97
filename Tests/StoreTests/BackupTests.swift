import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A backup", .timeLimit(.minutes(30)))
struct BackupTests {
    private let now = WallTime(milliseconds: 1_760_000_000_000)

    private func restore(_ path: String, into directory: String) throws -> Restoration {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return try Restoration.restore(file, into: directory, at: now)
    }

    private func numbers(in directory: String) throws -> [Int64] {
        var numbers: [Int64] = []
        try LedgerReader(directory: directory).rows { numbers.append($0.seq.value) }
        return numbers
    }

    @Test("includes requests that are only in the log, has mode 0600, and refuses to overwrite a file")
    func write() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        // The batch is durable; the test does not wait until the ledger has it.
        try ledger.write(Fixture.delivery(2))
        let path = directory.path + "/backup.db"
        let backup = try Backup.write(LedgerReader.complete(directory: directory.path), to: path)
        #expect(backup.requests == 2 && backup.schema == LedgerSchema.version)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o7777 == 0o600 && Int64(facts.st_size) == backup.length)
        #expect(try Backup.check(path) == backup)
        let error = #expect(throws: StoreError.self) { try Backup.write(ledger.reader(), to: path) }
        #expect(error?.kind == .exists)
        #expect(access("\(path).partial-\(getpid())", F_OK) != 0)
        ledger.committer.stop()
    }

    @Test("into a missing directory fails with its path and leaves no file")
    func nowhere() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        for path in ["\(directory.path)/none/backup.db", "\(directory.path)/ledger.db/backup.db"] {
            let error = #expect(throws: StoreError.self) { try Backup.write(ledger.reader(), to: path) }
            #expect(error?.context == path && error?.kind == .noDirectory)
        }
        ledger.committer.stop()
        let path = directory.path + "/none/salvaged.db"
        let error = #expect(throws: StoreError.self) { try Salvage.write(from: directory.path, to: path) }
        #expect(error?.context == path && error?.kind == .noDirectory)
    }

    @Test("can be restored: later requests are gone, numbers continue, queued entries are unknown, the state id is new")
    func restored() async throws {
        let directory = TemporaryDirectory()
        let (state, path) = (directory.path + "/state", directory.path + "/backup.db")
        var ledger = try TestLedger(state)
        let queued = CustomEntry(
            number: EntryNumber(1), cause: SequenceNumber(1), kind: .customEvent, destination: .sent(.brazeID("b")),
            platform: .android, app: nil, device: nil, externalID: nil, name: "n", data: [123, 125],
            time: now, savedAt: now)
        try await ledger.commit(
            Fixture.delivery(1, id: "a") + [
                .customData(.entry(queued, .queued, problem: nil)),
                .customData(.entry(Fixture.entry(2), .pending, problem: nil)),
            ])
        let backup = try Backup.write(ledger.reader(), to: path)
        try await ledger.commit(Fixture.delivery(2, id: "b"))
        #expect(throws: StoreError.self, "a daemon has it") { try restore(path, into: state) }
        ledger.committer.stop()

        let restored = try restore(path, into: state)
        #expect(restored.backup == backup && restored.state != backup.state && restored.continuesNumbers)
        #expect(restored.unknownEntries == 1)
        let aside = try #require(restored.setAside)
        #expect(aside == state + "/set-aside-1760000000000")
        #expect(try numbers(in: aside) == [1, 2], "it is whole where it is now")
        let reader = try LedgerReader(directory: state)
        #expect(reader.stateIdentity == restored.state)
        #expect(try reader.highestSequenceNumber() == SequenceNumber(2))
        #expect(try reader.find(uid: 1000, id: "a") != nil)
        #expect(try reader.find(uid: 1000, id: "b") == nil, "it is accepted again")
        var states: [EntryState] = []
        try reader.entries(EntryFilter(states: [.pending, .unknown, .queued])) { states.append($0.state) }
        #expect(states == [.unknown, .pending])

        ledger = try TestLedger(state)
        #expect(ledger.committer.recovery.setAside == nil, "the log begins anew, and nothing is damaged")
        try await ledger.commit(Fixture.delivery(3))
        ledger.committer.stop()
        #expect(try numbers(in: state) == [1, 3])
    }

    @Test("of a newer program, or a file that is no backup, is refused, and the restore changes nothing")
    func refused() async throws {
        let directory = TemporaryDirectory()
        let (state, path) = (directory.path + "/state", directory.path + "/backup.db")
        let ledger = try TestLedger(state)
        try await ledger.commit(Fixture.delivery(1))
        _ = try Backup.write(ledger.reader(), to: path)
        ledger.committer.stop()
        try Database(path: path, access: .readWrite).execute("PRAGMA user_version = 99")
        let newer = #expect(throws: StoreError.self) { try restore(path, into: state) }
        #expect(newer?.kind == .newerSchema)
        writeFile(String(repeating: "#", count: 20_000), to: path + ".none")
        let none = #expect(throws: StoreError.self) { try restore(path + ".none", into: state) }
        #expect(none?.kind == .corrupt)
        #expect(try numbers(in: state) == [1])
        #expect(access(state + "/ledger.db.restored", F_OK) != 0)
        #expect(access(state + "/set-aside-1760000000000", F_OK) != 0)
    }

    @Test("replaces an unreadable ledger, and numbers continue a billion later")
    func unreadable() async throws {
        let directory = TemporaryDirectory()
        let (state, path) = (directory.path + "/state", directory.path + "/backup.db")
        let ledger = try TestLedger(state)
        try await ledger.commit(Fixture.delivery(1))
        _ = try Backup.write(ledger.reader(), to: path)
        ledger.committer.stop()
        writeFile(String(repeating: "#", count: 20_000), to: state + "/ledger.db")
        let restored = try restore(path, into: state)
        #expect(!restored.continuesNumbers && restored.setAside != nil)
        #expect(try numbers(in: state) == [1])
        #expect(try LedgerReader(directory: state).highestSequenceNumber() == SequenceNumber(1_000_000_001))
        // A log without its ledger is no different.
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] { unlink("\(state)/\(name)") }
        mkdir(state + "/log", 0o700)
        let later = try Restoration.restore(nil, into: state, at: WallTime(milliseconds: 1_770_000_000_000))
        #expect(!later.continuesNumbers)
        #expect(try LedgerReader(directory: state).highestSequenceNumber() == SequenceNumber(1_000_000_000))
    }
}
