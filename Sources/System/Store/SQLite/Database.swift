import CSQLite
import Glibc
import LinuxSystem

/// One connection to a SQLite database, closed with the last value that has it. For one thread at a time.
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
            // v2: a statement that outlives this value keeps the connection until it is finalized. It commits nothing
            // in that time, so nothing is written to `frames` any more.
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

    /// The same connection once more.
    init(sharing other: borrowing Database) {
        connection = other.connection
        path = other.path
    }

    /// Nobody asks how much memory SQLite has in use, and the count is one lock for each allocation of all connections:
    /// threads that read at once waited for each other.
    private static let countsNoMemory = CSQLite_count_no_memory()

    private static func open(_ path: String, _ access: Access) throws(StoreError) -> OpaquePointer {
        _ = countsNoMemory
        // No mutex: each connection stays with one thread. Extended codes: a failed fsync differs from a full disk.
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

    /// A copy of a database as it is now, in memory or, where that is short, in a file that nobody else sees. It goes with
    /// its connection.
    static func copy(of original: borrowing Database) throws(StoreError) -> Database {
        let copy = try Database(path: "", access: .readWrite)
        guard let backup = sqlite3_backup_init(copy.handle, "main", original.handle, "main") else {
            throw StoreError.sqlite(copy.handle, sqlite3_errcode(copy.handle), context: "copy")
        }
        // All in one step: one state of the original.
        sqlite3_backup_step(backup, -1)
        let result = sqlite3_backup_finish(backup)
        guard result == SQLITE_OK else { throw StoreError.sqlite(original.handle, result, context: "copy") }
        return copy
    }

    /// Runs statements that give no rows and take no values.
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

    /// The one integer that a query gives.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try prepare(sql)
        guard try statement.step() else {
            throw StoreError(.corrupt, message: "the query gave no row: \(sql)", context: path)
        }
        return statement.integer(0)
    }

    /// Runs statements that may take long.
    ///
    /// - Parameters:
    ///   - isStopped: asked from time to time; a statement that is stopped throws.
    ///   - steps: how many of SQLite's steps lie between two questions.
    func asking(
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

    /// Keeps the WAL and its index as they are when the last connection closes.
    ///
    /// SQLite would copy the WAL to the database then, and empty it. After a failed sync the next one may succeed without
    /// having written what the first one lost: a power cut then leaves a new database and the beginning of an old WAL,
    /// which together are none.
    ///
    /// Who may read the files but not write to the directory can read the ledger only while these exist:
    /// https://www.sqlite.org/wal.html#readonly
    func keepLogOnClose() {
        var on: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &on)
        _ = CSQLite_leave_log_alone_on_close(handle)
    }

    /// The length of the WAL in frames after the last commit of this connection; 0 before the first one, and
    /// unless tracked.
    var logFrames: Int32 { frames.pointee }

    /// Keeps `logFrames`, and takes SQLite's own checkpoints out of the commits, where their errors go unseen.
    func trackLogLength() {
        _ = sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.storeBytes(of: count, as: Int32.self)
                return SQLITE_OK
            }, frames)
    }

    /// Copies from the WAL to the database what readers let it, and syncs both.
    ///
    /// - Parameter emptying: whether to wait for readers, copy all of it and empty the WAL.
    /// - Returns: whether nothing is left in the WAL that is not in the database.
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
    /// The error of the connection's last call, which gave `result` while doing `context`.
    static func sqlite(_ connection: OpaquePointer?, _ result: Int32, context: String) -> StoreError {
        var number = sqlite3_system_errno(connection)
        let outOfSpace = isOutOfSpace(number)
        // SQLite does not say why a COMMIT could not write.
        let isUnexplained = !outOfSpace && (result == writeFailed || result == shareFailed && number == 0)
        let lack = isUnexplained ? Room.lack(beside: connection) : nil
        if number == 0, let lack { number = lack }
        let kind: Kind =
            switch result & 0xFF {
            case SQLITE_FULL: .noSpace
            // What a failed fsync did not write is lost to a second one, so that is never a passing condition.
            case SQLITE_IOERR where outOfSpace && result != fsyncFailed && result != directoryFsyncFailed: .noSpace
            case SQLITE_IOERR where isUnexplained: lack == nil ? .failed : .noSpace
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
        var message = String(cString: sqlite3_errmsg(connection))
        if number != 0, result & 0xFF == SQLITE_IOERR || result & 0xFF == SQLITE_CANTOPEN {
            message += ": " + errorText(number)
        }
        let path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
        // The statement tells only of errors of the program.
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
