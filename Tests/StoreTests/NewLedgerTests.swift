import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A new ledger", .timeLimit(.minutes(30)))
final class NewLedgerTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.path + "/ledger.db" }

    private func apply(_ records: [LedgerRecord], to writer: LedgerWriter) throws {
        let rows = RowBuffer()
        for record in records { rows.append(record) }
        try writer.apply([rows], through: LogPosition(number: 1, checksum: 0, segment: 0, end: 0))
    }

    @Test("is synced once, before it gets its name")
    func syncs() throws {
        let watch = DiskWatch(directory.path)
        let writer = try LedgerWriter(directory: directory.path)
        let order = watch.events.filter { $0.hasPrefix("sync ") || $0.hasPrefix("rename ") }
        #expect(order == ["sync ledger.db.new 0", "rename ledger.db 0"])
        #expect(watch.events.allSatisfy { !$0.hasPrefix("write ledger.db ") && !$0.contains("etilqs") })
        try apply(Fixture.delivery(1), to: writer)
        #expect(try LedgerReader(directory: directory.path).highestSequenceNumber() == SequenceNumber(1))
    }

    @Test("has the application id in its header and today's schema version")
    func marks() throws {
        let writer = try LedgerWriter(directory: directory.path)
        #expect(try writer.database.integer("PRAGMA application_id") == 0x7075_7368)
        #expect(try writer.database.integer("PRAGMA user_version") == LedgerSchema.version)
        #expect(try writer.database.integer("SELECT version FROM figure_state") == FigureTable.version)
        // Reads the file itself, before anything opens the database.
        let header = try #require(readFile(path))
        #expect(Array(header[68..<72]) == Array("push".utf8))
    }

    @Test("a new ledger replaces an empty file")
    func emptyFile() throws {
        writeFile("", to: path)
        _ = try LedgerWriter(directory: directory.path)
        let header = try #require(readFile(path))
        #expect(Array(header[68..<72]) == Array("push".utf8))
    }

    @Test("uses no file of a lost ledger except its WAL")
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

    @Test("replaces a draft that an earlier start left")
    func draftOfAnother() throws {
        let draft = open(path + ".new", O_WRONLY | O_CREAT, 0o600)
        #expect(write(draft, "half", 4) == 4)
        close(draft)
        _ = try LedgerWriter(directory: directory.path)
        #expect(access(path + ".new", F_OK) != 0)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o640)
    }

    @Test("does not exist when its sync fails, and can be created later")
    func failedSync() throws {
        let watch = DiskWatch(directory.path)
        watch.failSyncs(of: "ledger.db.new", with: EIO)
        #expect(throws: StoreError.self) { _ = try LedgerWriter(directory: directory.path) }
        #expect(access(path, F_OK) != 0 && access(path + ".new", F_OK) != 0)
        watch.failSyncs(of: "ledger.db.new", with: 0)
        #expect(throws: Never.self) { _ = try LedgerWriter(directory: directory.path) }
    }
}
