import PushModel

extension FigureRows {
    /// Counts the rows of the ledger anew, except in minutes that pruning has removed rows from: their figures stay,
    /// unless they are of another version.
    func recount(_ database: borrowing Database) throws(StoreError) {
        request = CountedRequest()
        forgetFigures()
        pruned = try table.prunedMinute()
        if try database.integer("SELECT version FROM figure_state") != FigureTable.version {
            try table.empty(from: 0, database)
            try table.begin(at: pruned)
        } else {
            try table.empty(from: pruned, database)
        }
        first = try table.firstMinute()
        let begin = pruned == 0 ? Int64.min : FigureMinute.begin(pruned).milliseconds
        let invocation = LedgerTable.invocations
        let rows = try database.prepare(
            """
            SELECT seq, \(LedgerTable.requests.text("operation")), accepted_at, \(Self.requestParts),
                n, \(invocation.text("callback")), \(invocation.text("provider")), \(invocation.text("route")),
                \(invocation.text("handler")), budget_us, \(invocation.text("outcome")), queue_us, exec_us, total_us,
                observer, waited_for_seq, \(invocation.text("reason_code"))
            FROM \(LedgerTable.requests.source) INDEXED BY requests_by_time LEFT JOIN \(invocation.source) USING (seq)
            WHERE accepted_at >= \(begin)
            ORDER BY accepted_at, seq, n
            """)
        while try rows.step() {
            if rows.integer(0) != request.seq {
                request = CountedRequest()
                request.seq = rows.integer(0)
                request.operation = rows.lentText(1).isWordOfInvocations
                request.acceptedAt = rows.integer(2)
                request.minute = FigureMinute.of(milliseconds: request.acceptedAt)
                for column: Int32 in 3...8 { request.parts.append(rows.lentText(column)) }
                try countRequest()
            }
            guard !rows.isNull(15) else { continue }
            parts.removeAll()
            for column: Int32 in 10...13 { parts.append(rows.lentText(column)) }
            parts.append(rows.lentText(15))
            parts.append(counted: rows.lentText(21))
            try count(
                CountedEnd(
                    id: InvocationID(seq: SequenceNumber(rows.integer(0)), n: try rows.value(9)),
                    times: DecidedTimes(
                        budget: rows.integer(14), queue: rows.integer(16), exec: rows.integer(17),
                        total: rows.integer(18)),
                    isObserver: rows.integer(19) != 0, waited: !rows.isNull(20)))
        }
        let attempts = try database.prepare(
            """
            SELECT accepted_at, attempts.handler, answer, attempts.count FROM (
                SELECT seq, n, handler, answer, 1 AS count FROM attempts
                UNION ALL SELECT seq, n, handler, answer, count FROM attempts_left_out) AS attempts
                JOIN request_rows USING (seq) JOIN invocation_rows USING (seq, n)
            WHERE observer = 0 AND answer IN ('declined', 'retry')
                AND accepted_at >= \(begin)
            ORDER BY seq
            """)
        while try attempts.step() {
            let minute = try minute(FigureMinute.of(milliseconds: attempts.integer(0)))
            minute.figures.add(try attempts.value(2), of: attempts.text(1) ?? "", count: try attempts.value(3))
            minute.isChanged = true
        }
        try write()
        request = CountedRequest()
        try readState()
        try database.execute(
            """
            DELETE FROM clock_steps;
            INSERT INTO clock_steps SELECT seq, accepted_at FROM (
                SELECT seq, accepted_at, lag(accepted_at) OVER (ORDER BY seq) AS before FROM request_rows)
            WHERE accepted_at < before;
            """)
        while table.isRollUpDue { try table.rollUp() }
        try table.noteVersion()
    }
}
