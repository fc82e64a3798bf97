import PushModel

/// The tables of the ledger, and how an older ledger becomes one of today.
///
/// Enumerations are their wire names, so that `sqlite3 ledger.db` reads well; measured, that costs nothing that
/// shows beside the sync. Columns end in their unit: `_at` Unix milliseconds, `_ns` monotonic nanoseconds within
/// the request's boot, `_us` microseconds.
enum Schema {
    /// The schema this program writes, kept in `PRAGMA user_version`.
    static var version: Int64 { Int64(migrations.count) }

    /// Element `v` brings a ledger of version `v` to `v + 1`.
    private static let migrations = [
        """
        CREATE TABLE requests (
            seq INTEGER PRIMARY KEY,
            operation TEXT NOT NULL,
            id TEXT,
            uid INTEGER NOT NULL,
            gid INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            accepted_at INTEGER NOT NULL,
            accepted_ns INTEGER NOT NULL,
            boot BLOB NOT NULL,
            mode TEXT NOT NULL,
            platform TEXT NOT NULL,
            app TEXT,
            device TEXT,
            external_id TEXT,
            message_id TEXT,
            body BLOB NOT NULL
        ) STRICT;
        -- Idempotency. Requests without an id cost it nothing.
        CREATE UNIQUE INDEX requests_by_id ON requests (uid, id) WHERE id IS NOT NULL;
        -- The clock may be set back, so seq alone cannot tell which requests a window of time holds.
        CREATE INDEX requests_by_time ON requests (accepted_at);

        CREATE TABLE invocations (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            callback TEXT NOT NULL,
            provider TEXT,
            route TEXT,
            handler TEXT,
            budget_us INTEGER NOT NULL,
            deadline_ns INTEGER,
            started INTEGER NOT NULL,
            outcome TEXT,
            reason TEXT,
            queue_us INTEGER,
            exec_us INTEGER,
            total_us INTEGER,
            completed_by TEXT,
            completed_times INTEGER,
            completed_result TEXT,
            completed_options TEXT,
            decided_at INTEGER,
            PRIMARY KEY (seq, n)
        ) STRICT, WITHOUT ROWID;
        -- What a restart has to finish. An outcome known on acceptance never enters it.
        CREATE INDEX invocations_pending ON invocations (seq, n) WHERE outcome IS NULL;

        CREATE TABLE events (
            seq INTEGER NOT NULL,
            id BLOB NOT NULL,
            kind TEXT NOT NULL,
            time INTEGER NOT NULL,
            delivery INTEGER NOT NULL,
            external_user_id TEXT,
            device_id TEXT,
            app_id TEXT,
            platform TEXT NOT NULL,
            campaign_id TEXT,
            message_id TEXT,
            button_action_type TEXT,
            button_string TEXT,
            PRIMARY KEY (seq, id)
        ) STRICT, WITHOUT ROWID;
        -- Opens of a delivery, for its story. Its own receipt has the same seq and needs no index.
        CREATE INDEX events_of_delivery ON events (delivery) WHERE delivery <> seq;

        -- What was last said of each device. No app is the empty text, so that the key holds.
        CREATE TABLE devices (
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            platform TEXT NOT NULL,
            external_id TEXT,
            PRIMARY KEY (app, device)
        ) STRICT, WITHOUT ROWID;

        -- One row. highest_seq is what pruning took: a number is never given twice.
        CREATE TABLE meta (state_id TEXT NOT NULL, highest_seq INTEGER NOT NULL) STRICT;
        """,
        """
        ALTER TABLE requests ADD COLUMN state TEXT;
        ALTER TABLE requests ADD COLUMN duplicate_id TEXT;
        ALTER TABLE requests ADD COLUMN tracked INTEGER NOT NULL DEFAULT 0;
        -- What a tap may be about. The tracker knows its own deliveries, so they cost it nothing.
        CREATE INDEX requests_by_message ON requests (message_id)
            WHERE message_id IS NOT NULL AND operation = 'deliver' AND tracked = 0;

        ALTER TABLE invocations ADD COLUMN observer INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE invocations ADD COLUMN waited_for_seq INTEGER;
        ALTER TABLE invocations ADD COLUMN waited_for_n INTEGER;
        ALTER TABLE invocations ADD COLUMN waited_for_handler TEXT;
        """,
    ]

    /// Creates the tables of an empty database, or brings older ones up to date; all or nothing.
    static func migrate(_ database: borrowing Database) throws(StoreError) {
        try database.execute("BEGIN IMMEDIATE")
        let found = try check(database)
        if found < version {
            for migration in migrations[Int(found)...] { try database.execute(migration) }
            if found == 0 {
                let stateID = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
                try database.execute("INSERT INTO meta VALUES ('\(stateID)', 0)")
            }
            try database.execute("PRAGMA user_version = \(version)")
        }
        try database.execute("COMMIT")
    }

    /// The version of the database, refusing one that this program does not know.
    @discardableResult
    static func check(_ database: borrowing Database) throws(StoreError) -> Int64 {
        let found = try database.integer("PRAGMA user_version")
        guard (0...version).contains(found) else {
            throw StoreError(
                .newerSchema, message: "the ledger has schema \(found); this program knows up to \(version)",
                context: database.path)
        }
        return found
    }
}
