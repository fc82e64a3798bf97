import PushModel

// A table that stores numbers in place of texts has a view with the texts, for people and programs that use SQL. This
// program queries the table itself, aliased to the view's name, so that its conditions match those of the indexes.
extension LedgerTable {
    static let requests = AcceptedRequest.table
    static let invocations = InvocationRecord.table
    static let events = AnalyticsEvent.table
    static let entries = EntryRecord.table

    /// The tables that have views.
    static let viewed = [requests, invocations, events]
    /// The tables that hold records.
    static let all =
        viewed + [
            AttemptRecord.table, DeadLetter.table, TrackedRow.table, InteractionRow.table, PendingStart.table,
            HeldInteraction.table, KnownDevice.table, SubscriptionRow.table, SessionRow.table, StartsRow.table, entries,
            AttributeRecord.table, SendingState.table, DaemonGap.table, LifeSign.table,
            Producer.table, FanOut.table, ConfigurationPeriod.table, AuditRecord.table,
        ]

    // MARK: Statements

    /// The `CREATE TABLE` statement.
    var creation: String {
        var lines = columns.map { column in
            let isRequired = column.isOptional ? "" : " NOT NULL"
            return "\(column.name) \(column.type)\(isRequired)\(column.missing.map { " DEFAULT \($0)" } ?? "")"
        }
        var hasRowID = true
        switch key {
        case .first(1): lines[0] = "\(columns[0].name) INTEGER PRIMARY KEY"
        case .first(let count):
            lines.append("PRIMARY KEY (\(columns.prefix(count).map(\.name).joined(separator: ", ")))")
            hasRowID = false
        case .given(let name): lines.insert("\(name) INTEGER PRIMARY KEY", at: 0)
        case .one: lines.insert("one INTEGER PRIMARY KEY CHECK (one = 1)", at: 0)
        }
        return """
            CREATE TABLE \(rows) (
                \(lines.joined(separator: ",\n    "))
            ) STRICT\(hasRowID ? "" : ", WITHOUT ROWID")
            """
    }

    /// The `CREATE VIEW` statement.
    var view: String {
        var columns = columns.map { "\(text($0.name)) AS \($0.name)" }
        if case .given(let key) = key { columns.insert("\(name).\(key) AS \(key)", at: 0) }
        return "CREATE VIEW \(name) AS SELECT\n    \(columns.joined(separator: ",\n    "))\nFROM \(source)"
    }

    /// The index of the first parameter with a value of a row of the log; parameter 1 may be the key that the ledger
    /// gives.
    var firstParameter: Int32 { if case .first = key { 1 } else { 2 } }

    /// Returns the statement that inserts a row.
    ///
    /// - Parameter verb: `INSERT`, or `INSERT OR REPLACE`.
    func insertion(_ verb: String = "INSERT") -> String {
        "\(verb) INTO \(rows) VALUES (\(parameters(Int32(columns.count) + firstParameter - 1)))"
    }

    /// The statement that updates all columns of an existing row except its key.
    var update: String {
        let count = if case .first(let count) = key { count } else { 1 }
        let set = columns.enumerated().map { "\($0.element.name) = ?\($0.offset + 1)" }
        let (key, rest) = (set.prefix(count), set.dropFirst(count))
        return "UPDATE \(rows) SET \(rest.joined(separator: ", ")) WHERE \(key.joined(separator: " AND "))"
    }

    // MARK: Columns

    /// The table for a `FROM`, under the name of the view.
    var source: String { rows == name ? name : "\(rows) AS \(name)" }

    private func coding(of column: String) -> Coding {
        guard let found = columns.first(where: { $0.name == column }) else {
            preconditionFailure("\(name) has no column \(column)")
        }
        return found.coding
    }

    /// Returns the SQL expression for the text of a column, for statements that use ``source``.
    func text(_ column: String) -> String {
        let place = "\(name).\(column)"
        switch coding(of: column) {
        case .plain, .name: return place
        case .word(let words): return words.text(of: place)
        case .shared:
            // Compares with '': SQLite sorts a number before any text and any blob. typeof() takes longer.
            return """
                CASE WHEN \(place) < '' THEN (SELECT text FROM texts WHERE texts.number = \(place)) ELSE \(place) END
                """
        }
    }

    /// Returns the columns as a record reads them: words as numbers, and the columns in `replaced` as given there.
    func values(replacing replaced: [String: String] = [:]) -> String {
        columns.map { column in
            if let other = replaced[column.name] { return other }
            if case .word = column.coding { return "\(name).\(column.name)" }
            return text(column.name)
        }.joined(separator: ", ")
    }

    /// Returns the SQL condition that a column has one of some words.
    func has<Word: StoredWord>(_ column: String, _ words: Word...) -> String { has(column, anyOf: words) }

    /// Returns the SQL condition that a column has one of some words.
    func has<Word: StoredWord>(_ column: String, anyOf words: [Word]) -> String {
        guard case .word(let set) = coding(of: column) else { preconditionFailure("\(name).\(column) has no words") }
        return set.condition("\(name).\(column)", anyOf: words.map(\.rawValue))
    }

    /// The columns that may hold the numbers of shared texts.
    var sharedColumns: [String] {
        columns.compactMap { column in if case .shared = column.coding { column.name } else { nil } }
    }
}

extension WordSet {
    /// Returns the number of a word; `nil` if the set lacks it.
    func number(of text: UnsafeRawBufferPointer) -> Int64? {
        // A linear search: it runs for each word of each row, sets are short, and frequent words come first.
        for index in words.indices where words[index].count == text.count && words[index].isEqual(to: text) {
            return Int64(index)
        }
        return nil
    }

    /// Returns the SQL condition that a column has one of some words; for one word it is written as in an index.
    func condition(_ column: String, anyOf chosen: [String]) -> String {
        let numbers = chosen.map { "\(texts.firstIndex(of: $0) ?? -1)" }
        return numbers.count == 1 ? "\(column) = \(numbers[0])" : "\(column) IN (\(numbers.joined(separator: ", ")))"
    }

    /// Returns the SQL expression for the text of a column.
    func text(of column: String) -> String {
        let cases = texts.enumerated().map { "WHEN \($0) THEN '\($1)'" }.joined(separator: " ")
        return "CASE \(column) \(cases) ELSE \(column) END"
    }
}
