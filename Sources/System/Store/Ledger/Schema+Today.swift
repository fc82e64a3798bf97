extension Schema {
    /// The tables of a new ledger, as the migrations would leave them, which would take several times as long: a test holds
    /// the two together. What each table is for is said where its migration makes it.
    static let today = """
        \(requestRows);
        CREATE UNIQUE INDEX requests_by_id ON request_rows (uid, id) WHERE id IS NOT NULL;
        CREATE INDEX requests_by_time ON request_rows (accepted_at);
        \(invocationRows);
        CREATE INDEX invocations_pending ON invocation_rows (seq, n) WHERE outcome IS NULL;

        CREATE TABLE meta (
            state_id TEXT NOT NULL,
            highest_seq INTEGER NOT NULL,
            highest_cursor INTEGER NOT NULL DEFAULT 0,
            highest_entry INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX requests_by_message ON request_rows (message_id)
            WHERE message_id IS NOT NULL AND operation IN (0, 'deliver') AND tracked = 0;
        \(eventRows);
        CREATE INDEX events_by_seq ON event_rows (seq);
        CREATE INDEX events_of_delivery ON event_rows (delivery) WHERE delivery <> seq;

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

        CREATE TABLE closed_buttons (
            event INTEGER NOT NULL,
            button TEXT NOT NULL,
            PRIMARY KEY (event, button)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE interactions (
            cause INTEGER PRIMARY KEY,
            delivery INTEGER,
            verdict TEXT NOT NULL,
            button TEXT,
            button_action TEXT,
            at INTEGER NOT NULL
        ) STRICT;

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

        CREATE TABLE devices (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            device TEXT NOT NULL,
            platform TEXT NOT NULL,
            external_id TEXT
        ) STRICT;

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

        CREATE TABLE session_starts (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            anonymous INTEGER NOT NULL,
            owner TEXT NOT NULL,
            starts BLOB NOT NULL,
            since_at INTEGER NOT NULL
        ) STRICT;

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
            reason TEXT,
            reason_code TEXT,
            field TEXT
        ) STRICT;
        CREATE INDEX entries_of_request ON entries (cause);
        CREATE INDEX entries_unfinished ON entries (number)
            WHERE state IN ('pending', 'queued', 'claimed', 'unknown');
        CREATE INDEX entries_finished ON entries (state, coalesce(settled_at, saved_at))
            WHERE state IN ('flushed', 'sent', 'rejected', 'discarded');

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
        CREATE INDEX attributes_by_value ON attributes (name, substr(value, 1, 64)) WHERE anonymous = 0;

        CREATE TABLE sending (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            phase TEXT NOT NULL,
            reason TEXT,
            failures INTEGER NOT NULL,
            until_at INTEGER,
            since_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE log_position (
            number INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            segment INTEGER NOT NULL,
            segment_end INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX requests_by_replay ON request_rows (replay_of) WHERE replay_of IS NOT NULL;

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

        CREATE TABLE dead_letters (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            at INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (seq, n)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE figures_by_minute (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;

        CREATE TABLE figures_by_hour (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;

        CREATE TABLE figures_by_days (place INTEGER PRIMARY KEY, figures BLOB NOT NULL) STRICT;

        CREATE TABLE figure_keys (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            last_minute INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE figure_state (version INTEGER NOT NULL, first_minute INTEGER NOT NULL) STRICT;

        CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;

        CREATE TABLE gaps (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            begin_at INTEGER NOT NULL,
            end_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE life (
            one INTEGER PRIMARY KEY CHECK (one = 1), seen_at INTEGER NOT NULL, seq INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE texts (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, text ANY NOT NULL) STRICT;

        INSERT INTO log_position VALUES (0, 0, 0, 0);
        -- There is nothing to count.
        INSERT INTO figure_state VALUES (\(FigureTable.version), 0);
        """
}
