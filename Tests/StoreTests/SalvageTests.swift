import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("Salvage", .timeLimit(.minutes(30)))
struct SalvageTests: ~Copyable {
    private static let page = LedgerWriter.newPageLength
    private let directory = TemporaryDirectory()
    private var state: String { directory.path + "/copy" }
    private var file: String { directory.path + "/salvaged.db" }

    /// Makes a ledger of so many requests whose last is durable and may not be in the ledger, as after a crash.
    private func makeLedger(of count: Int64) async throws {
        let ledger = try TestLedger(directory.path + "/state")
        let records: [[LedgerRecord]] = (1..<count).map { seq in
            [.request(Fixture.request(seq, id: "r\(seq)", bytes: 1000)), .invocation(Fixture.invocation(seq))]
        }
        try await ledger.commit(records.flatMap { $0 })
        try await ledger.commit(Fixture.delivery(count))
        let other = try ledger.secondConnection()
        // The connection reads first: without a read it has no WAL to copy.
        #expect(try other.integer("SELECT count(*) FROM requests") == count)
        #expect(try other.checkpoint(emptying: true))
        try ledger.write(Fixture.delivery(count + 1))
        let copied = Program(path: "/bin/cp").run(["-r", ledger.path, state])
        #expect(copied.end == .exited(0), "\(copied.errors)")
        let error = #expect(throws: StoreError.self) { try Salvage.write(from: ledger.path, to: file) }
        #expect(error?.kind == .inUse(by: getpid()))
    }

