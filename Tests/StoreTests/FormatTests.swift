import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A ledger of an older version", .timeLimit(.minutes(30)))
struct MigrationTests {
    /// Migrations from a made-up version 0, which had no gaps and no column for the field of an entry, to today's.
    private static let migrations = LedgerSchema.migrations.merging([
        0: """
        ALTER TABLE entries ADD COLUMN field TEXT;
        CREATE TABLE gaps (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            begin_at INTEGER NOT NULL,
            end_at INTEGER NOT NULL
        ) STRICT;
        """
    ]) { $1 }

    /// A state directory with a ledger of that version, which has one delivery.
    private func olderLedger() async throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(1))
            ledger.committer.stop()
        }
        try Database(path: directory.path + "/ledger.db", access: .readWrite).execute(
            """
            DROP TABLE producers; DROP TABLE last_erased; DROP TABLE gaps; ALTER TABLE entries DROP COLUMN field;
            DROP TABLE fan_outs; DROP TABLE subscriptions; DROP TABLE configurations; DROP TABLE audit;
            ALTER TABLE devices DROP COLUMN token; ALTER TABLE devices DROP COLUMN uid;
            ALTER TABLE devices DROP COLUMN state; ALTER TABLE devices DROP COLUMN locked;
            ALTER TABLE devices DROP COLUMN os_version; ALTER TABLE devices DROP COLUMN notifications;
            ALTER TABLE devices DROP COLUMN sdk; ALTER TABLE devices DROP COLUMN former_tokens;
            PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE);
            """)
        return directory
    }

    /// The objects in `sqlite_schema` of a database. A migration changes the white space of their SQL texts.
    private func objects(of database: borrowing Database) throws -> [String] {
        let rows = try database.prepare(
            "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
        var objects: [String] = []
        while try rows.step() { objects.append((rows.text(0) ?? "").filter { !$0.isWhitespace }) }
        return objects
    }

    @Test("is migrated to today's version step by step with all its rows, after a report that this may take long")
    func migrates() async throws {
        let directory = try await olderLedger()
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        var isTold = false
        try LedgerSchema.migrate(database, by: Self.migrations, onMigration: { isTold = true })
        #expect(isTold)
        #expect(try database.integer("PRAGMA user_version") == LedgerSchema.version)
        let today = try Database(path: "", access: .readWrite)
        try LedgerSchema.migrate(today, onMigration: {})
        #expect(try objects(of: database) == objects(of: today))
        #expect(try TestLedger(directory.path).storedNumbers() == [1])
        // Opening a ledger of today's version runs no migration.
        isTold = false
        try LedgerSchema.migrate(database, by: Self.migrations, onMigration: { isTold = true })
        #expect(!isTold)
    }

    @Test("of before version 5 has its topics in rows of their own afterwards, and keeps the other facts")
    func topics() async throws {
        let directory = try await olderLedger()
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        let former = Self.migrations.filter { $0.key < 4 }
        for step in Int64(0)..<4 { try database.execute(former[step] ?? "") }
        try database.execute(
            """
            PRAGMA user_version = 4;
            INSERT INTO devices (number, app, device, platform, external_id, token, topics, locked) VALUES
                (1, 'a', 'd1', 'android', 'anna', 't1', '-/news/5 p"\\q/x"\\y%/253402300799', 1),
                (2, 'a', 'd2', 'ios', NULL, 't2', NULL, NULL), (3, 'a', 'd3', 'ios', NULL, NULL, 'p/one/0', NULL);
            """)
        try LedgerSchema.migrate(database, by: Self.migrations, onMigration: {})
        let today = try Database(path: "", access: .readWrite)
        try LedgerSchema.migrate(today, onMigration: {})
        #expect(try objects(of: database) == objects(of: today))
        let devices = try LedgerReader(directory: directory.path).knownDevices()
        let names = devices.map { $0.detail.topics.map { "\($0.topic.project)/\($0.topic.topic)/\($0.since)" } }
        #expect(names == [["-/news/5", #"p"\q/x"\y%/253402300799"#], [], ["p/one/0"]])
        #expect(devices.map(\.token) == ["t1", "t2", nil] && devices.map(\.detail.state.locked) == [true, nil, nil])
        #expect(devices.allSatisfy { $0.owner == nil })
    }

    @Test("is unchanged after a kill -9 in the middle of the migration", arguments: 0...2)
    func killed(writes: Int) async throws {
        let directory = try await olderLedger()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String, writes = writes as Int] in
            let database = try Database(path: path + "/ledger.db", access: .readWrite)
            let watch = DiskWatch(path)
            // The transaction writes its pages to the WAL, and is valid once the last of them is written.
            try LedgerSchema.migrate(database, by: Self.migrations, onMigration: { watch.killAtWrite(passing: writes) })
        }
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        #expect(try database.integer("PRAGMA user_version") == 0)
        #expect(try database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'gaps'") == 0)
        try LedgerSchema.migrate(database, by: Self.migrations, onMigration: {})
        #expect(try TestLedger(directory.path).storedNumbers() == [1])
    }

    @Test("is refused by readers until the daemon has migrated it, with an advice")
    func unread() async throws {
        let directory = try await olderLedger()
        let error = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        #expect(error?.kind == .olderSchema)
        #expect(
            error?.description
                == "\(directory.path)/ledger.db: the ledger has schema 0; this program reads \(LedgerSchema.version); "
                + "start the new pushrouterd once with this state directory: it brings the ledger up to date; if it cannot, "
                + "the file is damaged, and \"pushctl restore FILE\" goes on from a backup")
    }

    @Test("is damaged where a bit of its number makes it an older one that has the tables already")
    func flippedNumber() async throws {
        let directory = TemporaryDirectory()
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        for flipped in [LedgerSchema.version ^ 1, LedgerSchema.version ^ 2] {
            try database.execute("PRAGMA user_version = \(flipped)")
            let error = #expect(throws: StoreError.self) {
                try LedgerSchema.migrate(database, onMigration: {})
            }
            #expect(
                error?.kind == .corrupt
                    && error?.message.hasPrefix("the ledger has schema \(flipped), and other tables: ") == true)
            #expect(error?.advice.contains("pushctl restore") == true)
            try? database.execute("ROLLBACK")
        }
    }

    @Test("without a migration is refused, and left as it is")
    func noStep() async throws {
        let directory = try await olderLedger()
        let before = readFile(directory.path + "/ledger.db")
        let error = #expect(throws: StoreError.self) { _ = try TestLedger(directory.path) }
        #expect(error?.kind == .otherFormat)
        #expect(error?.message == "the ledger has schema 0, which this program cannot bring up to date")
        #expect(readFile(directory.path + "/ledger.db") == before)
    }
}

