import CLinux
import Glibc
import LinuxSystem
import PushModel

/// The one connection that writes the ledger, with its statements. For one thread.
///
/// A commit is on disk only after ``sync()``: until then the log has its batches. Page size and checkpoint interval
/// were measured on two cores and a virtual disk (<doc:ledger>).
final class LedgerWriter {
    /// The page size of a new ledger, in bytes. An existing ledger keeps its own.
    static let newPageLength = 16384
    /// The layout of a new ledger's file, set before its first table.
    static let layout = "PRAGMA page_size = \(newPageLength); PRAGMA auto_vacuum = INCREMENTAL;"
    /// The WAL's length, in bytes, at which it is copied to the database even under load.
    static let checkpointLength = 16_384_000
    /// The WAL's length, in bytes, that is worth a checkpoint when the thread is idle.
    static let idleCheckpointLength = 2_048_000

    /// The state directory's id.
    private(set) var stateID: UUID128
    /// The state directory.
    let directory: String
    /// The size of a page, in bytes.
    let pageLength: Int
    /// The place in the log behind the last batch that the ledger has.
    private(set) var position: LogPosition
    let database: Database
    /// A second descriptor of the WAL, for `fdatasync`: SQLite syncs the WAL only when it copies frames from it.
    private let wal: FileDescriptor
    private var begin: Statement
    private var commit: Statement
    private var savePosition: Statement
    var pageCount: Statement
    var freePageCount: Statement
    /// The statements that apply rows; `nil` until they are needed.
    private var applier: RowApplier?
    private var checkpointedFrames: Int32 = 0
    /// The frames that the kernel was asked to write.
    private var framesWrittenBack: Int32 = 0
    /// The bytes of frames that the kernel is asked to write at a time.
    private static let writeBackLength = 1 << 20
    /// The length of the header of a frame of the WAL, in bytes.
    private static let frameHeaderLength: Int64 = 24

    /// Opens the ledger of `directory`; creates it if it is missing, migrates it if it is older.
    ///
    /// - Parameter onMigration: called before the migration of an older ledger, which may take long.
    init(directory: String, onMigration: () -> Void = {}) throws(StoreError) {
        let path = directory + "/ledger.db"
        self.directory = directory
        try Self.requireNotLost(path, in: directory)
        try Self.create(path, in: directory)
        try WALFile.writeAgain(path + "-wal")
        let database = try Database(path: path, access: .readWrite)
        database.keepLogOnClose()
        try database.execute(
            """
            PRAGMA busy_timeout = 1000;
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA cache_size = -1024;
            PRAGMA journal_size_limit = \(Self.checkpointLength);
            PRAGMA secure_delete = FAST;
            """)
        try LedgerSchema.migrate(database, onMigration: onMigration)
        try database.requireRoomForNumbers()
        // NORMAL is enough from here on: the log makes batches durable.
        try database.execute("PRAGMA synchronous = NORMAL")
        pageLength = Int(try database.integer("PRAGMA page_size"))
        stateID = try LedgerSchema.stateIdentity(database)
        position = try LedgerSchema.logPosition(database)
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        savePosition = try database.prepare(
            "UPDATE log_position SET number = ?1, checksum = ?2, segment = ?3, segment_end = ?4")
        pageCount = try database.prepare("PRAGMA page_count")
        freePageCount = try database.prepare("PRAGMA freelist_count")
        applier = try Self.recountAll(database, onMigration)
        database.trackLogLength()
        // A close() of this descriptor releases no lock of SQLite: its POSIX locks are on the other two files.
        guard let wal = FileDescriptor(open(path + "-wal", O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path + "-wal", errno: errno)
        }
        self.wal = wal
        self.database = database
    }

    /// Compiles the statements that apply rows, unless they are: a start without a backlog calls this after it is done.
    func prepareRows() throws(StoreError) { _ = try rows() }

    func rows() throws(StoreError) -> RowApplier {
        if let applier { return applier }
        let rows = try RowApplier(database)
        applier = rows
        return rows
    }

    /// Returns the cursor of the last event.
    func lastCursor() throws(StoreError) -> Int64 { try rows().lastCursor }

