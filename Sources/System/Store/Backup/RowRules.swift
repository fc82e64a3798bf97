import PushModel

/// The rules for a ledger from elsewhere: it has exactly the schema of this program, and rows that this program may
/// have written. Otherwise a trigger, or a number near the end of its range, could lose requests or make each start
/// fail.
enum RowRules {
    /// Compares the statements in the database's schema with those that this program makes.
    ///
    /// - Throws: `corrupt` with the first difference.
    static func requireSchema(_ database: borrowing Database) throws(StoreError) {
        let own = try Database(path: "", access: .readWrite)
        try LedgerSchema.migrate(own, onMigration: {})
        let (found, wanted) = (try objects(of: database), try objects(of: own))
        for (name, text) in found.sorted(by: { $0.key < $1.key }) where wanted[name] != text {
            let reason = wanted[name] == nil ? "which no ledger has" : "which differs from a ledger's"
            throw StoreError(.corrupt, message: "the file has the \(name), \(reason)", context: database.path)
        }
        if let missing = wanted.keys.sorted().first(where: { found[$0] == nil }) {
            throw StoreError(.corrupt, message: "the file lacks the \(missing)", context: database.path)
        }
    }

    /// Returns the statements by type and name, without white space and quotes, which a migration leaves different.
    private static func objects(of database: borrowing Database) throws(StoreError) -> [String: String] {
        let rows = try database.prepare(
            "SELECT type || ' ' || name, tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema")
        var objects: [String: String] = [:]
        while try rows.step() {
            objects[rows.text(0) ?? ""] = (rows.text(1) ?? "").filter { !$0.isWhitespace && $0 != "\"" }
        }
        return objects
    }

    /// Checks all rows of a database with the schema of a ledger.
    ///
    /// - Throws: `corrupt` with the first column that has an invalid value.
    static func requireRows(_ database: borrowing Database) throws(StoreError) {
        for table in LedgerSchema.tablesOfOneRow {
            let count = try database.integer("SELECT count(*) FROM \(table)")
            guard count == 1 else {
                throw StoreError(.corrupt, message: "\(table) has \(count) rows, not one", context: database.path)
            }
        }
        let list = try database.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        var tables: [String] = []
        while try list.step() { tables.append(list.text(0) ?? "") }
        for table in tables { try requireRows(of: table, database) }
    }

    private static func requireRows(of table: String, _ database: borrowing Database) throws(StoreError) {
        let list = try database.prepare("SELECT name, type FROM pragma_table_info('\(table)')")
        var rules: [(column: String, rule: String)] = []
        while try list.step() {
            let (column, type) = (list.text(0) ?? "", list.text(1) ?? "")
            if let rule = rule(table, column, type, StoredRange.restoredNumber) { rules.append((column, rule)) }
        }
        guard !rules.isEmpty else { return }
        let cases = rules.map { "WHEN NOT (\($0.rule)) THEN '\($0.column)'" }.joined(separator: " ")
        let broken = try database.prepare(
            """
            SELECT CASE \(cases) END FROM \(table)
            WHERE NOT (\(rules.map { "ifnull(\($0.rule), 1)" }.joined(separator: " AND "))) LIMIT 1
            """)
        guard try broken.step() else { return }
        throw StoreError(
            .corrupt, message: "a row of \(table) has an invalid value in \(broken.text(0) ?? "a column")",
            context: database.path)
    }

    // MARK: Columns

    /// Returns the condition on a column; `nil` if its type says all. NULL meets each condition.
    ///
    /// - Parameter numbers: the range of numbers of requests, events and entries, of counts and lengths.
    static func rule(_ table: String, _ column: String, _ type: String, _ numbers: ClosedRange<Int64>) -> String? {
        if let form = forms["\(table).\(column)"] { return form }
        switch coding(table, column) {
        case .name(let texts):
            let rule = "\(column) IN (\(texts.map { "'\($0)'" }.joined(separator: ", ")))"
            return "\(table).\(column)" == "entries.state"
                ? "\(rule) AND (state != '\(EntryState.claimed.rawValue)' OR claimant IS NOT NULL)" : rule
        case .word(let set): return "\(column) BETWEEN 0 AND \(set.texts.count - 1)"
        case .shared: return sharedRule(column)
        case .plain: break
        }
        return type == "INTEGER"
            ? range(table, column, numbers).map { "\(column) BETWEEN \($0.lowerBound) AND \($0.upperBound)" } : nil
    }

    /// Returns the condition on a shared text: the number of an existing text, or the text itself. A boot has 16 bytes.
    private static func sharedRule(_ column: String) -> String {
        let value = column == "boot" ? "typeof(boot) = 'blob' AND length(boot) = 16" : "typeof(\(column)) = 'text'"
        let type = column == "boot" ? "typeof(text) = 'blob' AND length(text) = 16" : "typeof(text) = 'text'"
        return """
            CASE typeof(\(column)) WHEN 'null' THEN 1
            WHEN 'integer' THEN EXISTS (SELECT 1 FROM texts WHERE number = \(column) AND \(type)) ELSE \(value) END
            """
    }

    /// Returns the condition on a part of a topic's name (``TopicName/isPart(_:)``).
    private static func nameRule(_ column: String) -> String {
        """
        length(\(column)) BETWEEN 1 AND \(TopicName.lengthMax) AND \(column) NOT GLOB '*[^!-~]*' AND instr(\(column), '/') = 0
        """
    }

