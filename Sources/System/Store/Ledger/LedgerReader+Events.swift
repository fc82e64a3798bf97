public import PushModel

/// What became of an interaction, with what its request and its delivery say.
public struct StoredInteraction: Hashable, Sendable {
    /// What became of it.
    public var row: InteractionRow
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user.
    public var externalID: String?
    /// The campaign of the delivery; `nil` without one, too.
    public var campaignID: String?
    /// Whether it is the dismissal of what nobody knows; other verdicts say what was done.
    public var isUnmatchedDismissal: Bool
}

extension LedgerReader {
    /// The events after a cursor, in the order in which they were committed.
    ///
    /// Nothing is ever inserted before an event that was read: whoever goes on from the last cursor they saw misses none
    /// and gets none twice, whatever is committed or pruned meanwhile.
    ///
    /// - Parameters:
    ///   - cursor: 0 for the first one.
    ///   - limit: how many at most.
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

    /// The cursor of the last event; 0 when there was none.
    public func lastCursor() throws(StoreError) -> Int64 {
        try database.number(
            "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM event_rows))")
    }

    /// Streams the events of a time from `start` on and before `end`, as the events have it, in the order in which they
    /// were committed; `nil` is no bound. Reads every event of the ledger; memory does not grow with it.
    public func events(
        from start: WallTime? = nil, to end: WallTime? = nil, _ body: (AnalyticsEvent) -> Void
    ) throws(StoreError) {
        // Events have whole seconds: as milliseconds they lie in the same window.
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
            WHERE (?1 IS NULL OR time * 1000 >= ?1) AND (?2 IS NULL OR time * 1000 < ?2) ORDER BY cursor
            """)
        statement.bind(start?.milliseconds, at: 1)
        statement.bind(end?.milliseconds, at: 2)
        while try statement.step() { body(try statement.value()) }
    }

    /// The latest events of a user, the last one first.
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

    /// Streams what became of the interactions from `start` on and before `end`, by when they were done, in order of the
    /// requests that told of them; `nil` is no bound.
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
        // Limits may have been higher when it was accepted.
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
