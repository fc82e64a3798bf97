public import PushModel

/// Which entries of custom data are asked for; `nil` is any.
public struct EntryFilter: Hashable, Sendable {
    /// In these states.
    public var states: Set<EntryState>
    /// Stored in this suite.
    public var suite: String?
    /// Of this app.
    public var app: String?

    public init(states: Set<EntryState>, suite: String? = nil, app: String? = nil) {
        (self.states, self.suite, self.app) = (states, suite, app)
    }
}

/// How long a custom event took from being saved to its end.
public struct EntryDelay: Hashable, Sendable {
    /// The event.
    public var name: String
    /// `flushed` or `sent`.
    public var state: EntryState
    /// When it was saved.
    public var savedAt: WallTime
    /// When it came to its end.
    public var settledAt: WallTime
}

/// Custom data for people.
extension LedgerReader {
    /// Streams the entries that a filter lets through, in order of numbers.
    ///
    /// - Parameter limit: how many at most, the oldest; `nil`: all.
    public func entries(
        _ filter: EntryFilter, limit: Int? = nil, _ body: (EntryRecord) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            "SELECT \(LedgerTable.entries.values()) FROM entries \(filter.condition) ORDER BY number LIMIT ?3")
        statement.bind(filter)
        statement.bind(limit.map(Int64.init) ?? -1, at: 3)
        while try statement.step() { body(try statement.value()) }
    }

    /// How many entries a filter lets through, by suite and state: first what is sent, then the suites by name.
    public func entryCounts(_ filter: EntryFilter) throws(StoreError) -> [EntryCount] {
        var statement = try database.prepare(
            """
            SELECT suite, state, count(*), sum(length(data) + coalesce(length(CAST(name AS BLOB)), 0)), min(saved_at)
            FROM entries \(filter.condition) GROUP BY suite, state ORDER BY suite, state
            """)
        statement.bind(filter)
        var counts: [EntryCount] = []
        while try statement.step() {
            counts.append(
                EntryCount(
                    suite: statement.text(0), state: try statement.value(1), count: try statement.value(2),
                    bytes: try statement.value(3), oldest: try statement.value(4)))
        }
        return counts
    }

    /// Streams the custom events that were saved from `start` on and before `end` and have been flushed or sent, in order
    /// of numbers; `nil` is no bound. Reads every entry of the ledger; memory does not grow with it.
    public func customEventDelays(
        from start: WallTime? = nil, to end: WallTime? = nil, _ body: (EntryDelay) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT name, state, saved_at, settled_at FROM entries
            WHERE saved_at >= ?1 AND saved_at < ?2 AND kind = '\(EntryKind.customEvent.rawValue)'
                AND state IN ('flushed', 'sent') AND settled_at IS NOT NULL
            ORDER BY number
            """)
        statement.bind(start, before: end)
        while try statement.step() {
            body(
                EntryDelay(
                    name: statement.text(0) ?? "", state: try statement.value(1),
                    savedAt: try statement.value(2),
                    settledAt: try statement.value(3)))
        }
    }
}

extension EntryFilter {
    /// What a restart gives back: the condition of the index of that name, word for word.
    static let isUnfinished = "state IN ('pending', 'queued', 'claimed', 'unknown')"
    /// What came to its end: the condition of the index of that name, word for word.
    static let isFinished = "state IN ('flushed', 'sent', 'rejected', 'discarded')"

    /// The filter in SQL; what most people ask for has an index.
    fileprivate var condition: String {
        let names = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        let finished: Set<EntryState> = [.flushed, .sent, .rejected, .discarded]
        let index =
            if states.isDisjoint(with: finished) {
                "INDEXED BY entries_unfinished WHERE \(Self.isUnfinished) AND"
            } else if states.isSubset(of: finished) {
                "INDEXED BY entries_finished WHERE \(Self.isFinished) AND"
            } else {
                "WHERE"
            }
        return "\(index) state IN (\(names)) AND (?1 IS NULL OR suite = ?1) AND (?2 IS NULL OR app = ?2)"
    }
}

extension Statement {
    fileprivate mutating func bind(_ filter: EntryFilter) {
        bind(filter.suite, at: 1)
        bind(filter.app, at: 2)
    }
}