    /// Returns the range of a column of numbers; `nil` if it may have any.
    static func range(_ table: String, _ column: String, _ numbers: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        switch column {
        // A digest may be any 64 bits.
        case "digest": return nil
        case "tracked", "started", "observer", "displayed", "own_id", "influenced", "anonymous", "rewritten":
            return 0...1
        case "uid", "gid", "checksum", "segment": return 0...Int64(UInt32.max)
        case "pid", "signal", "status", "failures", "completed_times": return 0...Int64(Int32.max)
        case "segment_end": return LogSegment.lengths
        case "place": return StoredRange.place
        case _ where column.hasSuffix("_minute"): return StoredRange.minute
        case "since": return 0...Subscription.secondsMax
        case "at", "time", "window_ms": return StoredRange.time
        case _ where column.hasSuffix("_at"): return StoredRange.time
        case _ where column.hasSuffix("_us"): return StoredRange.span
        default: return numbers
        }
    }

    static func coding(_ table: String, _ column: String) -> LedgerTable.Coding {
        // The one column with words in a table without a record type.
        if table == "attempts_left_out", column == "answer" { return coding("attempts", column) }
        let columns = LedgerTable.all.first { $0.rows == table }?.columns ?? []
        return columns.first { $0.name == column }?.coding ?? .plain
    }

    /// The columns with rules of their own: bytes with fixed lengths, names, and other texts that a reader parses.
    private static let forms = [
        "meta.state_id": "length(state_id) = 36 AND length(replace(state_id, '-', '')) = 32 "
            + "AND replace(state_id, '-', '') NOT GLOB '*[^0-9a-f]*'",
        "entries.reason_code":
            "reason_code IN (\(RejectionCode.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))",
        "configurations.id": "length(id) = 16 AND id NOT GLOB '*[^0-9A-Fa-f]*'",
        // Numbers of at most 18 digits, which all are in the range.
        "fan_outs.devices": "devices NOT GLOB '*[^0-9 ]*' "
            + "AND devices NOT GLOB '*\(String(repeating: "[0-9]", count: 19))*'",
        "subscriptions.project": nameRule("project"), "subscriptions.topic": nameRule("topic"),
        "event_rows.id": "length(id) = 16", "entries.claimant": "length(claimant) = 16",
        "session_starts.starts": "length(starts) % 8 = 0 AND length(starts) <= 80",
    ]
}

extension RowRules {
    /// The change of a table's rows by ``repair(_:_:)``.
    struct Repair {
        /// The first invalid value, for people.
        var damage: String
        /// The number of rows that were deleted.
        var deleted = 0
    }

    /// Makes all rows of a table such as ``requireRows(_:)`` takes them, with room for later numbers.
    ///
    /// An invalid number becomes the nearest valid one, an invalid shared text NULL. A row is deleted if its key is
    /// invalid, or a value out of a closed set: another value there could begin or end work.
    ///
    /// - Returns: the change; `nil` if all rows were valid.
    static func repair(_ table: String, _ database: borrowing Database) throws(StoreError) -> Repair? {
        let list = try database.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info('\(table)')")
        var (repair, rules): (Repair?, [String]) = (nil, [])
        while try list.step() {
            let (column, type) = (list.text(0) ?? "", list.text(1) ?? "")
            guard let rule = rule(table, column, type, StoredRange.salvagedNumber) else { continue }
            rules.append(rule)
            let remedy = list.integer(3) > 0 ? nil : remedy(table, column, type, isOptional: list.integer(2) == 0)
            try database.execute(
                remedy.map { "UPDATE OR IGNORE \(table) SET \(column) = \($0) WHERE NOT (\(rule))" }
                    ?? "DELETE FROM \(table) WHERE NOT (\(rule))")
            guard database.changes > 0 else { continue }
            repair = repair ?? Repair(damage: "a row has an invalid value in \(column)")
            if remedy == nil { repair?.deleted += database.changes }
        }
        guard repair != nil else { return nil }
        // Deletes rows that are invalid still: another row has the new value, or another column makes it invalid.
        try database.execute(
            "DELETE FROM \(table) WHERE NOT (\(rules.map { "ifnull(\($0), 1)" }.joined(separator: " AND ")))")
        repair?.deleted += database.changes
        return repair
    }

    /// Returns the value, in SQL, in place of an invalid one; `nil`: the row is deleted.
    private static func remedy(_ table: String, _ column: String, _ type: String, isOptional: Bool) -> String? {
        switch coding(table, column) {
        case .shared: return isOptional ? "NULL" : column == "boot" ? "zeroblob(16)" : nil
        case .name, .word: return nil
        case .plain: break
        }
        // These only keep pruned numbers from being given again: numbers of rows that exist are known without them.
        if table == "meta", type == "INTEGER" { return "0" }
        // A restore gives the ledger another id in any case. No log is of this one.
        if table == "meta" { return "'\(UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max)))'" }
        if type == "INTEGER", let range = range(table, column, StoredRange.salvagedNumber) {
            return "min(max(\(column), \(range.lowerBound)), \(range.upperBound))"
        }
        return isOptional ? "NULL" : nil
    }
}
