public import PushModel

/// The verdict on an interaction, with facts of its request and its delivery.
public struct StoredInteraction: Hashable, Sendable {
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
    /// Whether it is the dismissal of an unknown delivery; other verdicts tell the kind of interaction.
    public var isUnmatchedDismissal: Bool
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
                    isUnmatchedDismissal: Self.isDismissal(row.bytes())))
        }
    }

    private static func isDismissal(_ body: [UInt8]) -> Bool {
        // No limit of depth: the limits may have been higher at acceptance.
        let line = try? JSONDocument(scanning: body, limits: JSONLimits(depth: .max))
        return line?.root["kind"]?.string == "dismissed"
    }
}

extension Statement {
    fileprivate func events() throws(StoreError) -> [(cursor: Int64, event: AnalyticsEvent)] {
        var events: [(cursor: Int64, event: AnalyticsEvent)] = []
        while try step() { events.append((integer(0), try value(1))) }
        return events
    }
}
