extension DaemonGap: StoredRecord {
    // When the daemon was down, the clock was set, the machine suspended, the disk stalled, or of several machines the leader
    // lost, the engine away or nothing protected. Where the clock was set, the times are those before and after. At most 4096,
    // the newest.
    public static let table = LedgerTable(
        "gaps", key: .given("number"), [.name("kind", Kind.self), .integer("begin_at"), .integer("end_at")])

    public func write(to row: inout RowWriter) { row.add(kind, begin, end) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (kind, begin, end) = try row.next()
    }
}

extension LifeSign: StoredRecord {
    // When the daemon was last known to be alive, the last request that it had accepted by then, and when it was last alive
    // by a clock that it believed: one row, or none before the first.
    public static let table = LedgerTable(
        "life", key: .one, [.integer("seen_at"), .integer("seq"), .integer("believed_at").orNull])

    public func write(to row: inout RowWriter) { row.add(at, last, believed) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, last, believed) = try row.next()
    }
}
