import Glibc
import PushModel

/// A statement that takes the values of rows of the log in place, without a copy. For one thread.
struct RowStatement: ~Copyable {
    private var statement: Statement
    private let columns: [LedgerTable.Column]
    private let count: Int
    private let first: Int32
    private let texts: SharedTexts?

    /// Prepares a statement on a table with the columns of a row.
    ///
    /// - Parameters:
    ///   - sql: the statement, with a parameter for each column.
    ///   - texts: the texts that rows of the table share.
    init(
        _ sql: String, of table: LedgerTable, _ database: borrowing Database, texts: SharedTexts? = nil
    ) throws(StoreError) {
        statement = try database.prepare(sql)
        (columns, count, first, self.texts) = (table.columns, table.columns.count, table.firstParameter, texts)
    }

    /// Prepares any statement, with a parameter for each value.
    init(_ sql: String, count: Int, _ database: borrowing Database) throws(StoreError) {
        statement = try database.prepare(sql)
        (columns, self.count, first, texts) = ([], count, 1, nil)
    }

    /// The number of rows that the last run changed.
    var changes: Int { statement.changes }

    /// Runs the statement with the values of a row.
    ///
    /// - Parameters:
    ///   - values: the values, which must outlive the call; those of the last columns may be missing.
    ///   - key: the key that the ledger gives the row.
    mutating func run(_ values: RowValues, key: Int64? = nil) throws(StoreError) {
        var values = values
        if let key { statement.bind(key, at: 1) }
        var seq: Int64 = 0
        for place in 0..<count {
            let index = first + Int32(place)
            guard !values.isAtEnd else {
                statement.bind(place < columns.count ? columns[place].missing : nil, at: index)
                continue
            }
            switch try reading({ () throws(RowError) in try values.next() }) {
            case .null: statement.bind(nil as Int64?, at: index)
            case .integer(let value):
                // A row with shared texts begins with the number of its request.
                if place == 0 { seq = value }
                statement.bind(value, at: index)
            case .text(let text):
                switch coding(place) {
                case .plain, .name: statement.bind(lending: text, at: index)
                case .word(let words):
                    guard let number = words.number(of: text) else {
                        throw StoreError.row(RowError(message: "value \(place + 1) of a row is not one of its words"))
                    }
                    statement.bind(number, at: index)
                case .shared:
                    if let number = try texts?.number(of: text, isText: true, usedBy: seq) {
                        statement.bind(number, at: index)
                    } else {
                        statement.bind(lending: text, at: index)
                    }
                }
            case .bytes(let bytes):
                if case .shared = coding(place), let number = try texts?.number(of: bytes, isText: false, usedBy: seq) {
                    statement.bind(number, at: index)
                } else {
                    statement.bind(lendingBytes: bytes, at: index)
                }
            }
        }
        guard values.isAtEnd else { throw StoreError.row(RowError(message: "a row has too many values")) }
        try statement.run()
    }

    private func coding(_ place: Int) -> LedgerTable.Coding { place < columns.count ? columns[place].coding : .plain }
}

/// The statements that insert and delete the rows of a table by their key.
struct KeyedRows: ~Copyable {
    private var insert: RowStatement
    private var delete: RowStatement

    /// - Parameter verb: `INSERT`, or `INSERT OR REPLACE`.
    init(_ table: LedgerTable, _ verb: String, _ database: borrowing Database) throws(StoreError) {
        let insert = try RowStatement(table.insertion(verb), of: table, database)
        let delete = try RowStatement(
            "DELETE FROM \(table.rows) WHERE \(table.columns[0].name) = ?1", count: 1, database)
        self.insert = insert
        self.delete = delete
    }

    mutating func insert(_ values: RowValues) throws(StoreError) { try insert.run(values) }

    mutating func delete(_ values: RowValues) throws(StoreError) { try delete.run(values) }
}

