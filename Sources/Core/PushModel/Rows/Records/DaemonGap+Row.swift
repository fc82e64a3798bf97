extension DaemonGap: StoredRecord {
    // The gaps of the daemon: down, its clock set, the machine suspended, the disk stalled; and among several machines
    // the leader lost, the engine away, or nothing protected. For a set clock, the times before and after the step. At
    // most 4096 rows, the newest.
    public static let table = LedgerTable(
        "gaps", key: .given("number"), [.name("kind", Kind.self), .integer("begin_at"), .integer("end_at")])

    public func write(to row: inout RowWriter) { row.add(kind, begin, end) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (kind, begin, end) = try row.next()
    }
}

extension LifeSign: StoredRecord {
    // seen_at: when the daemon was last alive. seq: the last request that it had accepted by then. believed_at: when it
    // was last alive and trusted its clock. One row, or none before the first sign of life.
    public static let table = LedgerTable(
        "life", key: .one, [.integer("seen_at"), .integer("seq"), .integer("believed_at").orNull])

    public func write(to row: inout RowWriter) { row.add(at, last, believed) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, last, believed) = try row.next()
    }
}
