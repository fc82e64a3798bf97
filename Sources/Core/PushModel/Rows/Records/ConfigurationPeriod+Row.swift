extension ConfigurationPeriod: StoredRecord {
    // The configuration of the requests from first_seq up to the next row's.
    public static let table = LedgerTable(
        "configurations", [.integer("first_seq"), .text("id"), .integer("since_at")])

    public func write(to row: inout RowWriter) { row.add(first, id.description, since) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let text: String
        (first, text, since) = try row.next()
        guard let id = ConfigurationID(text) else { throw row.unreadable("the id of a configuration cannot be read") }
        self.id = id
    }
}
