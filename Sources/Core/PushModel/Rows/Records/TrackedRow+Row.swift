extension TrackedRow: StoredRecord {
    // The deliveries that the tracker remembers. event is the cursor of the receipt's event, which has the other
    // fields; its order is the order in which the tracker took the deliveries over. In the log, a row has the number of
    // the receipt before the columns.
    public static let table = LedgerTable(
        "tracked_deliveries", key: .given("event"),
        [
            .integer("received_at"), .integer("since_at"), .integer("displayed"), .integer("own_id"),
            .text("unique_id").orNull, .integer("digest").orNull, .bytes("buttons"), .integer("opened_at").orNull,
            .integer("opened_by").orNull, .integer("influenced"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(seq, receivedAt, since)
        row.add(isDisplayed, hasOwnID, uniqueID, digest)
        row.add(buttons, opened, isInfluenced)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, receivedAt, since) = try row.next()
        (isDisplayed, hasOwnID, uniqueID, digest) = try row.next()
        (buttons, opened, isInfluenced) = try row.next()
    }
}

extension TrackedRow.Opening: StoredValue {
    @inlinable public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(at, by) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, by) = try row.next()
    }
}
