import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("A new ledger", .timeLimit(.minutes(10)))
final class NewLedgerTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.path + "/ledger.db" }

    private func apply(_ records: [LedgerRecord], to writer: LedgerWriter) throws {
        let rows = RowBuffer()
        for record in records { rows.append(record) }
        try writer.apply([rows], through: LogPosition(number: 1, checksum: 0, segment: 0, end: 0))
    }

    @Test("is synced once, and before it has its name")
    func syncs() throws {
        let watch = DiskWatch(directory.path)
        let writer = try LedgerWriter(directory: directory.path)
        let order = watch.events.filter { $0.hasPrefix("sync ") || $0.hasPrefix("rename ") }
        #expect(order == ["sync ledger.db.new 0", "rename ledger.db 0"])
        #expect(watch.events.allSatisfy { !$0.hasPrefix("write ledger.db ") && !$0.contains("etilqs") })
        try apply(Fixture.delivery(1), to: writer)
        #expect(try LedgerReader(directory: directory.path).highestSequenceNumber() == SequenceNumber(1))
    }

    /// What a database consists of. The migrations leave the texts of statements with other white space and quotes.
    private func objects(of database: borrowing Database) throws -> [String] {
        let rows = try database.prepare(
            "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
        var objects: [String] = []
        while try rows.step() { objects.append((rows.text(0) ?? "").filter { !$0.isWhitespace && $0 != "\"" }) }
        return objects
    }

    @Test("has the tables that the migrations of the first ledger lead to, and their rows")
    func schema() throws {
        let writer = try LedgerWriter(directory: directory.path)
        let migrated = try Database(path: "", access: .readWrite)
        for migration in Schema.migrations { try migrated.execute(migration) }
        try Schema.makeViews(migrated)
        #expect(try objects(of: writer.database) == objects(of: migrated))
        for rows in ["meta", "figure_state", "log_position", "life", "sending", "texts"] {
            let count = "SELECT count(*) FROM \(rows)"
            // The row of a state directory's own is made behind the migrations.
            let made: Int64 = rows == "meta" ? 1 : 0
            #expect(try writer.database.integer(count) == migrated.integer(count) + made, "\(rows)")
        }
        let position = "SELECT number + checksum + segment + segment_end FROM log_position"
        #expect(try writer.database.integer(position) == migrated.integer(position))
        #expect(try writer.database.integer("SELECT version FROM figure_state") == FigureTable.version)
    }

    @Test("has nothing of one that is gone but for its WAL")
    func restOfAnother() throws {
        do {
            let writer = try LedgerWriter(directory: directory.path)
            try apply(Fixture.delivery(1), to: writer)
        }
        #expect(unlink(path) == 0)
        #expect(access(path + "-wal", F_OK) == 0, "or there is nothing that could be taken for the new one's")
        _ = try LedgerWriter(directory: directory.path)
        #expect(try LedgerReader(directory: directory.path).highestSequenceNumber() == SequenceNumber(0))
    }

    @Test("takes the place of a draft that an earlier start left")
    func draftOfAnother() throws {
        let draft = open(path + ".new", O_WRONLY | O_CREAT, 0o600)
        #expect(write(draft, "half", 4) == 4)
        close(draft)
        _ = try LedgerWriter(directory: directory.path)
        #expect(access(path + ".new", F_OK) != 0)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o640)
    }

    @Test("that cannot be synced is not there, and can be made later")
    func failedSync() throws {
        let watch = DiskWatch(directory.path)
        watch.failSyncs(of: "ledger.db.new", with: EIO)
        #expect(throws: StoreError.self) { _ = try LedgerWriter(directory: directory.path) }
        #expect(access(path, F_OK) != 0 && access(path + ".new", F_OK) != 0)
        watch.failSyncs(of: "ledger.db.new", with: 0)
        #expect(throws: Never.self) { _ = try LedgerWriter(directory: directory.path) }
    }
}
