extension TrackedRow: StoredRecord {
    // Deliveries that the tracker remembers. event is the cursor of the receipt, which has what is not here: their
    // order is the order in which the tracker took them over. Before the columns a row has the number of the receipt.
    public static let table = LedgerTable(
        "tracked_deliveries", key: .given("event"),
        [
            .integer("received_at"), .integer("since_at"), .integer("displayed"), .integer("own_id"),
            .text("unique_id").orNull, .integer("digest").orNull, .bytes("buttons"), .integer("opened_at").orNull,
            .integer("opened_by").orNull, .integer("influenced"),
        ])

    public func write(to row: inout RowWriter) {
        row.seq(seq)
        row.time(receivedAt)
        row.time(since)
        row.flag(isDisplayed)
        row.flag(hasOwnID)
        row.text(uniqueID)
        row.digest(digest)
        row.bytes(buttons)
        row.time(opened?.at)
        row.seq(opened?.by)
        row.flag(isInfluenced)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        seq = try row.seq()
        receivedAt = try row.time()
        since = try row.time()
        isDisplayed = try row.flag()
        hasOwnID = try row.flag()
        uniqueID = try row.text()
        digest = try row.optionalDigest()
        buttons = try row.bytes()
        opened = row.isNull ? nil : Opening(at: try row.time(), by: try row.seq())
        if opened == nil { try row.skip(2) }
        isInfluenced = try row.flag()
    }
}
