import PushModel

/// A table whose rows hold numbers for texts, and the view of it that has the texts.
///
/// The view is for people and programs that ask in SQL. This program asks the table itself, named as the view: so its
/// conditions are those of the indexes.
struct LedgerTable: Sendable {
    /// What a column holds.
    enum Coding: Sendable {
        /// Its value.
        case plain
        /// The number of a word.
        case word(WordSet)
        /// The number of a row in `texts`, or the text itself (``SharedTexts``).
        case shared
    }

    /// The name of the view.
    let name: String
    /// The name of the table.
    let rows: String
    /// The columns in their order.
    let columns: [(name: String, coding: Coding)]

    /// The table for a `FROM`, under the name of the view.
    var source: String { "\(rows) AS \(name)" }

    /// What the columns hold, in their order.
    var codings: [Coding] { columns.map(\.coding) }

    private func coding(of column: String) -> Coding {
        guard let found = columns.first(where: { $0.name == column }) else {
            preconditionFailure("\(name) has no column \(column)")
        }
        return found.coding
    }

    /// The text of a column, in SQL, for statements that have ``source``.
    func text(_ column: String) -> String {
        let place = "\(name).\(column)"
        switch coding(of: column) {
        case .plain: return place
        case .word(let words): return words.text(of: place)
        case .shared:
            // A number is less than any text, and than any bytes, digits or not. To ask for its type takes longer.
            return """
                CASE WHEN \(place) < '' THEN (SELECT text FROM texts WHERE texts.number = \(place)) ELSE \(place) END
                """
        }
    }

    /// The same for what `Statement` reads as a record: words stay numbers.
    func value(_ column: String) -> String {
        if case .word = coding(of: column) { return "\(name).\(column)" }
        return text(column)
    }

    /// The columns as `Statement` reads them, those in `replaced` by what it has.
    func values(replacing replaced: [String: String] = [:]) -> String {
        columns.map { replaced[$0.name] ?? value($0.name) }.joined(separator: ", ")
    }

    /// The condition, in SQL, that a column has one of some words.
    func has<Word: StoredWord>(_ column: String, _ words: Word...) -> String { has(column, anyOf: words) }

    /// The same.
    func has<Word: StoredWord>(_ column: String, anyOf words: [Word]) -> String {
        guard case .word(let set) = coding(of: column) else { preconditionFailure("\(name).\(column) has no words") }
        return set.condition("\(name).\(column)", anyOf: words.map(\.rawValue))
    }

    /// The statement that makes the view.
    var view: String {
        let columns = columns.map { "\(text($0.name)) AS \($0.name)" }.joined(separator: ",\n    ")
        return "CREATE VIEW \(name) AS SELECT\n    \(columns)\nFROM \(source)"
    }

    /// The columns that may hold the numbers of shared texts.
    var sharedColumns: [String] {
        columns.compactMap { column in if case .shared = column.coding { column.name } else { nil } }
    }
}

extension LedgerTable {
    static let all = [requests, invocations, events]

    static let requests = LedgerTable(
        name: "requests", rows: "request_rows",
        columns: [
            ("seq", .plain), ("operation", .word(WordSet(Operation.self))), ("id", .plain), ("uid", .plain),
            ("gid", .plain), ("pid", .plain), ("accepted_at", .plain), ("accepted_ns", .plain), ("boot", .shared),
            ("mode", .word(WordSet(DispatchMode.self))), ("platform", .word(WordSet(Platform.self))), ("app", .shared),
            ("device", .plain), ("external_id", .plain), ("message_id", .plain), ("body", .plain),
            ("state", .word(WordSet(AppState.self))), ("duplicate_id", .plain), ("tracked", .plain),
            ("transport", .word(WordSet(Transport.self))), ("original_priority", .word(WordSet(MessagePriority.self))),
            ("delivered_priority", .word(WordSet(MessagePriority.self))), ("replay_of", .plain),
        ])

    static let invocations = LedgerTable(
        name: "invocations", rows: "invocation_rows",
        columns: [
            ("seq", .plain), ("n", .plain), ("callback", .word(WordSet(Callback.self))), ("provider", .shared),
            ("route", .shared), ("handler", .shared), ("budget_us", .plain), ("deadline_ns", .plain),
            ("started", .plain), ("outcome", .word(WordSet(Outcome.self))), ("reason", .plain), ("queue_us", .plain),
            ("exec_us", .plain), ("total_us", .plain), ("completed_by", .word(WordSet(Completion.Caller.self))),
            ("completed_times", .plain), ("completed_result", .word(WordSet(FetchResult.self))),
            ("completed_options", .shared), ("decided_at", .plain), ("observer", .plain), ("waited_for_seq", .plain),
            ("waited_for_n", .plain), ("waited_for_handler", .shared), ("reason_code", .shared), ("ahead", .plain),
            ("waited_for_us", .plain),
        ])

    // A person's texts are never shared: what is erased is gone with its row.
    static let events = LedgerTable(
        name: "events", rows: "event_rows",
        columns: [
            ("cursor", .plain), ("seq", .plain), ("id", .plain), ("kind", .word(WordSet(AnalyticsEvent.Kind.self))),
            ("time", .plain), ("delivery", .plain), ("external_user_id", .plain), ("device_id", .plain),
            ("app_id", .shared), ("platform", .word(WordSet(Platform.self))), ("campaign_id", .shared),
            ("message_id", .plain), ("button_action_type", .word(WordSet(ButtonAction.self))),
            ("button_string", .plain), ("duration_us", .plain), ("push_token", .plain),
            ("token_change", .word(WordSet(TokenRequest.Kind.self))), ("name", .plain), ("properties", .plain),
        ])
}
