import Glibc
import LinuxSystem
public import PushModel

/// A copy of a ledger in one file, for `pushctl restore`: a SQLite database of the ledger's schema, without free pages.
public struct Backup: Hashable, Sendable {
    /// The number of requests.
    public var requests: Int64
    /// Its length, in bytes.
    public var length: Int64
    /// The schema of the ledger.
    public var schema: Int64
    /// The id of the state directory.
    public var state: UUID128

    /// Writes the ledger as a reader sees it, in one state, into a new file that only its owner may read. The daemon
    /// continues meanwhile.
    ///
    /// The file has a temporary name until it is complete, checked (`PRAGMA integrity_check`) and on the disk.
    ///
    /// - Parameters:
    ///   - reader: the ledger; not within a snapshot.
    ///   - path: the file; it must not exist.
    /// - Throws: `exists`, `noDirectory`, and errors of the disk and SQLite. An error leaves no file.
    public static func write(_ reader: LedgerReader, to path: String) throws(StoreError) -> Backup {
        try requireAbsence(at: path)
        let partial = "\(path).partial-\(getpid())"
        unlink(partial)
        guard let file = FileDescriptor(open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw StoreError.system("open", partial, errno: errno)
        }
        do throws(StoreError) {
            do throws(StoreError) {
                var copy = try reader.database.prepare("VACUUM INTO ?1")
                // SQLite would read a name that begins with "file:" as a URI.
                copy.bind(partial.hasPrefix("/") ? partial : "./" + partial, at: 1)
                try copy.run()
            } catch {
                var error = error
                error.context = partial
                throw error
            }
            let backup = try check(partial)
            guard fsync(file.rawValue) == 0 else { throw StoreError.system("fsync", partial, errno: errno) }
            // link() fails if the name exists; rename() would replace that file.
            guard link(partial, path) == 0 else {
                if errno == EEXIST { try requireAbsence(at: path) }
                throw StoreError.system("link", path, errno: errno)
            }
            unlink(partial)
            try LogDirectory.sync(directory(of: path))
            return backup
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Checks a whole backup, and returns its facts.
    ///
    /// - Throws: `corrupt` for a damaged file or no ledger, `newerSchema` for one of a newer program.
    public static func check(_ path: String) throws(StoreError) -> Backup {
        let database = try Database(path: path, access: .readOnly)
        let schema = try LedgerSchema.check(database)
        try database.requireIntegrity("integrity_check")
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        return Backup(
            requests: try database.integer("SELECT count(*) FROM requests"), length: Int64(facts.st_size),
            schema: schema, state: try LedgerSchema.stateIdentity(database))
    }

    /// - Throws: `exists` if the path exists, `noDirectory` if its directory does not.
    static func requireAbsence(at path: String) throws(StoreError) {
        var facts = stat()
        guard lstat(path, &facts) != 0 else {
            throw StoreError(.exists, message: "the file exists already, and is not replaced", context: path)
        }
        guard stat("\(directory(of: path))/.", &facts) != 0, errno == ENOENT || errno == ENOTDIR else { return }
        throw StoreError(.noDirectory, message: "its directory does not exist", context: path)
    }

    /// Returns the directory that has the file, or is to have it.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}

/// Copies files that may be as large as a ledger.
enum FileCopy {
    /// Copies a file by its path.
    static func make(of source: String, at path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(source, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", source, errno: errno)
        }
        try make(of: file.rawValue, named: source, at: path)
    }

    /// Copies a file into a new one, with the mode of a ledger.
    ///
    /// - Parameters:
    ///   - source: open for reading, at its beginning.
    ///   - name: the name of the source in messages.
    ///   - path: the new file; an existing one is replaced.
    static func make(of source: Int32, named name: String, at path: String) throws(StoreError) {
        unlink(path)
        guard let copy = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { memory.deallocate() }
        var offset = 0
        while true {
            let count = retryingInterrupts { read(source, memory.baseAddress, memory.count) }
            guard count >= 0 else { throw StoreError.system("read", name, errno: errno) }
            if count == 0 { return }
            let problem = copy.writeAll(UnsafeRawBufferPointer(rebasing: memory[..<count]), at: offset)
            guard problem == 0 else { throw StoreError.system("write", path, errno: problem) }
            offset += count
        }
    }
}

/// The contents of a backup in numbers, and how this machine's ledger stands to it.
public struct BackupContents: Hashable, Sendable {
    /// A table with rows.
    public struct Table: Hashable, Sendable {
        public var name: String
        public var rows: Int64
    }

    /// The facts of the backup.
    public var backup: Backup
    /// The tables with rows, by name.
    public var tables: [Table] = []
    /// Whether each row was checked as a restore does: a backup of an older schema is first brought up to date there.
    public var areRowsChecked: Bool
    private var highest: Int64

    /// Reads a whole backup, and changes nothing.
    ///
    /// - Throws: as ``Backup/check(_:)``; `corrupt` for a schema or rows that this program does not write.
    public init(reading path: String) throws(StoreError) {
        backup = try Backup.check(path)
        let database = try Database(path: path, access: .readOnly)
        // As in a restore: the schema may hold hostile functions.
        try database.execute("PRAGMA trusted_schema = OFF")
        areRowsChecked = backup.schema == LedgerSchema.version
        if areRowsChecked {
            try RowRules.requireSchema(database)
            try RowRules.requireRows(database)
        }
        highest = try database.highestNumbers()[0]
        let list = try database.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        while try list.step() {
            let rows = list.text(0) ?? ""
            let count = try database.integer("SELECT count(*) FROM \(rows)")
            guard count > 0, !LedgerSchema.tablesOfOneRow.contains(rows) else { continue }
            tables.append(Table(name: LedgerTable.all.first { $0.rows == rows }?.name ?? rows, rows: count))
        }
    }

    /// Returns how many requests a ledger has after the backup, and how many of its time the backup lacks: none, unless
    /// it is damaged. `nil`: the ledger is of another state directory.
    public func comparison(with ledger: LedgerReader) throws(StoreError) -> (after: Int64, missing: Int64)? {
        guard try LedgerSchema.stateIdentity(ledger.database) == backup.state else { return nil }
        let count = { (condition: String) throws(StoreError) in
            try ledger.database.integer("SELECT count(*) FROM request_rows WHERE seq \(condition)")
        }
        // The ledger may have fewer: pruning and erasures go on.
        return (try count("> \(highest)"), max(0, try count("<= \(highest)") - backup.requests))
    }
}
