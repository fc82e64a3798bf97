import PushModel

extension Schema {
    /// The tables of the ledger.
    ///
    /// `requests`, `invocations` and `events` are views with the wire names of words and the shared texts, so that
    /// `sqlite3 ledger.db` reads well; the rows of their tables have numbers instead (``LedgerTable``). The suffix of a
    /// column is its unit: `_at` Unix milliseconds, `_ns` monotonic nanoseconds within the request's boot, `_us`
    /// microseconds. A column with shared texts has the type ANY: a number, or the text itself.
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

        \(AcceptedRequest.table.creation);
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

        \(InvocationRecord.table.creation);
        -- What a restart has to finish. An outcome known on acceptance never enters it.
        CREATE INDEX invocations_pending ON invocation_rows (seq, n) WHERE outcome IS NULL;
        \(AttemptRecord.table.creation);
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
        \(DeadLetter.table.creation);
        CREATE INDEX dead_letters_by_time ON dead_letters (at);

        \(AnalyticsEvent.table.creation);
        CREATE INDEX events_by_seq ON event_rows (seq);
        -- Opens of a delivery, for its story. Its own receipt has the same seq and needs no index.
        CREATE INDEX events_of_delivery ON event_rows (delivery) WHERE delivery <> seq;

        \(TrackedRow.table.creation);
        -- The close buttons of those that were pressed.
        CREATE TABLE closed_buttons (
            event INTEGER NOT NULL,
            button TEXT NOT NULL,
            PRIMARY KEY (event, button)
        ) STRICT, WITHOUT ROWID;
        \(InteractionRow.table.creation);
        \(PendingStart.table.creation);
        \(HeldInteraction.table.creation);

        \(KnownDevice.table.creation);
        \(SessionRow.table.creation);
        \(StartsRow.table.creation);

        \(EntryRecord.table.creation);
        CREATE INDEX entries_of_request ON entries (cause);
        -- What a restart gives back. What is finished left it.
        CREATE INDEX entries_unfinished ON entries (number)
            WHERE \(EntryFilter.isUnfinished);
        -- What pruning takes, and what people look at: the rejected ones.
        CREATE INDEX entries_finished ON entries (state, coalesce(settled_at, saved_at))
            WHERE \(EntryFilter.isFinished);
        \(AttributeRecord.table.creation);
        -- Arrays are long: their beginning is enough.
        CREATE INDEX attributes_by_value ON attributes (name, substr(value, 1, 64)) WHERE anonymous = 0;
        \(SendingState.table.creation);

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

        \(DaemonGap.table.creation);
        \(LifeSign.table.creation);
        \(chain);
        \(fanOuts);
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

    private static let fanOuts = """
        \(FanOut.table.creation);
        -- What a restart goes on with.
        CREATE INDEX fan_outs_open ON fan_outs (seq) WHERE devices IS NOT NULL
        """

    /// Adds the tables for a chain that several machines write: since version 2.
    static let chain = """
        \(Producer.table.creation);
        CREATE UNIQUE INDEX producers_by_name ON producers (name);
        -- The batch of the last erasure that was a row of the chain, 0 for none, and whether the ledger was written anew since
        -- without what free pages had of it. One row.
        CREATE TABLE last_erased (batch INTEGER NOT NULL, rewritten INTEGER NOT NULL) STRICT;
        INSERT INTO last_erased VALUES (0, 1);
        """
}