/// Reads from a row; converts a `RowError` to a `StoreError`.
func reading<Value>(_ read: () throws(RowError) -> Value) throws(StoreError) -> Value {
    do throws(RowError) {
        return try read()
    } catch {
        throw StoreError.row(error)
    }
}

extension StoreError {
    /// Makes the error for a batch with a valid checksum whose rows no version of this program writes.
    static func row(_ error: RowError) -> StoreError {
        StoreError(.contradiction, message: error.message, context: "a batch of the log")
    }
}

/// Returns `?1,?2,...`, one parameter for each column.
func parameters(_ count: Int32) -> String { (1...count).map { "?\($0)" }.joined(separator: ",") }

/// A statement that reads requests with a number from ?1 to ?2. A reader compiles each one once.
enum RangeStatement: Hashable {
    case requests, invocations, events, eventsOfDelivery, attempts, attemptsLeftOut, deadLetters, replays, entries
    /// The searched texts of each table.
    case textsOfRequests, textsOfInvocations, campaigns
    /// The numbers of the requests whose column has the text ?3.
    case search(LedgerReader.SearchedColumn)
    /// The numbers of the requests with an undecided invocation.
    case undecided

    /// The columns and the table; the condition on the number follows.
    private var selection: String {
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        // Each index is named: the planner would read the whole table in the order that is asked for.
        return switch self {
        case .requests: "\(requests.values()) FROM \(requests.source) WHERE seq"
        case .invocations: "\(invocations.values()) FROM \(invocations.source) WHERE seq"
        case .events: "\(events.values()) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .eventsOfDelivery:
            "\(events.values()) FROM \(events.source) INDEXED BY events_of_delivery WHERE delivery <> seq AND delivery"
        case .attempts: "\(AttemptRecord.table.values()) FROM attempts INDEXED BY attempts_of_request WHERE seq"
        case .attemptsLeftOut: "seq, n, count FROM attempts_left_out WHERE seq"
        case .deadLetters: "\(DeadLetter.table.values()) FROM dead_letters WHERE seq"
        case .replays: "replay_of, seq FROM request_rows INDEXED BY requests_by_replay WHERE replay_of"
        case .entries:
            "cause, \(LedgerTable.entries.values()) FROM entries INDEXED BY entries_of_request WHERE cause"
        case .textsOfRequests:
            "seq, id, message_id, \(requests.text("app")), device, external_id FROM \(requests.source) WHERE seq"
        case .textsOfInvocations, .search(.outcome), .search(.handler), .search(.shown):
            "seq, outcome, \(invocations.text("handler")) FROM \(invocations.source) WHERE seq"
        case .campaigns, .search(.campaign):
            "seq, \(events.text("campaign_id")) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .search: "seq FROM \(requests.source) WHERE seq"
        case .undecided:
            "seq FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL AND seq"
        }
    }

    /// The rest of the condition.
    private var condition: String {
        guard case .search(let column) = self else { return "" }
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        return switch column {
        case .id: " AND (id = ?3 OR message_id = ?3)"
        case .app: " AND \(requests.text("app")) = ?3"
        case .device: " AND device = ?3"
        case .user: " AND external_id = ?3"
        case .campaign: " AND \(events.text("campaign_id")) = ?3"
        case .outcome, .shown: " AND \(invocations.text("outcome")) = ?3"
        case .handler: " AND \(invocations.text("handler")) = ?3"
        }
    }

    private var order: String {
        switch self {
        case .requests, .attemptsLeftOut, .replays, .textsOfRequests, .textsOfInvocations, .campaigns, .search,
            .undecided:
            "seq"
        case .invocations, .deadLetters: "seq, n"
        case .events, .eventsOfDelivery: "seq, cursor"
        case .attempts, .entries: "number"
        }
    }

    var sql: String { "SELECT \(selection) BETWEEN ?1 AND ?2\(condition) ORDER BY \(order)" }
}

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

extension [UInt8] {
    /// Returns whether the bytes are equal.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            // The buffer of an empty array may have no address.
            guard let start = bytes.baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, bytes.count) == 0
        }
    }
}
