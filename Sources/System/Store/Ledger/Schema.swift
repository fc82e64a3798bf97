import PushModel

/// The tables of the ledger, and how an older ledger becomes one of today.
///
/// `requests`, `invocations` and `events` are views, which have the wire names of words and the texts that rows share, so that
/// `sqlite3 ledger.db` reads well; in the rows of their tables these are numbers (``LedgerTable``). Columns end in their unit: `_at` Unix milliseconds, `_ns` monotonic nanoseconds within
/// the request's boot, `_us` microseconds.
enum Schema {
    /// The schema this program writes, kept in `PRAGMA user_version`.
    static var version: Int64 { Int64(migrations.count) }

    /// Element `v` brings a ledger of version `v` to `v + 1`.
    static let migrations = [
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
        """
        -- The cursor is the order in which events were committed, for who reads on from where they were. No number is
        -- given twice: meta has the highest that pruning may have taken.
        ALTER TABLE events RENAME TO events_v2;
        CREATE TABLE events (
            cursor INTEGER PRIMARY KEY,
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
            duration_us INTEGER,
            push_token TEXT,
            token_change TEXT
        ) STRICT;
        INSERT INTO events SELECT NULL, *, NULL, NULL, NULL FROM events_v2 ORDER BY seq, id;
        DROP TABLE events_v2;
        CREATE INDEX events_by_seq ON events (seq);
        CREATE INDEX events_of_delivery ON events (delivery) WHERE delivery <> seq;
        ALTER TABLE meta ADD COLUMN highest_cursor INTEGER NOT NULL DEFAULT 0;

        -- Deliveries that the tracker remembers. event is the cursor of the receipt, which has what is not here: their
        -- order is the order in which the tracker took them over.
        CREATE TABLE tracked_deliveries (
            event INTEGER PRIMARY KEY,
            received_at INTEGER NOT NULL,
            since_at INTEGER NOT NULL,
            displayed INTEGER NOT NULL,
            own_id INTEGER NOT NULL,
            unique_id TEXT,
            digest INTEGER,
            buttons BLOB NOT NULL,
            opened_at INTEGER,
            opened_by INTEGER,
            influenced INTEGER NOT NULL
        ) STRICT;
        -- Whether they were displayed was not noted before: no session start is to count them wrongly.
        INSERT INTO tracked_deliveries
            SELECT cursor, time * 1000, time * 1000, 0, 1, NULL, NULL, x'', NULL, NULL, 0 FROM events
            WHERE kind = 'local.pushnotification.Received' ORDER BY cursor;
        UPDATE tracked_deliveries SET opened_at = open.time * 1000, opened_by = open.seq
            FROM events AS receipt JOIN events AS open ON open.delivery = receipt.seq AND open.delivery <> open.seq
            WHERE receipt.cursor = event AND open.kind = 'users.messages.pushnotification.Open';

        -- The close buttons of those that were pressed.
        CREATE TABLE closed_buttons (
            event INTEGER NOT NULL,
            button TEXT NOT NULL,
            PRIMARY KEY (event, button)
        ) STRICT, WITHOUT ROWID;

        -- What became of each interaction with a notification of the tracker's. cause is the request.
        CREATE TABLE interactions (
            cause INTEGER PRIMARY KEY,
            delivery INTEGER,
            verdict TEXT NOT NULL,
            button TEXT,
            button_action TEXT,
            at INTEGER NOT NULL
        ) STRICT;

        -- No app is the empty text, so that the keys hold.
        CREATE TABLE sessions (
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            platform TEXT NOT NULL,
            external_id TEXT,
            number INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            ended_by INTEGER,
            end_due_at INTEGER,
            since_at INTEGER NOT NULL,
            PRIMARY KEY (app, device)
        ) STRICT, WITHOUT ROWID;
        -- starts is at most ten times, eight bytes each, the most significant one first.
        CREATE TABLE session_starts (
            app TEXT NOT NULL,
            anonymous INTEGER NOT NULL,
            owner TEXT NOT NULL,
            starts BLOB NOT NULL,
            since_at INTEGER NOT NULL,
            PRIMARY KEY (app, anonymous, owner)
        ) STRICT, WITHOUT ROWID;

        -- What waits for the end of the grace: a few rows at any time.
        CREATE TABLE pending_starts (
            cause INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            external_id TEXT,
            at INTEGER NOT NULL,
            window_ms INTEGER NOT NULL,
            due_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE held_interactions (
            cause INTEGER PRIMARY KEY,
            delivery INTEGER,
            message_id TEXT,
            digest INTEGER,
            act TEXT NOT NULL,
            button TEXT,
            platform TEXT NOT NULL,
            app TEXT,
            device TEXT,
            external_id TEXT,
            at INTEGER NOT NULL,
            due_at INTEGER NOT NULL
        ) STRICT;
        """,
        """
        ALTER TABLE events ADD COLUMN name TEXT;
        ALTER TABLE events ADD COLUMN properties TEXT;
        ALTER TABLE meta ADD COLUMN highest_entry INTEGER NOT NULL DEFAULT 0;

        -- Keys that grow instead of texts: rows that are new lie side by side, not each on a page of its own. A number is
        -- that of the request that made the row; where older ledgers do not tell, 0 or less, as no request has. An index
        -- on the texts would write those pages after all: nobody looks a row up by them.
        ALTER TABLE devices RENAME TO devices_v3;
        CREATE TABLE devices (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            platform TEXT NOT NULL,
            external_id TEXT
        ) STRICT;
        INSERT INTO devices SELECT row_number() OVER () - count(*) OVER (), * FROM devices_v3;
        DROP TABLE devices_v3;
        ALTER TABLE sessions RENAME TO sessions_v3;
        CREATE TABLE sessions (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            platform TEXT NOT NULL,
            external_id TEXT,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            ended_by INTEGER,
            end_due_at INTEGER,
            since_at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO sessions
            SELECT number, app, device, platform, external_id, started_at, ended_at, ended_by, end_due_at, since_at
            FROM sessions_v3 ORDER BY number;
        DROP TABLE sessions_v3;
        ALTER TABLE session_starts RENAME TO session_starts_v3;
        CREATE TABLE session_starts (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            anonymous INTEGER NOT NULL,
            owner TEXT NOT NULL,
            starts BLOB NOT NULL,
            since_at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO session_starts
            SELECT row_number() OVER (ORDER BY since_at) - count(*) OVER (), * FROM session_starts_v3;
        DROP TABLE session_starts_v3;

        -- Custom data on its way: one custom event, or attributes that are set together. A suite is where an entry is
        -- stored; without one it is sent, for the profile that the identifier names. settled_at is when the state last
        -- changed, by settled_by if that was a request; NULL while it is as it came.
        CREATE TABLE entries (
            number INTEGER PRIMARY KEY,
            cause INTEGER NOT NULL,
            kind TEXT NOT NULL,
            suite TEXT,
            identifier_kind TEXT,
            identifier TEXT,
            identifier_label TEXT,
            platform TEXT NOT NULL,
            app TEXT,
            device TEXT,
            external_id TEXT,
            name TEXT,
            data BLOB NOT NULL,
            time INTEGER NOT NULL,
            saved_at INTEGER NOT NULL,
            state TEXT NOT NULL,
            settled_at INTEGER,
            settled_by INTEGER,
            claimant BLOB,
            reason TEXT
        ) STRICT;
        CREATE INDEX entries_of_request ON entries (cause);
        -- What a restart gives back. What is finished left it.
        CREATE INDEX entries_unfinished ON entries (number)
            WHERE state IN ('pending', 'queued', 'claimed', 'unknown');
        -- What pruning takes, and what people look at: the rejected ones.
        CREATE INDEX entries_finished ON entries (state, coalesce(settled_at, saved_at))
            WHERE state IN ('flushed', 'sent', 'rejected', 'discarded');

        -- Profiles: a state, not a history, so nothing is ever pruned. owner is a device where it is anonymous; value is
        -- a JSON text.
        CREATE TABLE attributes (
            anonymous INTEGER NOT NULL,
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            set_at INTEGER NOT NULL,
            entry INTEGER NOT NULL,
            PRIMARY KEY (anonymous, owner, kind, name)
        ) STRICT, WITHOUT ROWID;
        -- Arrays are long: their beginning is enough.
        CREATE INDEX attributes_by_value ON attributes (name, substr(value, 1, 64)) WHERE anonymous = 0;

        -- How sending to the endpoint goes: one row, or none before it ever did.
        CREATE TABLE sending (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            phase TEXT NOT NULL,
            reason TEXT,
            failures INTEGER NOT NULL,
            until_at INTEGER,
            since_at INTEGER NOT NULL
        ) STRICT;
        """,
        """
        -- How far the log is applied: behind which batch, where that ends. One row.
        CREATE TABLE log_position (
            number INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            segment INTEGER NOT NULL,
            segment_end INTEGER NOT NULL
        ) STRICT;
        INSERT INTO log_position VALUES (0, 0, 0, 0);
        """,
        """
        -- What brought a delivery, and how urgent FCM took it for; NULL for what is no delivery, and for older rows.
        ALTER TABLE requests ADD COLUMN transport TEXT;
        ALTER TABLE requests ADD COLUMN original_priority TEXT;
        ALTER TABLE requests ADD COLUMN delivered_priority TEXT;
        -- Why, for programs. Of older rows only those have one that reports count by it.
        ALTER TABLE invocations ADD COLUMN reason_code TEXT;
        UPDATE invocations SET reason_code = \(reasonCode(ofFormer: "reason")) WHERE reason IS NOT NULL;
        """,
        """
        -- The request of which this one is a replay; NULL for what a producer sent.
        ALTER TABLE requests ADD COLUMN replay_of INTEGER;
        CREATE INDEX requests_by_replay ON requests (replay_of) WHERE replay_of IS NOT NULL;
        -- How many were ahead in the lane, and how long the one of waited_for_seq had its turn.
        ALTER TABLE invocations ADD COLUMN ahead INTEGER;
        ALTER TABLE invocations ADD COLUMN waited_for_us INTEGER;

        -- How handlers answered, where the invocation's own row does not say all of it. Times are from acceptance on. errors
        -- is the end of what the handler wrote to standard error, errors_cut how many bytes came before that.
        CREATE TABLE attempts (
            number INTEGER PRIMARY KEY,
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            route TEXT,
            handler TEXT NOT NULL,
            asked_us INTEGER NOT NULL,
            started_us INTEGER,
            ended_us INTEGER NOT NULL,
            answer TEXT NOT NULL,
            status INTEGER,
            signal INTEGER,
            retry_after_us INTEGER,
            reason TEXT,
            errors BLOB,
            errors_cut INTEGER
        ) STRICT;
        CREATE INDEX attempts_of_request ON attempts (seq);

        -- What a person may replay or purge. Pruning leaves their requests alone; they have limits of their own.
        CREATE TABLE dead_letters (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            at INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (seq, n)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- Which rule a rejected entry breaks, and where; NULL in those of before.
        ALTER TABLE entries ADD COLUMN reason_code TEXT;
        ALTER TABLE entries ADD COLUMN field TEXT;

        -- Figures: what reports add up instead of reading each row (FigureTable). place is the span in the upper 32 bits, the
        -- number of the key in the lower; spans are of 1, 64 and 4096 minutes. figures is for this program alone.
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
        -- One row. Of another version than the program's the figures are of no use, and are counted anew. Before first_minute
        -- there are none: rows were taken out there.
        CREATE TABLE figure_state (version INTEGER NOT NULL, first_minute INTEGER NOT NULL) STRICT;
        INSERT INTO figure_state VALUES (0, 0);
        -- Requests that were accepted at an earlier time than the request before them: the clock was set back.
        CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;
        """,
        """
        -- When the daemon was down, the clock was set, the machine suspended or the disk stalled. Where the clock was set, the
        -- times are those before and after. At most 4096, the newest.
        CREATE TABLE gaps (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            begin_at INTEGER NOT NULL,
            end_at INTEGER NOT NULL
        ) STRICT;
        -- When the daemon was last known to be alive, and the last request that it had accepted by then: one row, or none
        -- before the first.
        CREATE TABLE life (one INTEGER PRIMARY KEY CHECK (one = 1), seen_at INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
        """,
        sharedTexts,
    ]

