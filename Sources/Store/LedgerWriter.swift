import Glibc
import PushModel

/// The one connection that writes the ledger, with its statements. For one thread.
///
/// Page size and checkpoint interval were measured, on two cores and a virtual disk. Of records with a payload of
/// 1.3 KB a page of 8 KiB holds five, one of 4 KiB two, and a commit of 64 is a third faster. A checkpoint every 2000
/// frames (16 MiB) beats one every 500 by a fifth; every 8000 gains little and pauses for over 100 ms.
final class LedgerWriter {
    /// The WAL's length, in frames, at which it is copied to the database even while batches come.
    static let checkpointFrames: Int32 = 2000
    /// The WAL's length, in frames, that is worth a checkpoint when nothing else is to do.
    static let idleCheckpointFrames: Int32 = 250

    private let database: Database
    private var begin: Statement
    private var commit: Statement
    private var insertRequest: Statement
    private var insertInvocation: Statement
    private var updateInvocation: Statement
    private var insertEvent: Statement
    private var replaceDevice: Statement
    private var deleteDevice: Statement
    private let tracker: TrackerWriter
    private let customData: CustomDataWriter
    /// The cursor of the last event.
    private var lastCursor: Int64
    /// The highest number of a request that pruning took.
    private var pruned: SequenceNumber
    private var checkpointedFrames: Int32 = 0

    /// Opens the ledger of `directory`, creating it or bringing it up to date.
    init(directory: String) throws(StoreError) {
        let path = directory + "/ledger.db"
        try Self.create(path)
        let database = try Database(path: path, access: .readWrite)
        try database.execute(
            """
            PRAGMA busy_timeout = 1000;
            PRAGMA page_size = 8192;
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA cache_size = -1024;
            PRAGMA journal_size_limit = \(Self.checkpointFrames * 8192);
            PRAGMA secure_delete = FAST;
            """)
        database.keepLogOnClose()
        try Schema.migrate(database)
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        insertRequest = try database.prepare(
            "INSERT INTO requests VALUES (\(parameters(LedgerColumns.requestCount)))")
        insertInvocation = try database.prepare(
            "INSERT INTO invocations VALUES (\(parameters(LedgerColumns.invocationCount)))")
        updateInvocation = try database.prepare(
            """
            UPDATE invocations SET callback = ?3, provider = ?4, route = ?5, handler = ?6, budget_us = ?7,
                deadline_ns = ?8, started = ?9, outcome = ?10, reason = ?11, queue_us = ?12, exec_us = ?13,
                total_us = ?14, completed_by = ?15, completed_times = ?16, completed_result = ?17,
                completed_options = ?18, decided_at = ?19, observer = ?20, waited_for_seq = ?21, waited_for_n = ?22,
                waited_for_handler = ?23
            WHERE seq = ?1 AND n = ?2
            """)
        insertEvent = try database.prepare("INSERT INTO events VALUES (\(parameters(LedgerColumns.eventCount)))")
        deleteDevice = try database.prepare("DELETE FROM devices WHERE number = ?1")
        replaceDevice = try database.prepare("INSERT OR REPLACE INTO devices VALUES (\(parameters(5)))")
        tracker = try TrackerWriter(database)
        customData = try CustomDataWriter(database)
        lastCursor = try database.integer(
            "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM events))")
        pruned = SequenceNumber(try database.integer("SELECT highest_seq FROM meta"))
        database.trackLogLength()
        self.database = database
    }

    /// Puts all records on disk in one transaction, or none of them.
    func write(_ batches: [[LedgerRecord]]) throws(StoreError) {
        try transaction { () throws(StoreError) in
            for batch in batches {
                for record in batch { try write(record) }
            }
        }
    }

