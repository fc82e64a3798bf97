extension DaemonGap: StoredRecord {
    // The times in which the daemon was down, the clock was set, the machine suspended, or the disk stalled; with
    // several machines also those in which the leader was lost, the engine away, or no standby had the writes. For a
    // set clock, the times are those before and after. At most the newest 4096 rows.
    public static let table = LedgerTable(
        "gaps", key: .given("number"), [.name("kind", Kind.self), .integer("begin_at"), .integer("end_at")])

    public func write(to row: inout RowWriter) { row.add(kind, begin, end) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (kind, begin, end) = try row.next()
    }
}

extension LifeSign: StoredRecord {
    // The last sign of life: its time, the last request accepted by then, and the last time by a clock that the daemon
    // believed. One row, or none before the first sign.
    public static let table = LedgerTable(
        "life", key: .one, [.integer("seen_at"), .integer("seq"), .integer("believed_at").orNull])

    public func write(to row: inout RowWriter) { row.add(at, last, believed) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, last, believed) = try row.next()
    }
}
