import CSQLite
import Glibc
import LinuxSystem
import PushModel

/// The schema of the ledger: its identification, its version and its migrations.
enum LedgerSchema {
    /// The `PRAGMA application_id` of a ledger: "push".
    static let applicationID: Int64 = 0x7075_7368
    /// The schema this program writes, kept in `PRAGMA user_version`.
    static let version = (migrations.keys.max() ?? 0) + 1
    /// The SQL that migrates a ledger of each version to the next one.
    static let migrations: [Int64: String] = [
        1: chain, 2: tokens, 3: topics, 4: "\(subscriptions); \(configurations)",
        5: formerTokens, 6: audit,
    ]

    /// Creates the tables of an empty database, or migrates an older ledger, in one transaction.
    ///
    /// - Parameters:
    ///   - migrations: the SQL of the steps, by version.
    ///   - onMigration: called before an older ledger is migrated.
    /// - Throws: `newerSchema`; `otherFormat` for another program's database, and for a version without a step; `corrupt`
    ///   for tables that its version does not have.
    static func migrate(
        _ database: borrowing Database, by migrations: [Int64: String] = migrations, onMigration: () -> Void
    ) throws(StoreError) {
        try database.execute("BEGIN IMMEDIATE")
        if try isEmpty(database) {
            try database.execute(tables)
            let stateID = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
            try database.execute("INSERT INTO meta (state_id, highest_seq) VALUES ('\(stateID)', 0)")
            try database.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        } else {
            let found = try check(database)
            if found < version { onMigration() }
            for step in min(found, version)..<version {
                guard let statements = migrations[step] else {
                    throw otherFormat(
                        "the ledger has schema \(step), which this program cannot bring up to date", database)
                }
                do { try database.execute("\(statements); PRAGMA user_version = \(step + 1)") } catch {
                    // A flipped bit in the number of the schema: the tables of the step are there.
                    guard error.code & 0xFF == SQLITE_ERROR else { throw error }
                    throw StoreError(
                        .corrupt, code: error.code,
                        message: "the ledger has schema \(found), and other tables: \(error.message)",
                        context: database.path)
                }
            }
        }
        try makeViews(database)
        try database.execute("COMMIT")
    }