    private func write(_ record: LedgerRecord) throws(StoreError) {
        switch record {
        case .request(let request):
            insertRequest.bind(request)
            try insertRequest.run(with: request.body, at: LedgerColumns.requestBody)
        case .invocation(let invocation):
            insertInvocation.bind(invocation)
            try insertInvocation.run()
        case .update(let invocation):
            updateInvocation.bind(invocation)
            try updateInvocation.run()
            guard database.changes == 1 else {
                throw StoreError(
                    .failed, message: "there is no invocation \(invocation.id.n) of request \(invocation.id.seq)",
                    context: database.path)
            }
        case .event(let event):
            lastCursor += 1
            insertEvent.bind(event, cursor: lastCursor)
            try insertEvent.run()
            tracker.note(event, cursor: lastCursor)
        case .tracker(let record):
            try tracker.write(record, pruned: pruned)
        case .customData(let record): try customData.write(record)
        case .device(let device):
            replaceDevice.bind(device)
            try replaceDevice.run()
        case .forgottenDevice(let number):
            deleteDevice.bind(number.value, at: 1)
            try deleteDevice.run()
        }
    }

    /// Whether the WAL has grown by so many frames since it was last copied to the database.
    func hasLog(of frames: Int32) -> Bool {
        // It starts again from the beginning once all of it was copied.
        let start = database.logFrames < checkpointedFrames ? 0 : checkpointedFrames
        return database.logFrames - start >= frames
    }

    /// Copies the WAL to the database as far as readers let it. A full disk only means: not now.
    func checkpoint() throws(StoreError) {
        checkpointedFrames = database.logFrames
        do {
            try database.checkpoint()
        } catch let error where error.isPassing {
            return
        }
    }

    /// Takes out up to `limit` of the oldest requests accepted before `cutoff` with all that belongs to them,
    /// leaving out those with an invocation in flight. The receipts of remembered deliveries stay.
    ///
    /// As many entries of custom data go that came to their end before `cutoff`, whenever their requests do. What has
    /// not stays, and so do profiles: they say what is, not what was.
    /// - Returns: how many requests were taken out, and whether there may be more to take.
    func prune(olderThan cutoff: WallTime, limit: Int) throws(StoreError) -> (requests: Int, isPartial: Bool) {
        // The same set each time: what has an invocation in flight is not touched, and the rest stays old.
        let old = """
            SELECT seq FROM requests WHERE accepted_at < \(cutoff.milliseconds) AND NOT EXISTS (
                SELECT 1 FROM invocations WHERE invocations.seq = requests.seq AND outcome IS NULL)
            ORDER BY accepted_at, seq LIMIT \(limit)
            """
        let finished = """
            SELECT number FROM entries INDEXED BY entries_finished WHERE \(CustomDataColumns.isFinished)
                AND coalesce(settled_at, saved_at) < \(cutoff.milliseconds) LIMIT \(limit)
            """
        var entries = 0
        try transaction { () throws(StoreError) in
            try database.execute(
                """
                UPDATE meta SET highest_seq = max(highest_seq, (SELECT coalesce(max(seq), 0) FROM (\(old)))),
                    highest_cursor = \(lastCursor),
                    highest_entry = max(highest_entry, (SELECT coalesce(max(number), 0) FROM entries));
                DELETE FROM entries WHERE number IN (\(finished));
                """)
            entries = database.changes
            try database.execute(
                """
                DELETE FROM events WHERE seq IN (\(old))
                    AND NOT EXISTS (SELECT 1 FROM tracked_deliveries WHERE event = cursor);
                DELETE FROM interactions WHERE cause IN (\(old));
                DELETE FROM invocations WHERE seq IN (\(old));
                DELETE FROM requests WHERE seq IN (\(old));
                """)
        }
        let count = database.changes
        pruned = SequenceNumber(try database.integer("SELECT highest_seq FROM meta"))
        return (count, count == limit || entries == limit)
    }

    /// Leaves the connection open until the process ends.
    ///
    /// Closing it would copy the WAL to the database and empty it. After a failed sync the next one may succeed
    /// without having written what the first one lost, and the WAL would be the only good copy.
    func abandon() { _ = Unmanaged.passRetained(self) }

    private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try begin.run()
        do throws(StoreError) {
            try body()
            try commit.run()
        } catch {
            // SQLite has rolled back by itself after some errors, and the first error is the one that tells.
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// Creates the file with a mode of our own: requests hold what people were sent. SQLite gives the files beside
    /// it the same mode.
    private static func create(_ path: String) throws(StoreError) {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard file < 0 else {
            close(file)
            return
        }
        guard errno == EEXIST else { throw StoreError.system("open", path, errno: errno) }
    }
}
