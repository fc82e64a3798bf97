public import PushModel

/// The verdict on an interaction, with facts of its request and its delivery.
public struct StoredInteraction: Sendable {
    /// The verdict.
    public var row: InteractionRow
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user.
    public var externalID: String?
    /// The campaign of the delivery; `nil` if it has none, or if there is no delivery.
    public var campaignID: String?
    /// The request of an interaction with an unknown delivery; `nil` with another verdict, or if it was erased.
    public var unmatched: InteractRequest?
}

extension LedgerReader {
    /// Returns the events after a cursor, in the order of their commits.
    ///
    /// No event is ever inserted before an event that was read. A reader that continues from its last cursor gets each
    /// event exactly once, whatever is committed or pruned meanwhile.
    ///
    /// - Parameters:
    ///   - cursor: 0 for the first one.
    ///   - limit: the largest number of events.
    public func events(
        after cursor: Int64, limit: Int
    ) throws(StoreError) -> [(cursor: Int64, event: AnalyticsEvent)] {
        let statement = try database.prepare(
            """
            SELECT cursor, \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
            WHERE cursor > ?1 ORDER BY cursor LIMIT ?2
            """)
        statement.bind(cursor, at: 1)
        statement.bind(Int64(limit), at: 2)
        return try statement.events()
    }

    /// Returns the cursor of the last event; 0 if there was none.
    public func lastCursor() throws(StoreError) -> Int64 {
        try database.number(
            "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM event_rows))")
    }

    /// Streams the events with a time at or after `start` and before `end`, in the order of their commits; `nil` means
    /// no bound. Reads every event of the ledger, in constant memory.
    public func events(
        from start: WallTime? = nil, to end: WallTime? = nil, _ body: (AnalyticsEvent) -> Void
    ) throws(StoreError) {
        // The times of events are whole seconds; in milliseconds they are in the same window.
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
            WHERE (?1 IS NULL OR time * 1000 >= ?1) AND (?2 IS NULL OR time * 1000 < ?2) ORDER BY cursor
            """)
        statement.bind(start?.milliseconds, at: 1)
        statement.bind(end?.milliseconds, at: 2)
        while try statement.step() { body(try statement.value()) }
    }

    /// Returns the first session that began in the app of a push on its device after its receipt; `nil` if the tracker has
    /// no receipt of it.
    public func sessionAfter(_ request: AcceptedRequest) throws(StoreError) -> SessionAfter? {
        guard request.operation == .deliver, let device = request.device else { return nil }
        let receipt = try database.prepare(
            """
            SELECT cursor, time FROM \(LedgerTable.events.source)
            WHERE seq = ?1 AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.received)) LIMIT 1
            """)
        receipt.bind(request.seq.value, at: 1)
        guard try receipt.step() else { return nil }
        let (first, received) = (receipt.integer(0), receipt.integer(1))
        var statement = try database.prepare(
            """
            SELECT \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
            WHERE cursor > ?1 AND cursor <= ?2 AND device_id = ?3
                AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.sessionStart)) ORDER BY cursor
            """)
        statement.bind(first, at: 1)
        statement.bind(first + SessionAfter.eventsMax, at: 2)
        statement.bind(device, at: 3)
        while try statement.step() {
            let event: AnalyticsEvent = try statement.value()
            // A session that is told late may have begun before the push: its own time counts.
            if event.appID == request.app, event.time >= received { return .began(event) }
        }
        return try lastCursor() > first + SessionAfter.eventsMax ? .unknown : .noSession
    }

    /// Returns the latest events of a user, the last one first.
    public func events(
        ofUser externalID: String, limit: Int
    ) throws(StoreError) -> [(cursor: Int64, event: AnalyticsEvent)] {
        var statement = try database.prepare(
            """
            SELECT cursor, \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
            WHERE external_user_id = ?1 ORDER BY cursor DESC LIMIT ?2
            """)
        statement.bind(externalID, at: 1)
        statement.bind(Int64(limit), at: 2)
        return try statement.events()
    }

    /// Streams the verdicts on interactions done at or after `start` and before `end`, in order of their requests;
    /// `nil` means no bound.
    public func interactions(
        from start: WallTime? = nil, to end: WallTime? = nil, _ body: (StoredInteraction) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT \(InteractionRow.table.values()), requests.platform, \(LedgerTable.requests.text("app")), requests.device,
                requests.external_id, \(LedgerTable.events.text("campaign_id")),
                CASE verdict WHEN 'unmatched' THEN requests.body END
            FROM interactions JOIN \(LedgerTable.requests.source) ON requests.seq = cause
                LEFT JOIN \(LedgerTable.events.source) ON events.seq = interactions.delivery
                    AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.received))
            WHERE at >= ?1 AND at < ?2 ORDER BY cause
            """)
        statement.bind(start, before: end)
        while try statement.step() {
            var row = statement.row()
            body(
                StoredInteraction(
                    row: try InteractionRow(reading: &row), platform: try row.next(), app: row.text(),
                    device: row.text(), externalID: row.text(), campaignID: row.text(),
                    unmatched: Self.interact(row.bytes())))
        }
    }

    private static func interact(_ line: [UInt8]) -> InteractRequest? {
        guard !line.isEmpty, case .interact(let request)? = (try? Request(acceptedLine: line))?.action else {
            return nil
        }
        return request
    }
}

