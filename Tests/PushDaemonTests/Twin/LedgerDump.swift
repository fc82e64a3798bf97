import Glibc
import TestSupport

@testable import PushModel
@testable import Store

/// All rows of a ledger as texts, without the columns that differ between any two runs.
enum LedgerDump {
    /// Tables, and the columns that are left out.
    private static let tables: [(name: String, without: Set<String>)] = [
        ("requests", ["uid", "gid", "pid", "boot", "body"]), ("invocations", []), ("events", []),
        ("tracked_deliveries", []), ("closed_buttons", []), ("interactions", []), ("sessions", []),
        ("session_starts", []), ("pending_starts", []), ("held_interactions", []), ("devices", []), ("entries", []),
        ("attributes", []), ("attempts", ["number"]), ("dead_letters", ["bytes"]),
    ]

    /// Reads a ledger without a writer.
    static func rows(of directory: String) throws -> [String] {
        let database = try Database(path: directory + "/ledger.db", access: .readOnly)
        var rows: [String] = []
        for table in tables {
            let columns = try column(
                "SELECT name FROM pragma_table_info('\(table.name)')", database
            ).filter { !table.without.contains($0) }
            let values = columns.map { "'\($0)=' || quote(\($0))" }.joined(separator: " || ' ' || ")
            rows += try column("SELECT \(values) FROM \(table.name) ORDER BY 1", database).map {
                "\(table.name): \($0)"
            }
        }
        return rows
    }

    private static func column(_ query: String, _ database: borrowing Database) throws -> [String] {
        let statement = try database.prepare(query)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0) ?? "") }
        return texts
    }

    /// Writes records into a ledger of their own.
    static func write(_ records: [LedgerRecord], to directory: String) throws {
        let committer = try Committer(directory: StateDirectory(path: directory)) { _ in }
        var (number, last) = (committer.lastNumber, SequenceNumber(0))
        var rows = committer.takeBuffer()
        func commit() throws {
            number += 1
            _ = try committer.commit(CommitBatch(number: number, rows: rows, lastSequence: last))
            rows = committer.takeBuffer()
        }
        for record in records {
            if case .request(let request) = record {
                last = request.seq
                if rows.byteCount > 256 << 10 { try commit() }
            }
            rows.append(record)
        }
        if !rows.isEmpty { try commit() }
        if let failure = committer.stop() { throw failure }
    }

    /// Copies a state directory as a killed daemon leaves it.
    static func copyState(from directory: String, to copy: String) throws {
        let reader = try LedgerReader(directory: directory)
        // An open snapshot keeps the WAL from restarting: file and WAL are one state.
        try reader.snapshot { () throws(StoreError) in
            _ = try reader.highestSequenceNumber()
            copyFile("\(directory)/ledger.db", "\(copy)/ledger.db")
            copyFile("\(directory)/ledger.db-wal", "\(copy)/ledger.db-wal")
            mkdir("\(copy)/log", 0o700)
            for name in names(in: "\(directory)/log") { copyFile("\(directory)/log/\(name)", "\(copy)/log/\(name)") }
        }
    }

    private static func copyFile(_ path: String, _ copy: String) {
        guard let bytes = readFile(path) else { preconditionFailure("cannot read \(path)") }
        let target = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        precondition(target >= 0, "cannot create \(copy)")
        defer { close(target) }
        // Most of a segment of the log is still empty.
        let used = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
        precondition(
            Glibc.write(target, bytes, used) == used && ftruncate(target, bytes.count) == 0, "cannot write \(copy)")
    }
}
