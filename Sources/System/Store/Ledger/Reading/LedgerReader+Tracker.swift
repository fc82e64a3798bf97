public import PushModel

/// The state of the tracker that a restart reads back.
extension LedgerReader {
    /// Returns the session starts whose influenced opens are not decided yet, in order.
    public func pendingStarts() throws(StoreError) -> [PendingStart] {
        let statement = try database.prepare(
            "SELECT \(PendingStart.table.values()) FROM pending_starts ORDER BY cause")
        var starts: [PendingStart] = []
        while try statement.step() { starts.append(try statement.value()) }
        return starts
    }

    /// Returns the interactions that wait for their delivery, in order.
    public func heldInteractions() throws(StoreError) -> [HeldInteraction] {
        let statement = try database.prepare(
            "SELECT \(HeldInteraction.table.values()) FROM held_interactions ORDER BY cause")
        var held: [HeldInteraction] = []
        while try statement.step() { held.append(try statement.value()) }
        return held
    }

    /// Streams the sessions, in the order in which they began.
    ///
    /// - Parameter externalID: the user; `nil` means all.
    public func sessions(
        ofUser externalID: String? = nil, _ body: (SessionRow) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            "SELECT \(SessionRow.table.values()) FROM sessions WHERE ?1 IS NULL OR external_id = ?1 ORDER BY number")
        statement.bind(externalID, at: 1)
        while try statement.step() { body(try statement.value()) }
    }

    /// Streams the session starts of each user in each app, the least recently used first.
    ///
    /// - Parameter externalID: the user; `nil` means all.
    public func sessionStarts(
        ofUser externalID: String? = nil, _ body: (StartsRow) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            """
            SELECT \(StartsRow.table.values()) FROM session_starts
            WHERE ?1 IS NULL OR owner = ?1 AND anonymous = 0 ORDER BY since_at
            """)
        statement.bind(externalID, at: 1)
        while try statement.step() { body(try statement.value()) }
    }

    /// Returns the number of deliveries that the tracker took over and has not forgotten.
    public func trackedDeliveryCount() throws(StoreError) -> Int {
        Int(try database.integer("SELECT count(*) FROM tracked_deliveries"))
    }

    /// Streams the newest deliveries that the tracker took over, each with its receipt, in the order in which it took
    /// them over.
    ///
    /// - Parameters:
    ///   - limit: the largest number of deliveries.
    ///   - body: gets each of them.
    public func trackedDeliveries(
        newest limit: Int, _ body: (TrackedRow, TrackedReceipt) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT events.seq, \(TrackedRow.table.values()), events.external_user_id, events.device_id, events.app_id,
                events.platform, events.campaign_id, events.message_id
            FROM tracked_deliveries CROSS JOIN \(LedgerTable.events.source) ON cursor = event
            WHERE event >= \(Self.firstDelivery) ORDER BY event
            """)
        statement.bind(Int64(limit), at: 1)
        var texts = try TextMemory(database)
        while try statement.step() {
            var row = statement.row()
            body(
                try TrackedRow(reading: &row),
                TrackedReceipt(
                    externalUserID: row.text(), deviceID: row.text(), appID: try texts.text(&row),
                    platform: try row.next(), campaignID: try texts.text(&row), messageID: row.text()))
        }
    }

    /// Streams the close buttons that were pressed, of the same deliveries.
    public func closedButtons(
        ofNewest limit: Int, _ body: (_ delivery: SequenceNumber, _ button: String) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT seq, button FROM closed_buttons CROSS JOIN event_rows ON cursor = event
            WHERE event >= \(Self.firstDelivery) ORDER BY event
            """)
        statement.bind(Int64(limit), at: 1)
        while try statement.step() { body(try statement.value(0), statement.text(1) ?? "") }
    }

    /// The event of the first of the `?1` newest deliveries.
    private static let firstDelivery = """
        (SELECT min(event) FROM (SELECT event FROM tracked_deliveries ORDER BY event DESC LIMIT ?1))
        """
}
