import Glibc
import LinuxSystem
import PushFigures
import PushModel

/// The one connection that writes the ledger, with its statements. For one thread.
///
/// What is committed here is not on disk before ``sync()``: until then the log has it. Page size and checkpoint interval
/// were measured, on two cores and a virtual disk (<doc:0082-shared-texts-are-stored-once>).
final class LedgerWriter {
    /// A page of a new ledger, in bytes. One that is there keeps its own.
    static let newPageLength = 16384
    /// What the file of a ledger is to be like, set before it has a table.
    static let layout = "PRAGMA page_size = \(newPageLength); PRAGMA auto_vacuum = INCREMENTAL;"
    /// The WAL's length, in bytes, at which it is copied to the database even while batches come.
    static let checkpointLength = 16_384_000
    /// The WAL's length, in bytes, that is worth a checkpoint when nothing else is to do.
    static let idleCheckpointLength = 2_048_000

    /// The state directory's id.
    private(set) var stateID: UUID128
    /// The state directory.
    let directory: String
    /// A page, in bytes.
    let pageLength: Int
    /// The place in the log behind the last batch that is in the ledger.
    private(set) var position: LogPosition
    let database: Database
    /// The WAL once more, to be synced: SQLite syncs it only where it copies something from it.
    private let wal: FileDescriptor
    private var begin: Statement
    private var commit: Statement
    private var savePosition: Statement
    var pageCount: Statement
    var freePageCount: Statement
    /// What applies rows; `nil` until it is needed.
    private var applier: RowApplier?
    private var checkpointedFrames: Int32 = 0