    /// Returns whether the database has no table: a file that was made and not filled.
    static func isEmpty(_ database: borrowing Database) throws(StoreError) -> Bool {
        try database.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    /// Returns the state directory's id.
    static func stateIdentity(_ database: borrowing Database) throws(StoreError) -> UUID128 {
        let identity = try database.prepare("SELECT state_id FROM meta")
        guard try identity.step(), let state = identity.text(0).flatMap({ UUID128($0) }) else {
            throw StoreError(.corrupt, message: "the ledger has no state id", context: database.path)
        }
        return state
    }

    /// Returns the place in the log behind the last batch that the ledger has.
    static func logPosition(_ database: borrowing Database) throws(StoreError) -> LogPosition {
        let position = try database.prepare("SELECT number, checksum, segment, segment_end FROM log_position")
        guard try position.step() else {
            throw StoreError(
                .corrupt, message: "the ledger has no position in the log", context: database.path)
        }
        return LogPosition(
            number: UInt64(try position.integer(0, in: StoredRange.number)), checksum: try position.value(1),
            segment: try position.value(2), end: Int(try position.integer(3, in: LogSegment.lengths)))
    }

    /// Returns the version of the database; throws if it is no ledger of this program, or of a version that this one
    /// does not know.
    @discardableResult
    static func check(_ database: borrowing Database) throws(StoreError) -> Int64 {
        let application = try database.integer("PRAGMA application_id")
        guard application == applicationID else {
            throw otherFormat(
                "this is not a ledger of pushrouterd: its application_id is \(application), not \(applicationID)",
                database)
        }
        let found = try database.integer("PRAGMA user_version")
        guard found <= version else {
            throw StoreError(
                .newerSchema, message: "the ledger has schema \(found); this program knows up to \(version)",
                context: database.path)
        }
        return found
    }

    private static func otherFormat(_ message: String, _ database: borrowing Database) -> StoreError {
        StoreError(.otherFormat, message: message, context: database.path)
    }

    /// Makes the views again if they differ from this version's, which may know more words. Within a transaction.
    private static func makeViews(_ database: borrowing Database) throws(StoreError) {
        for table in LedgerTable.viewed {
            let sql = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = '\(table.name)'"
            if try viewText(sql, database) == table.view { continue }
            try database.execute("DROP VIEW IF EXISTS \(table.name); \(table.view);")
        }
    }

    private static func viewText(_ sql: String, _ database: borrowing Database) throws(StoreError) -> String? {
        let statement = try database.prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }
}

extension LedgerSchema {
    /// The tables of the ledger.
    ///
    /// `requests`, `invocations` and `events` are views with the wire names of words and the shared texts, so that
    /// `sqlite3 ledger.db` reads well; the rows of their tables have numbers instead (``LedgerTable``). The suffix of a
    /// column is its unit: `_at` Unix milliseconds, `_ns` monotonic nanoseconds within the request's boot, `_us`
    /// microseconds. A column with shared texts has the type ANY: a number, or the text itself.
    static let tables = """
        -- One row. highest_seq is the highest number of a deleted request: the daemon never gives a number twice.
        -- highest_cursor is the same for events, highest_entry for entries.
        CREATE TABLE meta (
            state_id TEXT NOT NULL,
            highest_seq INTEGER NOT NULL,
            highest_cursor INTEGER NOT NULL DEFAULT 0,
            highest_entry INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        -- One row: the number, the checksum and the end of the last batch of the log that the ledger has.
        CREATE TABLE log_position (
            number INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            segment INTEGER NOT NULL,
            segment_end INTEGER NOT NULL
        ) STRICT;
        INSERT INTO log_position VALUES (0, 0, 0, 0);
        -- Texts that rows share. used is the number of a request: no later request has a row with this text.
        CREATE TABLE texts (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, text ANY NOT NULL) STRICT;

        \(AcceptedRequest.table.creation);
        -- Finds the request of an id. The index leaves out requests without an id.
        CREATE UNIQUE INDEX requests_by_id ON request_rows (uid, id) WHERE id IS NOT NULL;
        -- Finds the requests of a time window: after the clock was set back, their order differs from that of seq.
        CREATE INDEX requests_by_time ON request_rows (accepted_at);
        -- Finds the delivery of a tap. The tracker finds its own deliveries, so the index leaves them out.
        CREATE INDEX requests_by_message ON request_rows (message_id)
            WHERE message_id IS NOT NULL AND operation = 0 AND tracked = 0;
        CREATE INDEX requests_by_replay ON request_rows (replay_of) WHERE replay_of IS NOT NULL;
        -- Requests that were accepted at an earlier time than the request before them: the clock was set back.
        CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;

        \(InvocationRecord.table.creation);
        -- Invocations that a restart has to finish. An invocation whose outcome is known on acceptance never enters.
        CREATE INDEX invocations_pending ON invocation_rows (seq, n) WHERE outcome IS NULL;
        \(AttemptRecord.table.creation);
        CREATE INDEX attempts_of_request ON attempts (seq);
        -- The number of attempts at an invocation without rows of their own: between the first and the last attempts.
        CREATE TABLE attempts_left_out (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            handler TEXT NOT NULL,
            answer TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (seq, n, handler, answer)
        ) STRICT, WITHOUT ROWID;
        \(DeadLetter.table.creation);
        CREATE INDEX dead_letters_by_time ON dead_letters (at);

        \(AnalyticsEvent.table.creation);
        CREATE INDEX events_by_seq ON event_rows (seq);
        -- Finds the opens of a delivery, for its story. The delivery's receipt has the same seq and needs no index.
        CREATE INDEX events_of_delivery ON event_rows (delivery) WHERE delivery <> seq;

        \(TrackedRow.table.creation);
        -- The close buttons that a person pressed, by the tracked delivery.
        CREATE TABLE closed_buttons (
            event INTEGER NOT NULL,
            button TEXT NOT NULL,
            PRIMARY KEY (event, button)
        ) STRICT, WITHOUT ROWID;
        \(InteractionRow.table.creation);
        \(PendingStart.table.creation);
        \(HeldInteraction.table.creation);

        \(KnownDevice.table.creation);
        \(SubscriptionRow.table.creation);
        \(SessionRow.table.creation);
        \(StartsRow.table.creation);

        \(EntryRecord.table.creation);
        CREATE INDEX entries_of_request ON entries (cause);
        -- Entries that a restart gives back to the router. A finished entry leaves the index.
        CREATE INDEX entries_unfinished ON entries (number)
            WHERE \(EntryFilter.isUnfinished);
        -- Finds the entries that pruning deletes, and the rejected entries that pushctl lists.
        CREATE INDEX entries_finished ON entries (state, coalesce(settled_at, saved_at))
            WHERE \(EntryFilter.isFinished);
        \(AttributeRecord.table.creation);
        -- The index has the first 64 characters of a value, because arrays are long.
        CREATE INDEX attributes_by_value ON attributes (name, substr(value, 1, 64)) WHERE anonymous = 0;
        \(SendingState.table.creation);

        -- Figures: reports add them up and do not read each row (FigureTable). place has the span in the upper 32 bits
        -- and the number of the key in the lower. A span is 1, 64 or 4096 minutes. Only this program reads figures.
        CREATE TABLE figures_by_minute (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
        CREATE TABLE figures_by_hour (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
        CREATE TABLE figures_by_days (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;
        -- name is a JSON array: mode, platform, callback, outcome, whether an observer's, whether of all other apps, app,
        -- provider, route, handler, transport, original and delivered priority, reason code.
        CREATE TABLE figure_keys (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            last_minute INTEGER NOT NULL
        ) STRICT;
        -- One row. The program counts figures of another version anew. No figures are older than first_minute. Pruning
        -- deleted rows before pruned_minute: there reports have only figures. first_minute is not after pruned_minute.
        CREATE TABLE figure_state (
            version INTEGER NOT NULL,
            first_minute INTEGER NOT NULL,
            pruned_minute INTEGER NOT NULL
        ) STRICT;
        INSERT INTO figure_state VALUES (\(FigureTable.version), 0, 0);

        \(DaemonGap.table.creation);
        \(LifeSign.table.creation);
        \(chain);
        \(fanOuts);
        \(configurations);
        \(audit);
        """