    /// Returns a reader that shares this connection, for the same thread.
    func reader() throws(StoreError) -> LedgerReader { try LedgerReader(sharing: database) }

    /// Counts all rows anew if the figures are of another version.
    ///
    /// - Returns: the applier that counted them; `nil` if the figures are of this version.
    private static func recountAll(
        _ database: borrowing Database, _ onMigration: () -> Void
    ) throws(StoreError) -> RowApplier? {
        guard try database.integer("SELECT version FROM figure_state") != FigureTable.version else { return nil }
        let rows = try RowApplier(database)
        if try database.integer("SELECT EXISTS (SELECT 1 FROM request_rows)") == 1 { onMigration() }
        try database.execute("BEGIN IMMEDIATE")
        try rows.figures.recount(database)
        try database.execute("COMMIT")
        rows.figures.noteCommit()
        return rows
    }

    /// Gives an empty ledger the id that several ledgers with the same batches share.
    ///
    /// - Throws: `otherFleet` if it has requests of its own; `forked` if it has batches without requests, as the ledger
    ///   of one machine has after its first start: setting it aside loses nothing.
    func join(_ state: UUID128) throws(StoreError) {
        guard state != stateID else { return }
        let requests = try database.integer("SELECT max(highest_seq, EXISTS (SELECT 1 FROM request_rows)) FROM meta")
        guard requests == 0 else {
            throw StoreError(
                .otherFleet(led: true),
                message: "the ledger has requests that are not in the database",
                context: database.path)
        }
        guard position.number == 0 else {
            throw StoreError(
                .forked, message: "the ledger is a single machine's, and has no request", context: database.path)
        }
        try database.execute("UPDATE meta SET state_id = '\(state)'")
        stateID = state
    }

    // MARK: Batches

    /// Applies batches in one transaction; an error applies none of them.
    ///
    /// - Parameters:
    ///   - batches: their rows, in order.
    ///   - position: the place in the log behind the last of them.
    /// - Returns: the result, if the batch is an order.
    @discardableResult
    func apply(_ batches: [RowBuffer], through position: LogPosition) throws(StoreError) -> OrderResult? {
        defer { withExtendedLifetime(batches) {} }
        return try apply(batches.map(\.rows), through: position)
    }

    /// Applies batches whose rows lie in other memory.
    @discardableResult
    func apply(
        _ batches: [UnsafeRawBufferPointer], through position: LogPosition
    ) throws(StoreError) -> OrderResult? {
        if batches.count == 1, let order = try reading({ () throws(RowError) in try ChainOrder(batches[0]) }) {
            return try carryOut(order, through: position)
        }
        let rows = try rows()
        let cursor = rows.lastCursor
        do throws(StoreError) {
            try transaction(through: position) { () throws(StoreError) in try rows.apply(batches) }
        } catch {
            rows.rollBack(to: cursor)
            throw error
        }
        return nil
    }