    /// The code of a reason of which a version before schema 6 wrote the text alone, for the two reasons that reports count
    /// by: fixed words, which remarks may follow.
    ///
    /// - Parameter reason: an expression that gives the text.
    static func reasonCode(ofFormer reason: String) -> String {
        let codes = [ReasonCode.daemonDown, .daemonCrashed].map { code in
            "WHEN substr(\(reason) || ';', 1, \(code.rawValue.utf8.count + 1)) = '\(code.rawValue);' "
                + "THEN '\(code.rawValue)'"
        }
        return "CASE \(codes.joined(separator: " ")) END"
    }

    /// Creates the tables of an empty database, or brings older ones up to date; all or nothing.
    ///
    /// - Parameter onMigration: called before an older one is brought up to date.
    static func migrate(_ database: borrowing Database, onMigration: () -> Void) throws(StoreError) {
        try database.execute("BEGIN IMMEDIATE")
        let found = try check(database)
        if found < version {
            if found == 0 {
                try database.execute(today)
                let stateID = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
                try database.execute("INSERT INTO meta (state_id, highest_seq) VALUES ('\(stateID)', 0)")
            } else {
                onMigration()
                for migration in migrations[Int(found)...] { try database.execute(migration) }
            }
            try database.execute("PRAGMA user_version = \(version)")
        }
        try makeViews(database)
        try database.execute("COMMIT")
    }

    /// The state directory's id.
    static func stateIdentity(_ database: borrowing Database) throws(StoreError) -> UUID128 {
        let identity = try database.prepare("SELECT state_id FROM meta")
        guard try identity.step(), let state = identity.text(0).flatMap({ UUID128($0) }) else {
            throw StoreError(.corrupt, message: "the ledger does not say whose it is", context: database.path)
        }
        return state
    }

    /// The place in the log behind the last batch that is in the ledger.
    static func logPosition(_ database: borrowing Database) throws(StoreError) -> LogPosition {
        let position = try database.prepare("SELECT number, checksum, segment, segment_end FROM log_position")
        guard try position.step() else {
            throw StoreError(
                .corrupt, message: "the ledger does not say how far the log is applied", context: database.path)
        }
        return LogPosition(
            number: UInt64(bitPattern: position.integer(0)), checksum: try position.number(1),
            segment: try position.number(2), end: try position.number(3))
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
