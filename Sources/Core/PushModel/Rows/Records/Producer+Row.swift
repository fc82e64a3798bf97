extension Producer: StoredRecord {
    // The producers of a chain that several machines write: requests.uid refers to one. Without such a chain the table
    // is empty, and requests.uid is the uid of a user of the machine.
    public static let table = LedgerTable("producers", [.integer("uid"), .text("name")])

    public func write(to row: inout RowWriter) { row.add(number, name) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (number, name) = try row.next()
    }
}
