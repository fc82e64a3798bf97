import Glibc
import LinuxSystem
import PushModel

/// The readable part of a damaged ledger, saved as a backup.
public struct Salvage: Hashable, Sendable {
    /// The result for one table.
    public struct Table: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// The number of saved rows.
        public var rows: Int
        /// The damage that kept other rows from being read, or in the values of a row; `nil` if all were read and valid.
        public var damage: String?

        /// The name of the table that has the rows.
        var rowsName: String { LedgerTable.all.first { $0.name == name }?.rows ?? name }
    }

    /// The tables that had rows, or are damaged.
    public var tables: [Table]
    /// The number of rows that were dropped because the row they belong to is lost.
    public var orphans: Int
    /// Why batches that only the log has are not all saved; `nil` if they are.
    public var logDamage: String?
    /// The file that was written.
    public var backup: Backup

    /// Whether no loss is known.
    public var isWhole: Bool { logDamage == nil && orphans == 0 && tables.allSatisfy { $0.damage == nil } }

    /// Saves the readable part of a ledger and its log into a new file, a backup. The state directory is only read: the
    /// work is done on a copy beside the new file, which takes twice the room of the ledger.
    ///
    /// - Parameters:
    ///   - directory: the state directory, which no daemon has.
    ///   - path: the file; it must not exist.
    /// - Throws: `missing`, `inUse`, `exists`, `noDirectory`, `olderSchema`, `newerSchema`, `corrupt` if not even the
    ///   list of tables can be read, and errors of the disk. An error leaves no file.
    public static func write(from directory: String, to path: String) throws(StoreError) -> Salvage {
        try Backup.requireAbsence(at: path)
        let lock = try StateDirectory.lockUnused(directory)
        let place = "\(path).salvage-\(getpid())"
        guard mkdir(place, 0o700) == 0 else { throw StoreError.system("mkdir", place, errno: errno) }
        defer { remove(place) }
        let original = "\(directory)/ledger.db"
        guard access(original, F_OK) == 0 || errno == EACCES else {
            throw StoreError(.missing, message: "there is no ledger", context: original)
        }
        let damaged = "\(place)/damaged.db"
        try FileCopy.make(of: original, at: damaged)
        if access(original + "-wal", F_OK) == 0 { try FileCopy.make(of: original + "-wal", at: damaged + "-wal") }

        var (tables, orphans) = try copyTables(of: damaged, named: original, in: place)
        remove("damaged.db", in: place)
        let writer = try LedgerWriter(directory: place)
        if let damage = try writer.recountReadableFigures() {
            tables.append(Table(name: "figures", rows: 0, damage: damage))
        }
        let logDamage = try applyLog(of: directory, writer)
        // Releases the lock: the directory is not read after this.
        _ = consume lock
        // The lost rows had numbers, and replies had told them: none is reused.
        let isLost = logDamage != nil || orphans > 0 || tables.contains { $0.damage != nil }
        if isLost { try writer.skipNumbers(1_000_000) }
        _ = try writer.checkpointWhole()
        let backup = try Backup.write(LedgerReader(directory: place), to: path)
        return Salvage(tables: tables, orphans: orphans, logDamage: logDamage, backup: backup)
    }

    private static func copyTables(
        of damaged: String, named original: String, in place: String
    ) throws(StoreError) -> ([Table], orphans: Int) {
        do throws(StoreError) {
            try lengthen(damaged)
            // Makes a ledger with all tables and no rows.
            _ = try LedgerWriter(directory: place)
            let salvage = try TableSalvage(of: damaged, into: "\(place)/ledger.db")
            var tables = try salvage.copyAll()
            let lostTexts = try salvage.removeLostTexts()
            try salvage.repair(&tables)
            return (tables, try salvage.removeOrphans() + lostTexts)
        } catch {
            guard error.context.hasPrefix(place) else { throw error }
            var error = error
            error.context = original
            // The advice for `corrupt` is to salvage, which has just failed.
            if error.kind == .corrupt { error.kind = .lost }
            throw error
        }
    }

    /// Extends a truncated file to the length in its header: SQLite reads nothing of a shorter one.
    private static func lengthen(_ path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(path, O_RDWR | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        // https://www.sqlite.org/fileformat.html#the_database_header: the page size, and how many pages there are.
        var header = [UInt8](repeating: 0, count: 32)
        guard pread(file.rawValue, &header, header.count, 0) == header.count else { return }
        let number = { (bytes: Range<Int>) in header[bytes].reduce(0) { $0 << 8 | Int($1) } }
        let pageLength = number(16..<18) == 1 ? 65536 : number(16..<18)
        var facts = stat()
        guard pageLength.nonzeroBitCount == 1, pageLength >= 512, fstat(file.rawValue, &facts) == 0 else { return }
        let length = number(28..<32) * pageLength
        // ftruncate adds zeros, which take no space; the limit guards against a damaged header.
        guard length > Int(facts.st_size), length <= 64 * max(Int(facts.st_size), 1 << 20) else { return }
        guard ftruncate(file.rawValue, off_t(length)) == 0 else {
            throw StoreError.system("ftruncate", path, errno: errno)
        }
    }

    /// Applies the batches of the log that the ledger lacks.
    ///
    /// - Returns: why none or not all were applied; `nil` if all were.
    private static func applyLog(of directory: String, _ writer: LedgerWriter) throws(StoreError) -> String? {
        do throws(StoreError) {
            let log = try LogDirectory(reading: directory, state: writer.stateID)
            var chain = try LogChain(log?.segmentsForReading() ?? [])
            return try Recovery.replay(&chain, writer)
        } catch let error where error.kind != .noSpace {
            return "\(error.context): \(error.message)"
        }
    }

    private static func remove(_ place: String) {
        for name in ["damaged.db", "ledger.db"] { remove(name, in: place) }
        rmdir(place)
    }

    private static func remove(_ name: String, in place: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink("\(place)/\(name)\(suffix)") }
    }
}

