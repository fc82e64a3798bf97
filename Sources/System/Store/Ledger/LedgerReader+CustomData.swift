public import PushModel

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
