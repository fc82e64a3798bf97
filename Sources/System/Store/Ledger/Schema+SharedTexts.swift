extension Schema {
    /// Rows may have numbers for texts from here on. The rows that are there keep their texts, so nothing of them is written
    /// again, however many there are: only what the columns may hold changes, as
    /// https://www.sqlite.org/lang_altertable.html#otheralter describes it. ANY is what keeps a value as it is.
    static let sharedTexts = """
        -- Texts that rows share. used is a request at or behind the last one with a row that has the number.
        CREATE TABLE texts (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, text ANY NOT NULL) STRICT;

        ALTER TABLE requests RENAME TO request_rows;
        ALTER TABLE invocations RENAME TO invocation_rows;
        ALTER TABLE events RENAME TO event_rows;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = '\(requestRows)' WHERE type = 'table' AND name = 'request_rows';
        UPDATE sqlite_schema SET sql = '\(invocationRows)' WHERE type = 'table' AND name = 'invocation_rows';
        UPDATE sqlite_schema SET sql = '\(eventRows)' WHERE type = 'table' AND name = 'event_rows';
        UPDATE sqlite_schema SET sql = '\(requestsByMessage)' WHERE type = 'index' AND name = 'requests_by_message';
        PRAGMA writable_schema = RESET;
        """

    static let requestRows = """
        CREATE TABLE request_rows (
            seq INTEGER PRIMARY KEY,
            operation ANY NOT NULL,
            id TEXT,
            uid INTEGER NOT NULL,
            gid INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            accepted_at INTEGER NOT NULL,
            accepted_ns INTEGER NOT NULL,
            boot ANY NOT NULL,
            mode ANY NOT NULL,
            platform ANY NOT NULL,
            app ANY,
            device TEXT,
            external_id TEXT,
            message_id TEXT,
            body BLOB NOT NULL,
            state ANY,
            duplicate_id TEXT,
            tracked INTEGER NOT NULL DEFAULT 0,
            transport ANY,
            original_priority ANY,
            delivered_priority ANY,
            replay_of INTEGER
        ) STRICT
        """

    static let invocationRows = """
        CREATE TABLE invocation_rows (
            seq INTEGER NOT NULL,
            n INTEGER NOT NULL,
            callback ANY NOT NULL,
            provider ANY,
            route ANY,
            handler ANY,
            budget_us INTEGER NOT NULL,
            deadline_ns INTEGER,
            started INTEGER NOT NULL,
            outcome ANY,
            reason TEXT,
            queue_us INTEGER,
            exec_us INTEGER,
            total_us INTEGER,
            completed_by ANY,
            completed_times INTEGER,
            completed_result ANY,
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
        ) STRICT, WITHOUT ROWID
        """

    static let eventRows = """
        CREATE TABLE event_rows (
            cursor INTEGER PRIMARY KEY,
            seq INTEGER NOT NULL,
            id BLOB NOT NULL,
            kind ANY NOT NULL,
            time INTEGER NOT NULL,
            delivery INTEGER NOT NULL,
            external_user_id TEXT,
            device_id TEXT,
            app_id ANY,
            platform ANY NOT NULL,
            campaign_id ANY,
            message_id TEXT,
            button_action_type ANY,
            button_string TEXT,
            duration_us INTEGER,
            push_token TEXT,
            token_change ANY,
            name TEXT,
            properties TEXT
        ) STRICT
        """

    /// The condition on earlier rows is what it was, so the index has what it is to have.
    private static let requestsByMessage = """
        CREATE INDEX requests_by_message ON request_rows (message_id)
            WHERE message_id IS NOT NULL AND operation IN (0, ''deliver'') AND tracked = 0
        """

    /// Makes the views anew where they are not those of this version, which may know more words. Within a transaction.
    static func makeViews(_ database: borrowing Database) throws(StoreError) {
        for table in LedgerTable.all {
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