extension Statement {
    fileprivate func events() throws(StoreError) -> [(cursor: Int64, event: AnalyticsEvent)] {
        var events: [(cursor: Int64, event: AnalyticsEvent)] = []
        while try step() { events.append((integer(0), try value(1))) }
        return events
    }
}

/// A filter of entries of custom data; `nil` matches any.
public struct EntryFilter: Hashable, Sendable {
    /// The accepted states.
    public var states: Set<EntryState>
    /// The suite that stores the entry.
    public var suite: String?
    /// The app of the entry.
    public var app: String?

    public init(states: Set<EntryState>, suite: String? = nil, app: String? = nil) {
        (self.states, self.suite, self.app) = (states, suite, app)
    }
}

/// The time that a custom event took from its save to its final state.
public struct EntryDelay: Hashable, Sendable {
    /// The event.
    public var name: String
    /// `flushed` or `sent`.
    public var state: EntryState
    /// The time of the save.
    public var savedAt: WallTime
    /// The time of the final state.
    public var settledAt: WallTime
}

/// Queries of custom data, for people.
extension LedgerReader {
    /// Streams the entries that match a filter, in order of numbers.
    ///
    /// - Parameter limit: the largest number of entries, the oldest first; `nil` means all.
    public func entries(
        _ filter: EntryFilter, limit: Int? = nil, _ body: (EntryRecord) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            "SELECT \(LedgerTable.entries.values()) FROM entries \(filter.condition) ORDER BY number LIMIT ?3")
        statement.bind(filter)
        statement.bind(limit.map(Int64.init) ?? -1, at: 3)
        while try statement.step() { body(try statement.value()) }
    }

    /// Returns the number of entries that match a filter, by suite and state: first those to be sent, then the suites
    /// by name.
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

    /// Streams the custom events that were saved at or after `start` and before `end` and have been flushed or sent, in
    /// order of numbers; `nil` means no bound. Reads every entry of the ledger, in constant memory.
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
    /// The entries that a restart reads back: the condition of the index of that name, word for word.
    static let isUnfinished = "state IN ('pending', 'queued', 'claimed', 'unknown')"
    /// The entries in a final state: the condition of the index of that name, word for word.
    static let isFinished = "state IN ('flushed', 'sent', 'rejected', 'discarded')"

    /// The filter in SQL; the most frequent filters use an index.
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

/// The custom data that a restart reads back.
extension LedgerReader {
    /// Returns the highest number ever given to an entry that is or was in the ledger; 0 if there was none.
    public func highestEntryNumber() throws(StoreError) -> EntryNumber {
        EntryNumber(
            try database.number(
                "SELECT max((SELECT highest_entry FROM meta), (SELECT coalesce(max(number), 0) FROM entries))"))
    }

    /// Streams every entry without a final state, in order of numbers. The query takes no time if there are none,
    /// however large the ledger is.
    public func unfinishedEntries(_ body: (EntryRecord) -> Void) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.entries.values()) FROM entries INDEXED BY entries_unfinished
            WHERE \(EntryFilter.isUnfinished) ORDER BY number
            """)
        while try statement.step() { body(try statement.value()) }
    }

    /// Returns the request that began a session and the event of the session start; `nil` if the ledger lacks one of
    /// them.
    public func sessionStart(
        of cause: SequenceNumber
    ) throws(StoreError) -> (request: AcceptedRequest, event: AnalyticsEvent)? {
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.requests.values()), \(LedgerTable.events.values())
            FROM \(LedgerTable.requests.source) JOIN \(LedgerTable.events.source) ON events.seq = requests.seq
            WHERE requests.seq = ?1 AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.sessionStart)) LIMIT 1
            """)
        statement.bind(cause.value, at: 1)
        guard try statement.step() else { return nil }
        var row = statement.row()
        return (try AcceptedRequest(reading: &row), try AnalyticsEvent(reading: &row))
    }

    /// Returns the state of sending, as the forwarder last reported it; `nil` before its first report.
    public func sendingState() throws(StoreError) -> SendingState? {
        let statement = try database.prepare("SELECT \(SendingState.table.values()) FROM sending")
        return try statement.step() ? try statement.value() : nil
    }

    /// Returns the entries that a request led to, in order of numbers.
    func entries(of cause: SequenceNumber) throws(StoreError) -> [EntryRecord] {
        let rows = try entriesOfRequest.compiled(for: database)
        rows.statement.bind(cause.value, at: 1)
        defer { rows.statement.reset() }
        var entries: [EntryRecord] = []
        while try rows.statement.step() { entries.append(try rows.statement.value()) }
        return entries
    }
}
