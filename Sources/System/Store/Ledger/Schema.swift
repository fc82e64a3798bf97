import PushModel

/// The schema of the ledger: its identification, its version and its migrations.
enum Schema {
    /// The `PRAGMA application_id` of a ledger: "push".
    static let applicationID: Int64 = 0x7075_7368
    /// The schema this program writes, kept in `PRAGMA user_version`.
    static let version: Int64 = 5
    /// The SQL that migrates a ledger of each version to the next one.
    static let migrations: [Int64: String] = [
        1: chain, 2: tokens, 3: topics, 4: "\(subscriptions); \(configurations)",
    ]

    /// Creates the tables of an empty database, or migrates an older ledger, in one transaction.
    ///
    /// - Parameters:
    ///   - migrations: the SQL of the steps, by version.
    ///   - onMigration: called before an older ledger is migrated.
    /// - Throws: `newerSchema`; `otherFormat` for another program's database, and for a version without a step.
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
                try database.execute("\(statements); PRAGMA user_version = \(step + 1)")
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
