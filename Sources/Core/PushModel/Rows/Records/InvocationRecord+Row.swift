extension InvocationRecord: StoredRecord {
    // reason is for people, reason_code for programs. ahead is the number of invocations ahead in the lane,
    // waited_for_us the time that the one of waited_for_seq had its turn.
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
        row.add(id, callback)
        row.add(provider, route, handler)
        row.add(budget, deadline, started)
        if let sharedResult {
            row.result(sharedResult.value, isObserver: isObserver)
        } else {
            row.nulls(10)
            row.add(isObserver)
            row.nulls(6)
        }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (id, callback) = try row.next()
        (provider, route, handler) = try row.next()
        (budget, deadline, started) = try row.next()
        guard let outcome: Outcome = try row.next() else {
            try row.skip(9)
            isObserver = try row.next()
            try row.skip(6)
            return
        }
        let (reason, queue, exec, total): (String?, Duration, Duration, Duration) = try row.next()
        let (completion, decidedAt): (Completion?, WallTime) = try row.next()
        isObserver = try row.next()
        let (first, handler): (InvocationID?, String?) = try row.next()
        let (reasonCode, ahead, took): (ReasonCode?, Int?, Duration?) = try row.next()
        let result = InvocationResult(
            outcome: outcome, reason: reason, reasonCode: reasonCode, queue: queue, exec: exec, total: total,
            completion: completion, waitedFor: first.map { Predecessor(id: $0, handler: handler, took: took) },
            ahead: ahead, decidedAt: decidedAt)
        sharedResult = Indirect(result)
    }
}

extension Completion: StoredValue {
    @inlinable public static var count: Int { 4 }

    @inline(__always) public func write(to row: inout RowWriter) {
        // Apple's names have no commas. NULL stands for no option, the empty text for one empty name.
        row.add(by, times, result, options.isEmpty ? nil : options.joined(separator: ","))
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let options: String?
        (by, times, result, options) = try row.next()
        self.options = options?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}

extension RowWriter {
    /// Writes the columns of an ended invocation. A separate function, so that the result is passed without a copy.
    fileprivate mutating func result(_ result: InvocationResult, isObserver: Bool) {
        add(result.outcome, result.reason)
        add(result.queue, result.exec, result.total)
        add(result.completion, result.decidedAt, isObserver)
        add(result.waitedFor?.id, result.waitedFor?.handler)
        add(result.reasonCode, result.ahead, result.waitedFor?.took)
    }
}