@Suite("A state directory of another format", .timeLimit(.minutes(30)))
struct OtherFormatTests {
    /// A state directory with a log and a ledger whose header is that of a version before 1.0.0.
    private func earlierState() async throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(1))
            ledger.committer.stop()
        }
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        try database.execute(
            "PRAGMA application_id = 0; PRAGMA user_version = 10; PRAGMA wal_checkpoint(TRUNCATE)")
        try earlierMagic(directory.path)
        return directory
    }

    private func earlierMagic(_ directory: String) throws {
        for name in names(in: directory + "/log") {
            let file = open("\(directory)/log/\(name)", O_WRONLY | O_CLOEXEC)
            defer { close(file) }
            try #require(pwrite(file, "PUSHLOG\n", 8, 0) == 8)
        }
    }

    @Test("is set aside unchanged and reported, and a new ledger begins")
    func setAside() async throws {
        let directory = try await earlierState()
        let (ledger, log) = (readFile(directory.path + "/ledger.db"), names(in: directory.path + "/log"))
        do {
            let new = try TestLedger(directory.path)
            let aside = try #require(new.committer.recovery.setAside)
            #expect(aside.kind == .otherFormat)
            #expect(SetAside.list(in: directory.path) == [aside.path])
            #expect(aside.reason.contains("the application_id 0, not 1886745448"))
            #expect(readFile(aside.path + "/ledger.db") == ledger && names(in: aside.path + "/log") == log)
            #expect(try new.storedNumbers() == [])
            try await new.commit(Fixture.delivery(1))
            new.committer.stop()
        }
        let next = try TestLedger(directory.path)
        #expect(next.committer.recovery.setAside == nil)
        #expect(try next.storedNumbers() == [1])
    }

    @Test("is also set aside when only the log is left")
    func logAlone() async throws {
        let directory = try await earlierState()
        for suffix in ["", "-wal", "-shm"] { unlink("\(directory.path)/ledger.db\(suffix)") }
        let new = try TestLedger(directory.path)
        #expect(new.committer.recovery.setAside?.kind == .otherFormat)
        #expect(new.committer.recovery.setAside?.reason.contains("the log has another format") == true)
        try await new.commit(Fixture.delivery(1))
    }

    @Test("whose log alone has another format: the log is set aside, and no number repeats")
    func logOfAnother() async throws {
        let directory = TemporaryDirectory()
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(1))
            ledger.committer.stop()
        }
        try earlierMagic(directory.path)
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.setAside?.kind == .damagedLog)
        #expect(try ledger.storedNumbers() == [1])
        #expect(try ledger.reader().highestSequenceNumber() > SequenceNumber(1))
    }

    @Test("is refused by readers, restore and salvage, with an advice")
    func refused() async throws {
        let directory = try await earlierState()
        let reading = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        #expect(reading?.kind == .otherFormat)
        #expect(
            reading?.advice
                == "pushrouterd, started with this state directory, moves it to set-aside-* there and begins a new one")
        let backup = directory.path + "/backup.db"
        try #require(rename(directory.path + "/ledger.db", backup) == 0)
        let checking = #expect(throws: StoreError.self) { _ = try Backup.check(backup) }
        #expect(checking?.kind == .otherFormat && checking?.advice == "name another file")
    }
}
