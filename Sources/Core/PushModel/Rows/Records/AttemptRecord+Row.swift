extension AttemptRecord: StoredRecord {
    // The answers of handlers, as far as the invocation's own row does not have all facts. Times count from acceptance.
    // errors is the end of the handler's standard error, errors_cut the number of bytes before it. attempt counts over
    // the invocation, of_handler over consecutive attempts of one handler.
    public static let table = LedgerTable(
        "attempts", key: .given("number"),
        [
            .integer("seq"), .integer("n"), .text("route").orNull, .text("handler"), .integer("asked_us"),
            .integer("started_us").orNull, .integer("ended_us"), .name("answer", Answer.self),
            .integer("status").orNull, .integer("signal").orNull, .integer("retry_after_us").orNull,
            .text("reason").orNull, .bytes("errors").orNull, .integer("errors_cut").orNull, .integer("attempt"),
            .integer("of_handler"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(id, route, handler)
        row.add(asked, started, ended)
        row.add(answer, status, signal, retryAfter)
        row.add(reason, output, number, numberOfHandler)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, route, handler) = try row.next()
        (asked, started, ended) = try row.next()
        (answer, status, signal, retryAfter) = try row.next()
        (reason, output, number, numberOfHandler) = try row.next()
    }
}

extension ErrorOutput: StoredValue {
    @inlinable public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(end, cut) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(try row.next(), cut: try row.next())
    }
}

extension DeadLetter: StoredRecord {
    // The invocations that a person may replay or purge. Pruning spares their requests; they have limits of their own.
    // bytes is the size of the request line; the ledger adds the size of the attempts.
    public static let table = LedgerTable(
        "dead_letters", key: .first(2), [.integer("seq"), .integer("n"), .integer("at"), .integer("bytes")])

    public func write(to row: inout RowWriter) { row.add(id, at, byteCount) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, at, byteCount) = try row.next()
    }
}