    /// The tables that always have exactly one row.
    static let tablesOfOneRow = ["meta", "log_position", "figure_state", "last_erased"]

    /// Adds the column for a device's token: since version 3.
    static let tokens = "ALTER TABLE devices ADD COLUMN token TEXT"

    /// Adds the topics and states of devices, and the progress of publishes: since version 4.
    static let topics = """
        ALTER TABLE devices ADD COLUMN topics TEXT;
        ALTER TABLE devices ADD COLUMN state TEXT;
        ALTER TABLE devices ADD COLUMN locked INTEGER;
        ALTER TABLE devices ADD COLUMN os_version TEXT;
        ALTER TABLE devices ADD COLUMN notifications TEXT;
        ALTER TABLE devices ADD COLUMN sdk TEXT;
        \(fanOuts)
        """

    /// Adds the configurations that decided requests: since version 5.
    static let configurations = ConfigurationPeriod.table.creation

    /// Gives each subscription a row of its own, and devices an owner: since version 5. The text of a device's topics
    /// had project/topic/seconds for each, separated by a space.
    static let subscriptions = """
        \(SubscriptionRow.table.creation);
        INSERT OR IGNORE INTO subscriptions
        SELECT number, project, substr(rest, 1, instr(rest, '/') - 1),
            CAST(substr(rest, instr(rest, '/') + 1) AS INTEGER)
        FROM (
            SELECT number, substr(value, 1, instr(value, '/') - 1) AS project, substr(value, instr(value, '/') + 1) AS rest
            FROM devices, json_each(
                '["' || replace(replace(replace(topics, '\\', '\\\\'), '"', '\\"'), ' ', '","') || '"]')
            WHERE topics IS NOT NULL);
        ALTER TABLE devices DROP COLUMN topics;
        ALTER TABLE devices ADD COLUMN uid INTEGER
        """