    /// Applies the rows of several batches, concatenated.
    @discardableResult
    func apply(_ rows: [UInt8], through position: LogPosition) throws(StoreError) -> OrderResult? {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: rows.count, alignment: 8)
        defer { memory.deallocate() }
        memory.copyBytes(from: rows)
        return try apply([UnsafeRawBufferPointer(memory)], through: position)
    }

    /// Makes every applied batch durable.
    ///
    /// - Throws: the error of the sync; then the content of the disk is unknown, and the caller must write no more.
    func sync() throws(StoreError) {
        guard fdatasync(wal.rawValue) == 0 else { throw StoreError.sync(database.path + "-wal", errno: errno) }
    }

    /// Skips so many numbers of each kind, because lost rows may have had some of them.
    func skipNumbers(_ count: Int64) throws(StoreError) {
        try transaction { () throws(StoreError) in try keepNumbers(andSkip: count) }
        try rows().lastCursor += count
    }

    // MARK: The WAL

    /// The length of the WAL's used part, in bytes.
    var walLength: Int { Int(database.logFrames) * pageLength }

    /// Whether the WAL has grown by so many bytes since it was last copied to the database.
    func hasLog(of length: Int) -> Bool {
        // SQLite writes the WAL from its beginning again after all of it was copied.
        let start = database.logFrames < checkpointedFrames ? 0 : checkpointedFrames
        return Int(database.logFrames - start) * pageLength >= length
    }

    /// Copies frames from the WAL to the database as far as readers allow. A full disk only postpones it.
    func checkpoint() throws(StoreError) {
        checkpointedFrames = database.logFrames
        do {
            _ = try database.checkpoint()
        } catch let error where error.isTransient {
            return
        }
    }

    /// Copies the whole WAL to the database, syncs the database and empties the WAL. This rewrites data that may have
    /// been in the page cache only.
    ///
    /// - Returns: whether it did; `false` while a reader has an older state of the ledger open, or if there is no room.
    func checkpointWhole() throws(StoreError) -> Bool {
        do {
            try emptyWAL()
            return true
        } catch let error where error.isTransient {
            return false
        }
    }

    /// Empties the WAL as `checkpointWhole` does.
    ///
    /// - Throws: `busy` if a reader prevents it, `noSpace`.
    func emptyWAL() throws(StoreError) {
        do throws(StoreError) {
            if try database.checkpoint(emptying: true) { return }
        } catch let error where error.kind != .busy {
            throw error
        }
        throw StoreError(
            .busy, message: "a reader has an older state of the ledger open, so the WAL cannot be emptied",
            context: database.path + "-wal")
    }

    // MARK: Pruning

    /// Stores the highest numbers in use, within the caller's transaction: the rows to be removed next may have them,
    /// and no number is reused.
    ///
    /// - Parameter count: how many further numbers to skip.
    func keepNumbers(andSkip count: Int64 = 0) throws(StoreError) {
        try database.execute(
            """
            UPDATE meta SET highest_seq = max(highest_seq, (SELECT coalesce(max(seq), 0) FROM request_rows)) + \(count),
                highest_cursor = \(try rows().lastCursor + count),
                highest_entry = max(highest_entry, (SELECT coalesce(max(number), 0) FROM entries)) + \(count);
            """)
    }

    // MARK: Figures

    /// Returns the minute of the request that was stored last.
    func latestMinute() throws(StoreError) -> Int64 { try rows().figures.table.latest }

    /// Whether figures of a long span are to be added up.
    var isRollUpDue: Bool { applier?.figures.isRollUpDue ?? false }

    /// Counts all rows anew, within the caller's transaction.
    func recountFigures() throws(StoreError) { try rows().figures.recount(database) }

    /// Counts all rows anew. Figures of minutes with pruned rows stay, unless one of them cannot be read.
    ///
    /// - Returns: why figures were dropped; `nil` if none were.
    func recountReadableFigures() throws(StoreError) -> String? {
        do throws(StoreError) {
            try transaction { () throws(StoreError) in try recountFigures() }
            _ = try reader().figures(from: nil, to: nil)
            return nil
        } catch let error where error.kind == .corrupt {
            // An invalid pruned_minute would make the recount fail.
            let minutes = StoredRange.minute
            try database.execute(
                """
                UPDATE figure_state SET version = 0, first_minute = 0, pruned_minute =
                    iif(pruned_minute BETWEEN \(minutes.lowerBound) AND \(minutes.upperBound), pruned_minute, 0);
                """ + SpanLength.allCases.map { "DELETE FROM \(FigureTable.name($0));" }.joined())
            try transaction { () throws(StoreError) in try recountFigures() }
            return error.message
        }
    }

    /// Deletes the shared texts that no row uses, within the caller's transaction.
    func forgetUnusedTexts() throws(StoreError) {
        try database.execute(SharedTexts.deletionOfUnused)
        applier?.texts.reset()
    }

    /// Adds up the figures of one long span.
    func rollUp() throws(StoreError) {
        try transaction { () throws(StoreError) in try rows().figures.rollUp() }
    }

    /// Runs a transaction that moves the ledger's position in the log; `nil` leaves the position as it is.
    func transaction(
        through position: LogPosition?, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try transaction { () throws(StoreError) in
            try body()
            if let position { try save(position) }
        }
        if let position { self.position = position }
    }

    /// Stores another place for the end of the same batch: the next one may be there.
    ///
    /// - Parameters:
    ///   - segment: the segment of the log; 0: the log has no batch that the ledger lacks, and is not missed.
    ///   - end: the offset in that segment.
    func moveOn(toSegment segment: UInt32, end: Int) throws(StoreError) {
        let place = LogPosition(number: position.number, checksum: position.checksum, segment: segment, end: end)
        try save(place)
        position = place
    }

    private func save(_ position: LogPosition) throws(StoreError) {
        savePosition.bind(Int64(bitPattern: position.number), at: 1)
        savePosition.bind(Int64(position.checksum), at: 2)
        savePosition.bind(Int64(position.segment), at: 3)
        savePosition.bind(Int64(position.end), at: 4)
        try savePosition.run()
    }

    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        // Caches the ledger's state before the body removes any row.
        try prepareRows()
        try begin.run()
        do throws(StoreError) {
            try body()
            try commit.run()
            applier?.figures.noteCommit()
            beginWriteBack()
        } catch {
            applier?.figures.reset()
            applier?.texts.reset()
            applier?.deadLetters.invalidate()
            // SQLite rolls back by itself after some errors. The first error is the one to report.
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// Has the kernel write new frames of the WAL now and then, so that a sync finds few: the log waits while 16 MB go to
    /// the disk at once.
    private func beginWriteBack() {
        let frames = database.logFrames
        if frames < framesWrittenBack { framesWrittenBack = 0 }
        let count = frames - framesWrittenBack
        guard Int(count) * pageLength >= Self.writeBackLength else { return }
        let length = Int64(pageLength) + Self.frameHeaderLength
        _ = CLinux_begin_write_back(wal.rawValue, Int64(framesWrittenBack) * length, Int64(count) * length)
        framesWrittenBack = frames
    }

    /// Refuses to begin a new ledger beside an existing log: segments are made only once the ledger is on the disk.
    static func requireNotLost(_ path: String, in directory: String) throws(StoreError) {
        var facts = stat()
        let isMissing = lstat(path, &facts) != 0
        guard isMissing ? errno == ENOENT : facts.isEmptyFile, try LogDirectory.hasSegments(in: directory) else {
            return
        }
        throw StoreError(
            .lost, message: "the ledger is \(isMissing ? "missing" : "empty"), but its log exists", context: path)
    }

    /// Makes the ledger if the file is missing or empty; otherwise checks the file's type and owner.
    private static func create(_ path: String, in directory: String) throws(StoreError) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else {
            guard errno == ENOENT else { throw StoreError.system("stat", path, errno: errno) }
            return try NewLedger.make(at: path, in: directory)
        }
        if let objection = objection(to: facts) {
            throw StoreError(.notPermitted, message: objection, context: path)
        }
        if facts.isEmptyFile { try NewLedger.make(at: path, in: directory) }
    }

    private static func objection(to facts: stat) -> String? {
        switch facts.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK:
            return "the ledger is a symbolic link, which this program never makes and does not follow; "
                + "put the file itself in its place"
        default: return "the ledger is not a regular file; move it away"
        }
        guard facts.st_uid == geteuid() else {
            return "this file belongs to user \(facts.st_uid), and this is user \(geteuid())"
        }
        guard facts.st_nlink == 1 else {
            return "this file has another hard link, by which it could be read or changed; "
                + "copy it, and put the copy in its place"
        }
        return nil
    }
}

extension stat {
    fileprivate var isEmptyFile: Bool { st_mode & S_IFMT == S_IFREG && st_size == 0 }
}

/// The result of an order of the chain.
enum OrderResult: Hashable {
    case pruned(Pruned)
    case erased(ErasureReceipt)
}

extension LedgerWriter {
    /// Carries out an order, and moves the ledger's position behind it, in one transaction.
    func carryOut(_ order: ChainOrder, through position: LogPosition) throws(StoreError) -> OrderResult {
        switch order {
        case .prune(let slice): .pruned(try prune(slice, through: position))
        case .erase(let order): .erased(try erase(order, through: position))
        }
    }
}
