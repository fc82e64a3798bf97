import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// A restore takes each file that a salvage writes, and a start takes the restored ledger.
@Suite("Invalid values in a damaged ledger", .timeLimit(.minutes(30)))
final class SalvagedValuesTests {
    private let directory = TemporaryDirectory()
    private var state: String { directory.path + "/state" }
    private var ledger: String { state + "/ledger.db" }
    private var whole: String { directory.path + "/whole.db" }

    private struct Column {
        let table: String
        let name: String
        let type: String
    }

    /// Makes a ledger with a row in each table, and lists all columns.
    private func makeSource() async throws -> [Column] {
        let ledger = try TestLedger(directory.path + "/source")
        try await ledger.commit(Whole.records)
        _ = try Backup.write(ledger.reader(), to: whole)
        let database = try Database(path: whole, access: .readOnly)
        let list = try database.prepare(
            """
            SELECT tables.name, columns.name, columns.type
            FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'
            """)
        var columns: [Column] = []
        while try list.step() {
            columns.append(Column(table: list.text(0) ?? "", name: list.text(1) ?? "", type: list.text(2) ?? ""))
        }
        return columns
    }

    private func makeState() throws {
        for end in ["", "-wal", "-shm"] { unlink(ledger + end) }
        mkdir(state, 0o700)
        try FileCopy.make(of: whole, at: ledger)
    }

    /// Returns a value in SQL that a column may not have, or seldom has.
    private func value(for column: Column, _ random: inout SeededGenerator) -> String {
        let numbers: [Int64] = [.min, -1, 99, 1 << 60, (1 << 60) + 1, 1 << 61, (1 << 61) + 1, (1 << 62) - 2, .max]
        let number = "\(numbers.randomElement(using: &random) ?? 0)"
        let choices =
            switch column.type {
            case "INTEGER": [number, number, "NULL"]
            case "TEXT": ["'nonsense'", "''", "NULL"]
            case "BLOB": ["x'01'", "x''", "NULL"]
            default: [number, "'nonsense'", "x'01'", "NULL"]
            }
        return choices.randomElement(using: &random) ?? "NULL"
    }

    private func salvageAndRestore() throws -> Salvage {
        let (saved, restored) = (directory.path + "/saved.db", directory.path + "/restored")
        unlink(saved)
        for end in ["", "-wal", "-shm"] { unlink("\(restored)/ledger.db" + end) }
        let salvage = try Salvage.write(from: state, to: saved)
        let file = open(saved, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        mkdir(restored, 0o700)
        _ = try Restoration.restore(file, into: restored, at: WallTime(milliseconds: 1))
        let writer = try LedgerWriter(directory: restored)
        let reader = try writer.reader()
        _ = (try reader.highestSequenceNumber(), try reader.lastCursor(), try reader.highestEntryNumber())
        _ = (try reader.lastConfiguration(), try reader.namedConfigurations())
        _ = (try reader.knownDevices(), try reader.recentDeliveries(), try reader.pendingAttempts())
        try reader.pendingInvocations { _, _, _ in }
        try reader.unfinishedEntries { _ in }
        try reader.sessions { _ in }
        try reader.sessionStarts { _ in }
        return salvage
    }

    @Test(
        "are mended or left out by a salvage, and a restore and a start take what it writes", arguments: UInt64(1)...3)
    func property(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var columns = try await makeSource().shuffled(using: &random)
        while !columns.isEmpty {
            try makeState()
            var changes: [String] = []
            do {
                let database = try Database(path: ledger, access: .readWrite)
                for column in columns.prefix(9) {
                    let change = "UPDATE \(column.table) SET \(column.name) = \(value(for: column, &random))"
                    let one = change + " WHERE rowid = (SELECT max(rowid) FROM \(column.table))"
                    // A table without rowid, or a column without duplicates, takes only one of the two.
                    if (try? database.execute(one)) != nil || (try? database.execute(change)) != nil {
                        changes.append(change)
                    }
                }
            }
            columns.removeFirst(min(9, columns.count))
            do { _ = try salvageAndRestore() } catch { Issue.record("\(error)\n\(changes.joined(separator: "\n"))") }
        }
    }

    @Test(
        "count as damage, and nothing is said to be whole",
        arguments: [
            ("UPDATE request_rows SET accepted_ns = -5 WHERE seq = 101", "requests", "accepted_ns"),
            ("UPDATE invocation_rows SET outcome = 99 WHERE seq = 101", "invocations", "outcome"),
            ("UPDATE meta SET highest_seq = (1 << 62) - 2", "meta", "highest_seq"),
            ("UPDATE configurations SET id = '0123456789abcdeg'", "configurations", "id"),
        ])
    func counted(change: String, table: String, column: String) async throws {
        _ = try await makeSource()
        try makeState()
        try Database(path: ledger, access: .readWrite).execute(change)
        let salvage = try salvageAndRestore()
        #expect(!salvage.isWhole)
        let damage = salvage.tables.first { $0.name == table }?.damage
        #expect(damage == "a row has an invalid value in \(column)")
    }

    @Test("that leave no room for later numbers stop a start, with an error whose remedy works")
    func nearTheEnd() async throws {
        _ = try await makeSource()
        for change in [
            "UPDATE meta SET highest_seq = (1 << 61) + 1", "UPDATE meta SET highest_entry = (1 << 62) - 2",
            "UPDATE event_rows SET cursor = (1 << 62) - 2 WHERE cursor = (SELECT max(cursor) FROM event_rows)",
        ] {
            try makeState()
            try Database(path: ledger, access: .readWrite).execute(change)
            let error = #expect(throws: StoreError.self) { try LedgerWriter(directory: state) }
            #expect(error?.kind == .corrupt && error?.advice.contains("pushctl salvage FILE") == true, "\(change)")
            #expect(try !salvageAndRestore().isWhole)
        }
        try makeState()
        try Database(path: ledger, access: .readWrite).execute("UPDATE meta SET highest_seq = 1 << 61")
        _ = try LedgerWriter(directory: state)
    }
}