    /// Opens the ledger of `directory`, creating it or bringing it up to date.
    ///
    /// - Parameter onMigration: called before an older ledger is brought up to date, which may take long.
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
        try Schema.migrate(database, onMigration: onMigration)
        // From here on the log is what is acknowledged by.
        try database.execute("PRAGMA synchronous = NORMAL")
        pageLength = Int(try database.integer("PRAGMA page_size"))
        stateID = try Schema.stateIdentity(database)
        position = try Schema.logPosition(database)
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        savePosition = try database.prepare(
            "UPDATE log_position SET number = ?1, checksum = ?2, segment = ?3, segment_end = ?4")
        pageCount = try database.prepare("PRAGMA page_count")
        freePageCount = try database.prepare("PRAGMA freelist_count")
        applier = try Self.countAnew(database, onMigration)
        database.trackLogLength()
        // Its closing takes no lock of SQLite's away: those are on the other two files.
        guard let wal = FileDescriptor(open(path + "-wal", O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path + "-wal", errno: errno)
        }
        self.wal = wal
        self.database = database
    }

    /// Compiles the statements that apply rows, if they are not: a start with nothing to apply does it when it is over.
    func prepareRows() throws(StoreError) { _ = try rows() }

    func rows() throws(StoreError) -> RowApplier {
        if let applier { return applier }
        let rows = try RowApplier(database)
        applier = rows
        return rows
    }

    /// The cursor of the last event.
    func lastCursor() throws(StoreError) -> Int64 { try rows().lastCursor }

    /// Reads the ledger as this connection sees it, on the same thread.
    func reader() throws(StoreError) -> LedgerReader { try LedgerReader(sharing: database) }

    /// Counts all rows where the figures are of another version.
    ///
    /// - Returns: what counted them; `nil`: the figures are of this version.
    private static func countAnew(
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

    /// Makes an empty ledger one of several that have the same batches, and so the same id.
    ///
    /// - Throws: `otherFleet` when it has requests of its own; `forked` when it has batches alone, as the ledger of one
    ///   machine has from its first start on: nothing is lost when it is set aside.
    func join(_ state: UUID128) throws(StoreError) {
        guard state != stateID else { return }
        let requests = try database.integer("SELECT max(highest_seq, EXISTS (SELECT 1 FROM request_rows)) FROM meta")
        guard requests == 0 else {
            throw StoreError(
                .otherFleet(led: true),
                message: "the ledger is that of one machine, or of other machines, and has requests",
                context: database.path)
        }
        guard position.number == 0 else {
            throw StoreError(
                .forked, message: "the ledger is that of one machine, and has no request", context: database.path)
        }
        try database.execute("UPDATE meta SET state_id = '\(state)'")
        stateID = state
    }

    // MARK: Batches

    /// Applies batches in one transaction, or none of them.
    ///
    /// - Parameters:
    ///   - batches: their rows, in order.
    ///   - position: the place in the log behind the last of them.
    /// - Returns: what was taken out, where they are an order.
    @discardableResult
    func apply(_ batches: [RowBuffer], through position: LogPosition) throws(StoreError) -> OrderResult? {
        defer { withExtendedLifetime(batches) {} }
        return try apply(batches.map(\.rows), through: position)
    }

    /// The same with rows that lie elsewhere.
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

    /// The same with the rows of several batches, one behind the other.
    @discardableResult
    func apply(_ rows: [UInt8], through position: LogPosition) throws(StoreError) -> OrderResult? {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: rows.count, alignment: 8)
        defer { memory.deallocate() }
        memory.copyBytes(from: rows)
        return try apply([UnsafeRawBufferPointer(memory)], through: position)
    }

    /// Makes everything that was applied durable.
    ///
    /// - Throws: what the disk says; then nobody knows what is on it, and nothing may be written any more.
    func sync() throws(StoreError) {
        guard fdatasync(wal.rawValue) == 0 else { throw StoreError.sync(database.path + "-wal", errno: errno) }
    }

    /// Leaves out so many numbers of each kind: some of them may have been given, to what is lost.
    func skipNumbers(_ count: Int64) throws(StoreError) {
        try transaction { () throws(StoreError) in try keepNumbers(andSkip: count) }
        try rows().lastCursor += count
    }

    // MARK: The WAL

    /// The WAL's length in bytes, as far as it is used.
    var walLength: Int { Int(database.logFrames) * pageLength }

    /// Whether the WAL has grown by so many bytes since it was last copied to the database.
    func hasLog(of length: Int) -> Bool {
        // It starts again from the beginning once all of it was copied.
        let start = database.logFrames < checkpointedFrames ? 0 : checkpointedFrames
        return Int(database.logFrames - start) * pageLength >= length
    }

    /// Copies the WAL to the database as far as readers let it. A full disk only means: not now.
    func checkpoint() throws(StoreError) {
        checkpointedFrames = database.logFrames
        do {
            _ = try database.checkpoint()
        } catch let error where error.isPassing {
            return
        }
    }

    /// Copies all of the WAL to the database, syncs that, and empties the WAL: whatever was only in the page cache is
    /// written again.
    ///
    /// - Returns: whether it was done; `false` while a reader has an older state of the ledger open, or there is no room.
    func checkpointWhole() throws(StoreError) -> Bool {
        do {
            try emptyWAL()
            return true
        } catch let error where error.isPassing {
            return false
        }
    }

    /// The same.
    ///
    /// - Throws: why it was not done: `busy` for a reader, `noSpace`.
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

    /// Notes the highest numbers of what is there, within the caller's transaction: what is taken out next may have them, and
    /// no number is given again.
    ///
    /// - Parameter count: how many more are not to be given.
    func keepNumbers(andSkip count: Int64 = 0) throws(StoreError) {
        try database.execute(
            """
            UPDATE meta SET highest_seq = max(highest_seq, (SELECT coalesce(max(seq), 0) FROM request_rows)) + \(count),
                highest_cursor = \(try rows().lastCursor + count),
                highest_entry = max(highest_entry, (SELECT coalesce(max(number), 0) FROM entries)) + \(count);
            """)
    }

    // MARK: Figures

    /// The minute of the request that was stored last.
    func latestMinute() throws(StoreError) -> Int64 { try rows().figures.table.latest }

    /// Whether there are figures of a long span to be added up.
    var isRollUpDue: Bool { applier?.figures.isRollUpDue ?? false }

    /// Counts all rows anew, within the caller's transaction.
    func recountFigures() throws(StoreError) { try rows().figures.recount(database) }

    /// Counts all rows anew. Figures of minutes whose rows were pruned stay, unless one of them cannot be read.
    ///
    /// - Returns: why figures were dropped; `nil`: all are there.
    func recountReadableFigures() throws(StoreError) -> String? {
        do throws(StoreError) {
            try transaction { () throws(StoreError) in try recountFigures() }
            _ = try reader().figures(from: nil, to: nil)
            return nil
        } catch let error where error.kind == .corrupt {
            // A number that is none would keep the count from beginning.
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

    /// Takes out the shared texts that no row has, within the caller's transaction.
    func forgetUnusedTexts() throws(StoreError) {
        try database.execute(SharedTexts.deletionOfUnused)
        applier?.texts.reset()
    }

    /// Adds up the figures of one long span.
    func rollUp() throws(StoreError) {
        try transaction { () throws(StoreError) in try rows().figures.rollUp() }
    }

    /// A transaction that brings the ledger up to a place in the log; `nil`: up to where it is.
    func transaction(
        through position: LogPosition?, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try transaction { () throws(StoreError) in
            try body()
            if let position { try save(position) }
        }
        if let position { self.position = position }
    }

    private func save(_ position: LogPosition) throws(StoreError) {
        savePosition.bind(Int64(bitPattern: position.number), at: 1)
        savePosition.bind(Int64(position.checksum), at: 2)
        savePosition.bind(Int64(position.segment), at: 3)
        savePosition.bind(Int64(position.end), at: 4)
        try savePosition.run()
    }

    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        // What it remembers of the ledger it has to read before anything is taken out.
        try prepareRows()
        try begin.run()
        do throws(StoreError) {
            try body()
            try commit.run()
            applier?.figures.noteCommit()
        } catch {
            applier?.figures.reset()
            applier?.texts.reset()
            // SQLite has rolled back by itself after some errors, and the first error is the one that tells.
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// Refuses to begin a new ledger beside the log of another: segments are made when the ledger is on the disk.
    static func requireNotLost(_ path: String, in directory: String) throws(StoreError) {
        var facts = stat()
        let isMissing = lstat(path, &facts) != 0
        guard isMissing ? errno == ENOENT : facts.isEmptyFile, try LogDirectory.hasSegments(in: directory) else {
            return
        }
        throw StoreError(
            .lost, message: "the ledger is \(isMissing ? "missing" : "empty"), and its log is there", context: path)
    }

    /// Makes the ledger where there is none, or an empty file, and looks what the one is that is there, and whose.
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
        default: return "the ledger is no regular file; move it away"
        }
        guard facts.st_uid == geteuid() else {
            return "this is no file of user \(geteuid()), but of user \(facts.st_uid)"
        }
        guard facts.st_nlink == 1 else {
            return "this file has another name elsewhere, under which it could be read or changed; "
                + "copy it, and put the copy in its place"
        }
        return nil
    }
}

extension stat {
    fileprivate var isEmptyFile: Bool { st_mode & S_IFMT == S_IFREG && st_size == 0 }
}