    /// The pages that hold bodies of requests.
    private func pagesWithBodies() throws -> [Int] {
        let bytes = try #require(readFile(state + "/ledger.db"))
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 900)
        return stride(from: 0, to: bytes.count, by: Self.page).filter { start in
            bytes[start..<start + Self.page].contains(body)
        }.map { $0 / Self.page }
    }

    private func damage(_ pages: [Int]) throws {
        let database = open(state + "/ledger.db", O_WRONLY | O_CLOEXEC)
        defer { close(database) }
        let noise = [UInt8](repeating: 0xA5, count: Self.page)
        for page in pages { try #require(pwrite(database, noise, Self.page, off_t(page * Self.page)) == Self.page) }
    }

    @Test("saves all rows except those on damaged pages, and the log's tail, and only reads the state directory")
    func damaged() async throws {
        try await makeLedger(of: 400)
        let pages = try pagesWithBodies()
        try #require(pages.count > 20)
        // The first, the last, two neighbors and a single page: the salvage steps over each, forwards and backwards.
        try damage([pages[0], pages[8], pages[9], pages[16], pages[pages.count - 1]])
        let before = try #require(readFile(state + "/ledger.db"))

        let salvage = try Salvage.write(from: state, to: file)
        #expect(readFile(state + "/ledger.db") == before)
        #expect(!salvage.isWhole && salvage.logDamage == nil)
        let requests = try #require(salvage.tables.first { $0.name == "requests" })
        #expect(requests.damage?.contains("malformed") == true)
        // A page holds at most sixteen requests.
        #expect((401 - 5 * 16..<401).contains(Int(salvage.backup.requests)), "\(salvage.backup.requests)")
        #expect(salvage.orphans == 401 - Int(salvage.backup.requests), "the invocations of what is lost")
        #expect(names(in: directory.path) == ["copy", "salvaged.db", "state"])

        let backup = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(backup) }
        let restored = try Restoration.restore(backup, into: state, at: WallTime(milliseconds: 5))
        #expect(readFile(try #require(restored.setAside) + "/ledger.db") == before)
        let reader = try LedgerReader(directory: state)
        #expect(try reader.story(of: SequenceNumber(100))?.request.body.count == 1000)
        #expect(try reader.story(of: SequenceNumber(401)) != nil, "it was in the log alone")
        #expect(try reader.find(uid: 1000, id: "r100") != nil)
        #expect(try reader.highestSequenceNumber() > SequenceNumber(1_000_000))
    }

    @Test("of rows whose shared texts are lost saves the rows with NULL, and no other text in their place")
    func lostTexts() async throws {
        try await makeLedger(of: 40)
        let place = try Database(path: state + "/ledger.db", access: .readOnly)
            .integer("SELECT rootpage FROM sqlite_schema WHERE name = 'texts'")
        try damage([Int(place) - 1])
        let salvage = try Salvage.write(from: state, to: file)
        #expect(!salvage.isWhole && salvage.backup.requests == 41)
        #expect(salvage.tables.first { $0.name == "texts" }?.damage != nil)
        let backup = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(backup) }
        _ = try Restoration.restore(backup, into: state, at: WallTime(milliseconds: 5))
        let ledger = try TestLedger(state)
        for seq in 2_000_000...2_000_003 {
            var request = Fixture.request(Int64(seq))
            request.app = "com.example.other"
            try await ledger.commit([.request(request)])
        }
        let story = try #require(try ledger.reader().story(of: SequenceNumber(20)))
        #expect(story.request.app == nil && story.request.boot == UUID128(high: 0, low: 0))
        #expect(story.request.device == "d1" && story.invocations.count == 1)
    }

    @Test("of a ledger whose header names a format that SQLite lacks says how to go on without it")
    func unknownFormat() async throws {
        try await makeLedger(of: 2)
        let database = open(state + "/ledger.db", O_WRONLY | O_CLOEXEC)
        defer { close(database) }
        // The schema format is a number of four bytes at 44, and at most 4 (https://www.sqlite.org/fileformat2.html).
        try #require(pwrite(database, [UInt8(68)], 1, 47) == 1)
        let error = #expect(throws: StoreError.self) { try Salvage.write(from: state, to: file) }
        #expect(error?.kind == .lost)
        #expect(error?.advice.contains("pushctl restore --empty") == true)
    }

    @Test("is not part of a restore, which sets a damaged ledger aside unchanged and continues a million numbers later")
    func replaced() async throws {
        try await makeLedger(of: 400)
        try damage([try pagesWithBodies()[8]])
        let files = ["ledger.db", "ledger.db-wal"]
        let before = files.map { readFile("\(state)/\($0)") }
        let restored = try Restoration.restore(nil, into: state, at: WallTime(milliseconds: 5))
        #expect(files.map { readFile("\(state)/set-aside-5/\($0)") } == before)
        #expect(restored.continuesNumbers)
        // The ledger may have applied the log's last request already.
        #expect([1_000_400, 1_000_401].contains(try LedgerReader(directory: state).highestSequenceNumber().value))
    }

    @Test("locks the state directory while it reads")
    func locked() throws {
        mkdir(state, 0o700)
        do { _ = try StateDirectory(path: state) }
        try #require(mkfifo(state + "/ledger.db", 0o600) == 0)
        let thread = try storeThread("salvage") { [state, file] in
            #expect(throws: StoreError.self) { try Salvage.write(from: state, to: file) }
        }
        // open(2) of the FIFO returns once the salvage has opened it too; the salvage then reads until the end.
        let ledger = open(state + "/ledger.db", O_WRONLY | O_CLOEXEC)
        let error = #expect(throws: StoreError.self) { _ = try StateDirectory(path: state) }
        #expect(error?.kind == .inUse(by: getpid()))
        close(ledger)
        thread.join()
        _ = try StateDirectory(path: state)
    }

    @Test(
        "needs twice the room of the ledger", .needsRoot)
    func room() async throws {
        try await makeLedger(of: 10_000)
        let length = try #require(readFile(state + "/ledger.db")).count
        let small = directory.path + "/small"
        mkdir(small, 0o700)
        let options = "size=\(length * 9 / 4)"
        try #require(mount("tmpfs", small, "tmpfs", 0, options) == 0, "cannot mount")
        defer { umount2(small, Int32(MNT_DETACH)) }
        let salvage = try Salvage.write(from: state, to: small + "/salvaged.db")
        #expect(salvage.isWhole && salvage.backup.requests == 10_001)
    }

    @Test("of a whole ledger loses nothing and skips no number")
    func whole() async throws {
        try await makeLedger(of: 20)
        let salvage = try Salvage.write(from: state, to: file)
        #expect(salvage.isWhole && salvage.backup.requests == 21)
        #expect(salvage.tables.allSatisfy { $0.rows > 0 })
    }

    @Test("of a truncated ledger saves the rows that are left", arguments: [4, 20])
    func short(pages: Int) async throws {
        try await makeLedger(of: 400)
        let length = try #require(readFile(state + "/ledger.db")).count
        #expect(truncate(state + "/ledger.db", off_t(length - pages * Self.page)) == 0)
        let salvage = try Salvage.write(from: state, to: file)
        #expect(!salvage.isWhole)
        #expect((380 - pages * 16...401).contains(Int(salvage.backup.requests)), "\(salvage.backup.requests)")
    }

    @Test("of a file that is no ledger fails, and leaves no file")
    func hopeless() throws {
        mkdir(state, 0o700)
        writeFile(String(repeating: "#", count: 20_000), to: state + "/ledger.db")
        let error = #expect(throws: StoreError.self) { try Salvage.write(from: state, to: file) }
        #expect(error?.kind == .lost && error?.context == state + "/ledger.db")
        #expect(error?.advice.contains("pushctl restore --empty") == true)
        #expect(names(in: directory.path) == ["copy"])
    }

    @Test("is not needed for a new start: an empty ledger replaces the damaged one, which is kept")
    func empty() throws {
        mkdir(state, 0o700)
        writeFile(String(repeating: "#", count: 20_000), to: state + "/ledger.db")
        let restored = try Restoration.restore(nil, into: state, at: WallTime(milliseconds: 5))
        #expect(restored.backup.requests == 0 && !restored.continuesNumbers)
        #expect(readFile(state + "/set-aside-5/ledger.db")?.count == 20_000)
        #expect(try LedgerReader(directory: state).highestSequenceNumber() == SequenceNumber(1_000_000_000))
        let database = try Database(path: state + "/ledger.db", access: .readOnly)
        #expect(try database.integer("PRAGMA auto_vacuum") == 2, "it can give back space")
        #expect(try database.integer("PRAGMA page_size") == Int64(Self.page))
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes contain this run of equal bytes.
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        var run = 0
        for byte in self {
            run = byte == bytes.first ? run + 1 : 0
            if run == bytes.count { return true }
        }
        return false
    }
}
