extension InvocationRecord: StoredRecord {
    // reason is for people, reason_code for programs. ahead is how many were ahead in the lane, waited_for_us how long the
    // one of waited_for_seq had its turn.
    public static let table = LedgerTable(
        "invocations", rows: "invocation_rows", key: .first(2),
        [
            .integer("seq"), .integer("n"), .word("callback", Callback.self), .shared("provider").orNull,
            .shared("route").orNull, .shared("handler").orNull, .integer("budget_us"), .integer("deadline_ns").orNull,
            .integer("started"), .word("outcome", Outcome.self).orNull, .text("reason").orNull,
            .integer("queue_us").orNull, .integer("exec_us").orNull, .integer("total_us").orNull,
            .word("completed_by", Completion.Caller.self).orNull, .integer("completed_times").orNull,
            .word("completed_result", FetchResult.self).orNull, .shared("completed_options").orNull,
            .integer("decided_at").orNull, .integer("observer").or(0), .integer("waited_for_seq").orNull,
            .integer("waited_for_n").orNull, .shared("waited_for_handler").orNull, .shared("reason_code").orNull,
            .integer("ahead").orNull, .integer("waited_for_us").orNull,
        ])

    @inline(__always) public func write(to row: inout RowWriter) {
        row.invocationID(id)
        row.word(callback)
        row.text(provider)
        row.text(route)
        row.text(handler)
        row.span(budget)
        row.instant(deadline)
        row.flag(started)
        if let sharedResult {
            row.result(sharedResult.value, isObserver: isObserver)
        } else {
            row.nulls(10)
            row.flag(isObserver)
            row.nulls(6)
        }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        id = try row.invocationID()
        callback = try row.word()
        provider = try row.text()
        route = try row.text()
        handler = try row.text()
        budget = try row.span()
        deadline = try row.optionalInstant()
        started = try row.flag()
        guard let outcome: Outcome = try row.optionalWord() else {
            try row.skip(9)
            isObserver = try row.flag()
            try row.skip(6)
            return
        }
        let reason = try row.text()
        let (queue, exec, total) = (try row.span(), try row.span(), try row.span())
        let completion = try Completion(readingAny: &row)
        let decidedAt = try row.time()
        isObserver = try row.flag()
        let first: InvocationID? = row.isNull ? nil : try row.invocationID()
        if first == nil { try row.skip(2) }
        let firstHandler = try row.text()
        let reasonCode: ReasonCode? = try row.optionalName()
        let ahead: Int? = try row.optionalNumber()
        let took = try row.optionalSpan()
        let result = InvocationResult(
            outcome: outcome, reason: reason, reasonCode: reasonCode, queue: queue, exec: exec, total: total,
            completion: completion, waitedFor: first.map { Predecessor(id: $0, handler: firstHandler, took: took) },
            ahead: ahead, decidedAt: decidedAt)
        sharedResult = Indirect(result)
    }
}

extension Completion {
    @inlinable init?<Row: RowSource>(readingAny row: inout Row) throws(Row.Failure) {
        guard let by: Caller = try row.optionalWord() else {
            try row.skip(3)
            return nil
        }
        let (times, result): (Int, FetchResult) = (try row.number(), try row.word())
        let options = try row.text()?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        self.init(by: by, times: times, result: result, options: options.map(String.init))
    }
}

extension RowWriter {
    /// The columns of an invocation that has ended. A function of its own: it is given the result, and copies nothing of it.
    fileprivate mutating func result(_ result: InvocationResult, isObserver: Bool) {
        word(result.outcome)
        text(result.reason)
        span(result.queue)
        span(result.exec)
        span(result.total)
        word(result.completion?.by)
        number(result.completion?.times)
        word(result.completion?.result)
        // Apple's names have no commas; no text is no name, the empty text one empty name.
        text(result.completion.flatMap { $0.options.isEmpty ? nil : $0.options.joined(separator: ",") })
        time(result.decidedAt)
        flag(isObserver)
        invocationID(result.waitedFor?.id)
        text(result.waitedFor?.handler)
        word(result.reasonCode)
        number(result.ahead)
        span(result.waitedFor?.took)
    }
}
