extension AttemptRecord: StoredRecord {
    // How handlers answered, where the invocation's own row does not say all of it. Times are from acceptance on. errors
    // is the end of what the handler wrote to standard error, errors_cut how many bytes came before that. attempt counts
    // over the invocation, of_handler over those of one handler in a row.
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
        row.invocationID(id)
        row.text(route)
        row.text(handler)
        row.span(asked)
        row.span(started)
        row.span(ended)
        row.word(answer)
        row.number(status)
        row.number(signal)
        row.span(retryAfter)
        row.text(reason)
        row.output(output)
        row.number(number)
        row.number(numberOfHandler)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        id = try row.invocationID()
        route = try row.text()
        handler = try row.text() ?? ""
        asked = try row.span()
        started = try row.optionalSpan()
        ended = try row.span()
        answer = try row.name()
        status = try row.optionalNumber()
        signal = try row.optionalNumber()
        retryAfter = try row.optionalSpan()
        reason = try row.text()
        let errors: [UInt8]? = row.isNull ? nil : try row.bytes()
        if errors == nil { try row.skip(1) }
        let cut: Int? = try row.optionalNumber()
        output = errors.map { ErrorOutput($0, cut: cut ?? 0) }
        number = try row.number()
        numberOfHandler = try row.number()
    }
}

extension RowWriter {
    mutating func output(_ output: ErrorOutput?) {
        guard let output else { return nulls(2) }
        bytes(output.end)
        number(output.cut)
    }
}

extension DeadLetter: StoredRecord {
    // What a person may replay or purge. Pruning leaves their requests alone; they have limits of their own. bytes are those
    // of the request line and, as the ledger adds them, of the attempts.
    public static let table = LedgerTable(
        "dead_letters", key: .first(2), [.integer("seq"), .integer("n"), .integer("at"), .integer("bytes")])

    public func write(to row: inout RowWriter) {
        row.invocationID(id)
        row.time(at)
        row.number(byteCount)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(id: try row.invocationID(), at: try row.time(), byteCount: try row.number())
    }
}
