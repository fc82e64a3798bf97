import Glibc
import LinuxSystem
import PushModel

/// What could be read of a damaged ledger, saved as a backup.
public struct Salvage: Hashable, Sendable {
    /// What came of one table.
    public struct Table: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// How many of its rows are saved.
        public var rows: Int
        /// What kept others from being read; `nil`: all were.
        public var damage: String?
    }

    /// The tables that had rows, or are damaged.
    public var tables: [Table]
    /// How many rows were left out because what they belong to is lost.
    public var orphans: Int
    /// Why what the log alone has, or a part of it, is not saved; `nil`: all is.
    public var logDamage: String?
    /// The file that was written.
    public var backup: Backup

    /// Whether nothing is known to be lost.
    public var isWhole: Bool { logDamage == nil && orphans == 0 && tables.allSatisfy { $0.damage == nil } }

    /// Saves what can be read of a ledger and its log into a new file, a backup. The state directory is only read: the work
    /// is done on a copy beside the new file; that takes twice the room of the ledger.
    ///
    /// - Parameters:
    ///   - directory: the state directory, which no daemon has.
    ///   - path: the file; nothing of that name exists.
    /// - Throws: `missing`, `inUse`, `exists`, `noDirectory`, `olderSchema`, `newerSchema`, `corrupt` where not even the
    ///   list of tables can be read, and what the disk says. Then nothing is left of the file.
    public static func write(from directory: String, to path: String) throws(StoreError) -> Salvage {
        try Backup.requireNothing(at: path)
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
        // Nothing of the directory is read from here on.
        _ = consume lock
        // What is lost had numbers, and those were told.
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
            // It has the tables of a ledger then, and none of their rows.
            _ = try LedgerWriter(directory: place)
            let salvage = try TableSalvage(of: damaged, into: "\(place)/ledger.db")
            return (try salvage.copyAll(), try salvage.removeOrphans())
        } catch {
            guard error.context.hasPrefix(place) else { throw error }
            var error = error
            error.context = original
            // Its advice would be to do what was done.
            if error.kind == .corrupt { error.kind = .lost }
            throw error
        }
    }

    /// Makes a file that was cut short as long as it says it is: SQLite reads nothing of a shorter one.
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
        // Only zeros are added, which take no room; a damaged header may name any length.
        guard length > Int(facts.st_size), length <= 64 * max(Int(facts.st_size), 1 << 20) else { return }
        guard ftruncate(file.rawValue, off_t(length)) == 0 else {
            throw StoreError.system("ftruncate", path, errno: errno)
        }
    }

    /// Applies what the ledger did not have of its log yet.
    ///
    /// - Returns: why not, or not all of it.
    private static func applyLog(of directory: String, _ writer: LedgerWriter) throws(StoreError) -> String? {
        do throws(StoreError) {
            guard let log = try LogDirectory(reading: directory, state: writer.stateID) else { return nil }
            var chain = try LogChain(log.segmentsForReading())
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
