extension Schema {
    /// The tables of the ledger.
    ///
    /// `requests`, `invocations` and `events` are views, which have the wire names of words and the texts that rows share, so
    /// that `sqlite3 ledger.db` reads well; in the rows of their tables these are numbers (``LedgerTable``). Columns end in
    /// their unit: `_at` Unix milliseconds, `_ns` monotonic nanoseconds within the request's boot, `_us` microseconds. A
    /// column that rows share texts in is of the type ANY: a number, or the text itself.
    static let tables = """
        -- One row. highest_seq is what pruning took: a number is never given twice. The same for events and entries.
        CREATE TABLE meta (
            state_id TEXT NOT NULL,
            highest_seq INTEGER NOT NULL,
            highest_cursor INTEGER NOT NULL DEFAULT 0,
            highest_entry INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        -- How far the log is applied: behind which batch, where that ends. One row.
        CREATE TABLE log_position (
            number INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            segment INTEGER NOT NULL,
            segment_end INTEGER NOT NULL
        ) STRICT;
        INSERT INTO log_position VALUES (0, 0, 0, 0);
        -- Texts that rows share. used is a request at or behind the last one with a row that has the number.
        CREATE TABLE texts (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, text ANY NOT NULL) STRICT;

        -- transport is what brought a delivery, original_priority how urgent FCM took it for; NULL for what is no delivery.
        -- replay_of is the request of which this one is a replay; NULL for what a producer sent.
        CREATE TABLE request_rows (
            seq INTEGER PRIMARY KEY,
            operation INTEGER NOT NULL,
            id TEXT,
            uid INTEGER NOT NULL,
            gid INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            accepted_at INTEGER NOT NULL,
            accepted_ns INTEGER NOT NULL,
            boot ANY NOT NULL,
            mode INTEGER NOT NULL,
            platform INTEGER NOT NULL,
            app ANY,
            device TEXT,
            external_id TEXT,
            message_id TEXT,
            body BLOB NOT NULL,
            state INTEGER,
            duplicate_id TEXT,
            tracked INTEGER NOT NULL DEFAULT 0,
            transport INTEGER,
            original_priority INTEGER,
            delivered_priority INTEGER,
            replay_of INTEGER
        ) STRICT;
        -- Idempotency. Requests without an id cost it nothing.
        CREATE UNIQUE INDEX requests_by_id ON request_rows (uid, id) WHERE id IS NOT NULL;
        -- The clock may be set back, so seq alone cannot tell which requests a window of time holds.
        CREATE INDEX requests_by_time ON request_rows (accepted_at);
        -- What a tap may be about. The tracker knows its own deliveries, so they cost it nothing.
        CREATE INDEX requests_by_message ON request_rows (message_id)
            WHERE message_id IS NOT NULL AND operation = 0 AND tracked = 0;
        CREATE INDEX requests_by_replay ON request_rows (replay_of) WHERE replay_of IS NOT NULL;
        -- Requests that were accepted at an earlier time than the request before them: the clock was set back.
        CREATE TABLE clock_steps (seq INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL) STRICT;

        -- reason is for people, reason_code for programs. ahead is how many were ahead in the lane, waited_for_us how long the
        -- one of waited_for_seq had its turn.
        CREATE TABLE invocation_rows (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            callback INTEGER NOT NULL,
            provider ANY,
            route ANY,
            handler ANY,
            budget_us INTEGER NOT NULL,
            deadline_ns INTEGER,
            started INTEGER NOT NULL,
            outcome INTEGER,
            reason TEXT,
            queue_us INTEGER,
            exec_us INTEGER,
            total_us INTEGER,
            completed_by INTEGER,
            completed_times INTEGER,
            completed_result INTEGER,
            completed_options ANY,
            decided_at INTEGER,
            observer INTEGER NOT NULL DEFAULT 0,
            waited_for_seq INTEGER,
            waited_for_n INTEGER,
            waited_for_handler ANY,
            reason_code ANY,
            ahead INTEGER,
            waited_for_us INTEGER,
            PRIMARY KEY (seq, n)
        ) STRICT, WITHOUT ROWID;
        -- What a restart has to finish. An outcome known on acceptance never enters it.
        CREATE INDEX invocations_pending ON invocation_rows (seq, n) WHERE outcome IS NULL;
        -- How handlers answered, where the invocation's own row does not say all of it. Times are from acceptance on. errors
        -- is the end of what the handler wrote to standard error, errors_cut how many bytes came before that. attempt counts
        -- over the invocation, of_handler over those of one handler in a row.
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
            errors_cut INTEGER,
            attempt INTEGER NOT NULL,
            of_handler INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX attempts_of_request ON attempts (seq);
        -- How many attempts at an invocation have no row any more: those between the first and the last ones.
        CREATE TABLE attempts_left_out (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            handler TEXT NOT NULL,
            answer TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (seq, n, handler, answer)
        ) STRICT, WITHOUT ROWID;
        -- What a person may replay or purge. Pruning leaves their requests alone; they have limits of their own.
        CREATE TABLE dead_letters (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            at INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (seq, n)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX dead_letters_by_time ON dead_letters (at);

        -- The cursor is the order in which events were committed, for who reads on from where they were. No number is
        -- given twice: meta has the highest that pruning may have taken.
        CREATE TABLE event_rows (
            cursor INTEGER PRIMARY KEY,
            seq INTEGER NOT NULL,
            id BLOB NOT NULL,
            kind INTEGER NOT NULL,
            time INTEGER NOT NULL,
            delivery INTEGER NOT NULL,
            external_user_id TEXT,
            device_id TEXT,
            app_id ANY,
            platform INTEGER NOT NULL,
            campaign_id ANY,
            message_id TEXT,
            button_action_type INTEGER,
            button_string TEXT,
            duration_us INTEGER,
            push_token TEXT,
            token_change INTEGER,
            name TEXT,
            properties TEXT
        ) STRICT;
        CREATE INDEX events_by_seq ON event_rows (seq);
        -- Opens of a delivery, for its story. Its own receipt has the same seq and needs no index.
        CREATE INDEX events_of_delivery ON event_rows (delivery) WHERE delivery <> seq;

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

        -- What was last said of each device, its session, and the session starts of each user. No app is the empty text. Keys
        -- that grow instead of texts: rows that are new lie side by side, not each on a page of its own. A number is that of
        -- the request that made the row. An index on the texts would write those pages after all: nobody looks a row up by
        -- them.
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
        -- starts is at most ten times, eight bytes each, the most significant one first.
        CREATE TABLE session_starts (
            number INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            anonymous INTEGER NOT NULL,
            owner TEXT NOT NULL,
            starts BLOB NOT NULL,
            since_at INTEGER NOT NULL
        ) STRICT;

        -- Custom data on its way: one custom event, or attributes that are set together. A suite is where an entry is
        -- stored; without one it is sent, for the profile that the identifier names. settled_at is when the state last
        -- changed, by settled_by if that was a request; NULL while it is as it came. reason_code and field: which rule a
        -- rejected entry breaks, and where.
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
        -- there are none. Before pruned_minute rows were taken out: figures alone count there. first_minute is no later.
        CREATE TABLE figure_state (
            version INTEGER NOT NULL,
            first_minute INTEGER NOT NULL,
            pruned_minute INTEGER NOT NULL
        ) STRICT;
        INSERT INTO figure_state VALUES (\(FigureTable.version), 0, 0);

        -- When the daemon was down, the clock was set, the machine suspended or the disk stalled. Where the clock was set, the
        -- times are those before and after. At most 4096, the newest.
        CREATE TABLE gaps (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            begin_at INTEGER NOT NULL,
            end_at INTEGER NOT NULL
        ) STRICT;
        -- When the daemon was last known to be alive, the last request that it had accepted by then, and when it was last alive
        -- by a clock that it believed: one row, or none before the first.
        CREATE TABLE life (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            seen_at INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            believed_at INTEGER
        ) STRICT;
        """
}
