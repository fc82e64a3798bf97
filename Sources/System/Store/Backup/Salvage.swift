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
