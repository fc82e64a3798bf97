import CSQLite
import Glibc
import LinuxSystem

/// One connection to a SQLite database, closed with the last value that holds it. One thread at a time may use it.
struct Database: ~Copyable {
    enum Access {
        case readWrite, readOnly
    }

    private final class Connection {
        let handle: OpaquePointer
        let frames = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

        init(_ handle: OpaquePointer) {
            self.handle = handle
            frames.initialize(to: 0)
        }

        deinit {
            // sqlite3_close_v2: a statement that outlives this value keeps the connection open until it is finalized.
            // It commits nothing in that time, so the WAL hook no longer writes to `frames`.
            sqlite3_close_v2(handle)
            frames.deallocate()
        }
    }

    let path: String
    private let connection: Connection
    private var handle: OpaquePointer { connection.handle }
    private var frames: UnsafeMutablePointer<Int32> { connection.frames }

    init(path: String, access: Access) throws(StoreError) {
        connection = Connection(try Self.open(path, access))
        self.path = path
    }

    /// Shares the connection of another value.
    init(sharing other: borrowing Database) {
        connection = other.connection
        path = other.path
    }

    /// Turns off SQLite's count of memory in use, which nothing reads: the count takes a lock at each allocation of
    /// every connection, and threads that read at once waited for each other.
    private static let countsNoMemory = CSQLite_count_no_memory()

    private static func open(_ path: String, _ access: Access) throws(StoreError) -> OpaquePointer {
        _ = countsNoMemory
        // No mutex: each connection stays with one thread. Extended codes distinguish a failed fsync from a full disk.
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(
            path, &opened, flags | (access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY), nil)
        guard result == SQLITE_OK, let opened else {
            let error = StoreError.sqlite(opened, result, context: path)
            sqlite3_close_v2(opened)
            throw error
        }
        return opened
    }

    /// Copies a database as it is now, into memory or, if memory is short, into a temporary file. Both are freed with
    /// the connection.
    static func copy(of original: borrowing Database) throws(StoreError) -> Database {
        let copy = try Database(path: "", access: .readWrite)
        guard let backup = sqlite3_backup_init(copy.handle, "main", original.handle, "main") else {
            throw StoreError.sqlite(copy.handle, sqlite3_errcode(copy.handle), context: "copy")
        }
        // One step copies all pages, and so one state of the original.
        sqlite3_backup_step(backup, -1)
        let result = sqlite3_backup_finish(backup)
        guard result == SQLITE_OK else { throw StoreError.sqlite(original.handle, result, context: "copy") }
        return copy
    }

    /// Runs statements without rows and parameters.
    func execute(_ sql: String) throws(StoreError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        if result != SQLITE_OK { throw StoreError.sqlite(handle, result, context: sql) }
    }

    /// Compiles one statement, to be run many times.
    func prepare(_ sql: String) throws(StoreError) -> Statement {
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard result == SQLITE_OK, let statement else { throw StoreError.sqlite(handle, result, context: sql) }
        return Statement(statement)
    }