    /// Adds the tokens that devices no longer have: since version 6.
    static let formerTokens = "ALTER TABLE devices ADD COLUMN former_tokens TEXT"

    /// Adds the administrative acts: since version 7.
    static let audit = """
        \(AuditRecord.table.creation);
        -- Finds the acts that pruning deletes.
        CREATE INDEX audit_by_time ON audit (at)
        """

    private static let fanOuts = """
        \(FanOut.table.creation);
        -- Publishes that a restart continues.
        CREATE INDEX fan_outs_open ON fan_outs (seq) WHERE devices IS NOT NULL
        """

    /// Adds the tables for a chain that several machines write: since version 2.
    static let chain = """
        \(Producer.table.creation);
        CREATE UNIQUE INDEX producers_by_name ON producers (name);
        -- One row. batch is the batch of the chain that has the last order to erase, 0 for none. rewritten is 1 when the
        -- ledger was rewritten since: then no free page has erased data.
        CREATE TABLE last_erased (batch INTEGER NOT NULL, rewritten INTEGER NOT NULL) STRICT;
        INSERT INTO last_erased VALUES (0, 1);
        """
}

/// Makes the first ledger of a state directory: it is complete and on the disk, as a draft, before it gets its name.
///
/// A start that ends in between leaves a draft, which the next start removes. A ledger made in its final place would be
/// synced a dozen times and written twice: SQLite cannot know that a part of it is worth nothing.
enum NewLedger {
    /// Makes a ledger if there is none.
    ///
    /// - Parameters:
    ///   - path: the path of the ledger.
    ///   - directory: the directory of the ledger.
    static func make(at path: String, in directory: String) throws(StoreError) {
        let draft = path + ".new"
        _ = try remove([draft, draft + "-wal", draft + "-shm", draft + "-journal"])
        // An explicit mode: requests hold messages to people. SQLite gives the files beside it the same mode.
        guard let file = FileDescriptor(open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        do throws(StoreError) {
            try fill(draft)
            guard fsync(file.rawValue) == 0 else { throw StoreError.sync(draft, errno: errno) }
            try removeLeftovers(of: path, in: directory)
            guard rename(draft, path) == 0 else { throw StoreError.system("rename", draft, errno: errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Removes the WAL and journal of a former ledger: SQLite would apply them to the new one.
    static func removeLeftovers(of path: String, in directory: String) throws(StoreError) {
        guard try remove([path + "-wal", path + "-shm", path + "-journal"]) else { return }
        // Syncs the removal first: the disk must not have the new name beside the old WAL.
        try LogDirectory.sync(directory)
    }

    private static func fill(_ path: String) throws(StoreError) {
        let database = try Database(path: path, access: .readWrite)
        try database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY")
        try database.execute(LedgerWriter.layout)
        try LedgerSchema.migrate(database, onMigration: {})
        try database.execute("PRAGMA journal_mode = WAL")
    }

    /// - Returns: whether any of the files existed.
    private static func remove(_ paths: [String]) throws(StoreError) -> Bool {
        var hasRemoved = false
        for path in paths {
            if unlink(path) == 0 {
                hasRemoved = true
            } else if errno != ENOENT {
                throw StoreError.system("unlink", path, errno: errno)
            }
        }
        return hasRemoved
    }
}