/// Copies the readable rows of a damaged ledger into a new one.
///
/// A table is read in the order of its keys. After an unreadable page it tries later keys, in steps that double, until
/// it finds a readable row. From there it reads backwards, because the steps may have skipped readable rows.
struct TableSalvage: ~Copyable {
    private let source: Database
    private let target: Database

    /// - Parameters:
    ///   - damaged: a copy of the damaged ledger, writable for SQLite.
    ///   - path: a ledger without rows.
    init(of damaged: String, into path: String) throws(StoreError) {
        let source = try Self.open(damaged)
        // Two connections: SQLite commits nothing on a connection that has met damage.
        let target = try Database(path: path, access: .readWrite)
        // A WAL would hold every row a second time. MEMORY allows a rollback; after a crash the file is worthless
        // anyway.
        try target.execute("PRAGMA journal_mode = MEMORY")
        self.source = source
        self.target = target
    }

    private static func open(_ damaged: String) throws(StoreError) -> Database {
        let source = try Database(path: damaged, access: .readWrite)
        let schema = try LedgerSchema.check(source)
        guard schema == LedgerSchema.version else {
            throw StoreError(
                .olderSchema, message: "the ledger has schema \(schema); this program salvages \(LedgerSchema.version)",
                context: damaged)
        }
        // The list of tables may be damaged as well.
        guard try source.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'request_rows'") == 1 else {
            throw StoreError(.corrupt, message: "the file has no table of requests", context: damaged)
        }
        // Makes SQLite report a damaged cell when it reads the cell.
        try source.execute("PRAGMA cell_size_check = ON")
        return source
    }

    // MARK: Tables

    /// Copies all tables. Figures are copied for minutes with pruned rows; the caller counts the others anew.
    ///
    /// - Returns: the results of all tables.
    func copyAll() throws(StoreError) -> [Salvage.Table] {
        var results: [Salvage.Table] = []
        for name in try names() {
            var result = try copy(name)
            // Reports the name that people know.
            result.name = LedgerTable.all.first { $0.rows == name }?.name ?? name
            results.append(result)
        }
        return results
    }

    /// Makes the rows of all tables such as a restore takes them, after ``removeLostTexts()``. If a table of figures is
    /// damaged, all figures are dropped.
    ///
    /// - Parameter tables: the results of ``copyAll()``. Of them those stay that have rows, or are damaged.
    func repair(_ tables: inout [Salvage.Table]) throws(StoreError) {
        for place in tables.indices {
            let name = tables[place].rowsName
            if let repair = try RowRules.repair(name, target) {
                tables[place].rows -= repair.deleted
                tables[place].damage = tables[place].damage ?? repair.damage
            }
            guard name.hasPrefix("figure") else { continue }
            // Version 0 matches no program, so the recount drops the figures.
            if tables[place].damage != nil { try target.execute("UPDATE figure_state SET version = 0") }
            tables[place].rows = 0
        }
        tables.removeAll { $0.rows == 0 && $0.damage == nil }
    }

    private func names() throws(StoreError) -> [String] {
        let list = try target.prepare(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
            ORDER BY name = 'figure_state' DESC, name
            """)
        var names: [String] = []
        while try list.step() { names.append(list.text(0) ?? "") }
        return names
    }

    private func copy(_ name: String) throws(StoreError) -> Salvage.Table {
        var scan = Scan(table: Salvage.Table(name: name, rows: 0), key: try key(of: name))
        try target.execute("BEGIN")
        let hasOneRow = LedgerSchema.tablesOfOneRow.contains(name)
        // The new ledger already has the one row of this table.
        if hasOneRow { try target.execute("DELETE FROM \(name)") }
        try copyRows(&scan)
        if hasOneRow, scan.table.rows != 1 {
            try target.execute("ROLLBACK")
            scan.table.damage = scan.table.damage ?? "the number of rows is not one"
        } else {
            try target.execute("COMMIT")
        }
        return scan.table
    }

    private func copyRows(_ scan: inout Scan) throws(StoreError) {
        var (damage, last) = try read(&scan, isForward: true, from: .min)
        guard damage != nil else { return }
        var (base, stride) = (last ?? 0, Int64(1))
        while scan.key.isInteger, stride < .max / 2 {
            let (next, isOver) = base.addingReportingOverflow(stride)
            if isOver { break }
            (damage, last) = try read(&scan, isForward: true, from: next)
            if damage != nil, last == nil {
                stride *= 2
                continue
            }
            // The doubled steps may have skipped readable rows.
            if stride > 1 { _ = try read(&scan, isForward: false, from: next - 1) }
            guard damage != nil, let last else { return }
            (base, stride) = (last, 1)
        }
        _ = try read(&scan, isForward: false, from: .max)
    }

    // MARK: Rows

    /// The key in whose order a table is read.
    private struct Key {
        /// Its columns, for `ORDER BY`.
        var columns: [String]
        /// Whether the first column is an integer, so that the scan can step over damage.
        var isInteger: Bool

        func order(isForward: Bool) -> String {
            columns.map { isForward ? $0 : "\($0) DESC" }.joined(separator: ", ")
        }
    }

    private struct Scan {
        var table: Salvage.Table
        let key: Key
    }

    private func key(of name: String) throws(StoreError) -> Key {
        let hasRowID = try target.integer(
            "SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = '\(name)'")
        if hasRowID == 1 { return Key(columns: ["rowid"], isInteger: true) }
        let list = try target.prepare("SELECT name, type FROM pragma_table_info('\(name)') WHERE pk > 0 ORDER BY pk")
        var (columns, types): ([String], [String]) = ([], [])
        while try list.step() {
            columns.append(list.text(0) ?? "")
            types.append(list.text(1) ?? "")
        }
        return Key(columns: columns, isInteger: types.first == "INTEGER")
    }

    /// Copies rows from a key on, up or down, until the end or an unreadable row. Keeps a row that the new ledger has
    /// already; counts a row that it refuses as damaged.
    ///
    /// - Returns: the damage, and the last key that was read.
    private func read(_ scan: inout Scan, isForward: Bool, from key: Int64) throws(StoreError)
        -> (damage: String?, last: Int64?)
    {
        let (name, first) = (scan.table.name, scan.key.columns.first ?? "rowid")
        let condition = scan.key.isInteger ? "WHERE \(first) \(isForward ? ">=" : "<=") ?1" : ""
        var last: Int64?
        do throws(StoreError) {
            // Selects the first key column again, since it may be no column of the row (rowid).
            let rows = try source.prepare(
                """
                SELECT *, \(first) FROM \(name) \(condition) ORDER BY \(scan.key.order(isForward: isForward))
                """)
            if scan.key.isInteger { rows.bind(key, at: 1) }
            let count = rows.columnCount - 1
            let places = (1...max(count, 1)).map { "?\($0)" }.joined(separator: ", ")
            var insert = try target.prepare("INSERT OR IGNORE INTO \(name) VALUES (\(places))")
            while try rows.step() {
                if scan.key.isInteger { last = rows.integer(count) }
                insert.bind(row: rows, count: count)
                do throws(StoreError) {
                    try insert.run()
                    scan.table.rows += insert.changes
                } catch let error where error.kind == .contradiction {
                    scan.table.damage = scan.table.damage ?? error.message
                }
            }
            return (nil, last)
        } catch let error where error.isDamage {
            scan.table.damage = scan.table.damage ?? error.message
            return (error.message, last)
        }
    }

    // MARK: What belongs together

    /// Returns the statement that clears numbers of lost texts: another text may get the number.
    private static func removalOfLostTexts(_ rows: String, _ column: String) -> String {
        // A boot of zeros differs from every real boot.
        let nothing = column == "boot" ? "zeroblob(16)" : "NULL"
        return """
            UPDATE \(rows) SET \(column) = \(nothing)
            WHERE typeof(\(column)) = 'integer' AND \(column) NOT IN (SELECT number FROM texts)
            """
    }

    /// Deletes rows whose request, event or invocation is lost: no query finds them, and no figure may count them. A
    /// request whose invocations are lost stays: its id remains known, and a report shows that the sums do not match.
    ///
    /// - Returns: how many rows were deleted.
    func removeOrphans() throws(StoreError) -> Int {
        var count = 0
        let removals = [
            "DELETE FROM invocation_rows WHERE seq NOT IN (SELECT seq FROM request_rows)",
            "DELETE FROM attempts WHERE seq NOT IN (SELECT seq FROM request_rows)",
            "DELETE FROM attempts_left_out WHERE seq NOT IN (SELECT seq FROM request_rows)",
            """
            DELETE FROM dead_letters WHERE NOT EXISTS (SELECT 1 FROM invocation_rows AS found
                WHERE found.seq = dead_letters.seq AND found.n = dead_letters.n)
            """,
            "DELETE FROM tracked_deliveries WHERE event NOT IN (SELECT cursor FROM event_rows)",
            "DELETE FROM subscriptions WHERE number NOT IN (SELECT number FROM devices)",
            "DELETE FROM closed_buttons WHERE event NOT IN (SELECT event FROM tracked_deliveries)",
        ]
        for statement in removals {
            try target.execute(statement)
            count += target.changes
        }
        return count
    }

    /// Clears the numbers of lost texts; the rows stay.
    ///
    /// - Returns: how many numbers were cleared.
    func removeLostTexts() throws(StoreError) -> Int {
        var count = 0
        for table in LedgerTable.all {
            for column in table.sharedColumns {
                try target.execute(Self.removalOfLostTexts(table.rows, column))
                count += target.changes
            }
        }
        return count
    }
}

extension StoreError {
    /// Whether the fault lies in the file that is read.
    fileprivate var isDamage: Bool { kind == .corrupt || isInputOutput || kind == .failed }
}