    /// Returns the one integer that a query yields.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try prepare(sql)
        guard try statement.step() else {
            throw StoreError(.corrupt, message: "the query gave no row: \(sql)", context: path)
        }
        return statement.integer(0)
    }

    /// Runs statements that may take long, with a way to stop them.
    ///
    /// - Parameters:
    ///   - isStopped: called at intervals; after `true` the statement throws.
    ///   - steps: the steps of SQLite's virtual machine between two calls.
    func withProgressHandler(
        _ isStopped: @escaping () -> Bool, every steps: Int32, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let question = Question(isStopped)
        sqlite3_progress_handler(
            handle, steps,
            { question in
                guard let question else { return 0 }
                return Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().isStopped() ? 1 : 0
            }, Unmanaged.passUnretained(question).toOpaque())
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            withExtendedLifetime(question) {}
        }
        try body()
    }

    private final class Question {
        let isStopped: () -> Bool

        init(_ isStopped: @escaping () -> Bool) { self.isStopped = isStopped }
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The number of rows the last `INSERT`, `UPDATE` or `DELETE` changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Keeps the WAL and its index on disk, unchanged, when the last connection closes.
    ///
    /// By default SQLite copies the WAL to the database then, and empties it. After a failed sync the next sync may
    /// succeed without the data that the first one lost: a power cut then leaves a new database and the beginning of an
    /// old WAL, which together are no valid database.
    ///
    /// A user with read access to the files and no write access to the directory can read the ledger only while WAL and
    /// index exist: https://www.sqlite.org/wal.html#readonly
    func keepLogOnClose() {
        var on: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &on)
        _ = CSQLite_leave_log_alone_on_close(handle)
    }

    /// The length of the WAL in frames after the last commit of this connection; 0 before the first one, and without
    /// `trackLogLength`.
    var logFrames: Int32 { frames.pointee }

    /// Sets the WAL hook, which keeps `logFrames` and replaces SQLite's automatic checkpoints in commits: SQLite
    /// ignores their errors.
    func trackLogLength() {
        _ = sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.storeBytes(of: count, as: Int32.self)
                return SQLITE_OK
            }, frames)
    }

    /// Copies frames from the WAL to the database, as far as readers allow, and syncs both.
    ///
    /// - Parameter emptying: whether to wait for readers, copy all frames and truncate the WAL.
    /// - Returns: whether the database has all frames of the WAL.
    func checkpoint(emptying: Bool = false) throws(StoreError) -> Bool {
        var frames: Int32 = 0
        var copied: Int32 = 0
        let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, &frames, &copied)
        if result != SQLITE_OK { throw StoreError.sqlite(handle, result, context: "checkpoint") }
        return copied == frames
    }
}

extension StoreError {
    /// Makes an error of the connection's last call, which returned `result` while doing `context`.
    static func sqlite(_ connection: OpaquePointer?, _ result: Int32, context: String) -> StoreError {
        var number = sqlite3_system_errno(connection)
        let outOfSpace = isOutOfSpace(number)
        // SQLite does not report why a COMMIT failed to write.
        let isUnexplained = !outOfSpace && (result == writeFailed || result == shareFailed && number == 0)
        let shortage = isUnexplained ? DiskSpace.shortage(beside: connection) : nil
        if number == 0, let shortage { number = shortage }
        let text = String(cString: sqlite3_errmsg(connection))
        let kind: Kind =
            switch result & 0xFF {
            // A flipped bit in the header's schema format, for which SQLite has no code of its own (prepare.c).
            case SQLITE_ERROR where text == "unsupported file format": .corrupt
            case SQLITE_FULL: .noSpace
            // A second fsync does not write what a failed one lost, so a failed fsync never counts as passing.
            case SQLITE_IOERR where outOfSpace && result != fsyncFailed && result != directoryFsyncFailed: .noSpace
            case SQLITE_IOERR where isUnexplained: shortage == nil ? .failed : .noSpace
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_CONSTRAINT: .contradiction
            case SQLITE_CANTOPEN where number == EMFILE || number == ENFILE: .noDescriptor
            case SQLITE_CANTOPEN where number == EROFS: .readOnly
            case SQLITE_IOERR where number == EROFS: .readOnly
            case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notPermitted
            case SQLITE_CANTOPEN where number == EACCES || number == EPERM: .notPermitted
            default: .failed
            }
        var message = text
        if number != 0, result & 0xFF == SQLITE_IOERR || result & 0xFF == SQLITE_CANTOPEN {
            message += ": " + errorText(number)
        }
        // Without memory an open leaves no connection, and SQLite asks any but for its message.
        let path = connection.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } ?? ""
        // The statement helps only with errors of the program.
        let isFile = path == context || kind != .contradiction && kind != .failed
        let place = path.isEmpty ? context : isFile ? path : "\(path): \(context)"
        return StoreError(kind, code: result, message: message, context: place)
    }
}

/// `SQLITE_IOERR_WRITE`, `..._SHMSIZE`, `..._FSYNC` and `..._DIR_FSYNC`: macros with arithmetic, which Swift does not import.
private let writeFailed = SQLITE_IOERR | 3 << 8
private let shareFailed = SQLITE_IOERR | 19 << 8
private let fsyncFailed = SQLITE_IOERR | 4 << 8
private let directoryFsyncFailed = SQLITE_IOERR | 5 << 8
