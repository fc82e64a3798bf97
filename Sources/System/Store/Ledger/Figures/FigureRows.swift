import PushModel

/// Keeps the figures of the ledger, which reports add up instead of reading each row.
///
/// An invocation is counted when it ends, in the minute in which its request was accepted, in the transaction that
/// stores its end; a request is counted when it is stored. No figure counts invocations in flight: reports find those
/// by an index. Changed minutes stay in memory between transactions, and each transaction writes each of them once. For
/// one thread, within the caller's transaction.
final class FigureRows {
    /// The number of apps that have figures of their own in a minute; the others share one key.
    static let appsOfMinute = 256
    /// The number of figures in memory; each takes some kilobytes.
    private static let cellLimit = 96
    /// The number of keys, and of requests in flight, in memory.
    private static let keyLimit = 4096

    let table: FigureTable
    private var requestFacts: Statement
    private var isObserver: Statement
    /// Whether ``first``, ``pruned`` and ``lastAcceptedAt`` may differ from the ledger.
    private var mustRead = false
    private var noteClock: Statement

    /// The request that was stored last.
    var request = CountedRequest()
    /// The stored requests that have an invocation in flight.
    private var inFlight: [Int64: CountedRequest] = [:]
    private var lastAcceptedAt: Int64 = .min
    var parts = KeyParts()
    private var keys: [KeyParts: CountedKey] = [:]
    private var cells: [Int64: CountedCell] = [:]
    private var minutes: [Int64: CountedMinute] = [:]
    /// The first minute that has figures.
    var first: Int64 = 0
    /// The minute before which pruning has removed rows, so that earlier figures cannot be counted anew.
    var pruned: Int64 = 0
    private var lastRequest: Statement

    /// The columns that distinguish the figures of requests, as texts.
    static let requestParts = ["mode", "platform", "app", "transport", "original_priority", "delivered_priority"]
        .map(LedgerTable.requests.text).joined(separator: ", ")

    init(_ database: borrowing Database) throws(StoreError) {
        table = try FigureTable(database)
        requestFacts = try database.prepare(
            """
            SELECT accepted_at, \(Self.requestParts) FROM \(LedgerTable.requests.source) WHERE seq = ?1
            """)
        isObserver = try database.prepare("SELECT observer FROM invocation_rows WHERE seq = ?1 AND n = ?2")
        noteClock = try database.prepare("INSERT OR REPLACE INTO clock_steps VALUES (?1, ?2)")
        lastRequest = try database.prepare("SELECT accepted_at FROM request_rows ORDER BY seq DESC LIMIT 1")
        try readState()
    }

    /// Reads the cached part of the ledger's state.
    func readState() throws(StoreError) {
        first = try table.firstMinute()
        pruned = try table.prunedMinute()
        defer { lastRequest.reset() }
        lastAcceptedAt = try lastRequest.step() ? lastRequest.integer(0) : .min
        mustRead = false
    }

    /// Prepares for the rows of a transaction; to be called before the first of them.
    func begin() throws(StoreError) { if mustRead { try readState() } }

    /// Notes that the transaction was committed.
    func noteCommit() { table.noteCommit() }

    // MARK: Rows

    /// Counts a request that was stored.
    func add(request values: RowValues) throws(StoreError) {
        do throws(RowError) {
            var values = values
            request.seq = try values.integer()
            let operation = try values.next()
            try values.skip(4)
            let acceptedAt = try values.integer()
            request.minute = FigureMinute.of(milliseconds: acceptedAt)
            request.acceptedAt = acceptedAt
            try values.skip(2)
            request.parts.removeAll()
            for _ in 0..<3 { request.parts.append(try values.next()) }
            try values.skip(7)
            for _ in 0..<3 { request.parts.append(try values.next()) }
            request.operation = operation.isWordOfInvocations
        } catch {
            throw StoreError.row(error)
        }
        try noteTime(request.acceptedAt, of: request.seq)
        try countRequest()
    }

    /// Counts an invocation that was stored, if it has ended.
    func add(invocation values: RowValues) throws(StoreError) {
        var end = CountedEnd()
        parts.removeAll()
        do throws(RowError) {
            var values = values
            end.id = InvocationID(seq: SequenceNumber(try values.integer()), n: Int(try values.integer()))
            for _ in 0..<4 { parts.append(try values.next()) }
            end.times.budget = try values.integer()
            try values.skip(2)
            let outcome = try values.next()
            if case .null = outcome {
                if request.seq == end.id.seq.value { remember() }
                return
            }
            parts.append(outcome)
            try values.skip(1)
            end.times.queue = try values.integer()
            end.times.exec = try values.integer()
            end.times.total = try values.integer()
            try values.skip(5)
            end.isObserver = try values.integer() != 0
            if case .integer = try values.next() { end.waited = true }
            try values.skip(2)
            parts.append(counted: try values.next())
        } catch {
            throw StoreError.row(error)
        }
        try count(end)
    }

    /// Counts an answer of a handler that was stored.
    func add(attempt values: RowValues) throws(StoreError) {
        var values = values
        let (id, handler, answer) = try reading { () throws(RowError) in
            let id = InvocationID(seq: SequenceNumber(try values.integer()), n: Int(try values.integer()))
            try values.skip(1)
            let handler = try values.text() ?? ""
            try values.skip(3)
            return (id, handler, try values.name() as AttemptRecord.Answer)
        }
        guard answer == .declined || answer == .retry else { return }
        guard let minute = try facts(of: id.seq.value)?.minute, minute >= first, try isOwners(id) else { return }
        let counted = try self.minute(minute)
        counted.figures.add(answer, of: handler)
        counted.isChanged = true
    }

    // MARK: Counting

    private func noteTime(_ acceptedAt: Int64, of seq: Int64) throws(StoreError) {
        if acceptedAt < lastAcceptedAt {
            noteClock.bind(seq, at: 1)
            noteClock.bind(acceptedAt, at: 2)
            try noteClock.run()
        }
        lastAcceptedAt = acceptedAt
    }

    func countRequest() throws(StoreError) {
        table.latest = request.minute
        guard request.minute >= first else { return }
        let minute = try minute(request.minute)
        minute.figures.addRequest(leadsToInvocations: request.operation)
        minute.isChanged = true
    }

    func count(_ end: CountedEnd) throws(StoreError) {
        guard let request = try facts(of: end.id.seq.value), request.minute >= first else { return }
        parts.append(request.parts)
        parts.append(flag: end.isObserver)
        let minute = try minute(request.minute)
        let key = try key(in: minute)
        let cell = try cell(request.minute, key)
        cell.figures.add(end.times, of: key.key)
        cell.isChanged = true
        minute.figures.add(end.id, end.times, of: key.key, waited: end.waited)
        minute.isChanged = true
        if !end.isObserver { inFlight[end.id.seq.value] = nil }
    }

    /// Returns the facts of a stored request.
    private func facts(of seq: Int64) throws(StoreError) -> CountedRequest? {
        if request.seq == seq { return request }
        if let facts = inFlight[seq] { return facts }
        return try facts(stored: seq)
    }

    private func facts(stored seq: Int64) throws(StoreError) -> CountedRequest? {
        requestFacts.bind(seq, at: 1)
        defer { requestFacts.reset() }
        guard try requestFacts.step() else { return nil }
        var facts = CountedRequest()
        facts.seq = seq
        facts.acceptedAt = requestFacts.integer(0)
        facts.minute = FigureMinute.of(milliseconds: facts.acceptedAt)
        for column: Int32 in 1...6 { facts.parts.append(requestFacts.lentText(column)) }
        return facts
    }

    private func remember() {
        if inFlight.count >= Self.keyLimit { inFlight.removeAll() }
        inFlight[request.seq] = request
    }

    private func isOwners(_ id: InvocationID) throws(StoreError) -> Bool {
        isObserver.bind(id.seq.value, at: 1)
        isObserver.bind(Int64(id.n), at: 2)
        defer { isObserver.reset() }
        return try isObserver.step() && isObserver.integer(0) == 0
    }

    // MARK: What is in memory

    /// Returns the key of ``parts``, or the key of the other apps if the minute has no room for one more.
    private func key(in minute: CountedMinute) throws(StoreError) -> CountedKey {
        let entry = try entry()
        guard let app = entry.key.app, !minute.apps.contains(app) else { return try used(entry, minute.number) }
        if minute.apps.count < Self.appsOfMinute {
            minute.apps.insert(app)
            return try used(entry, minute.number)
        }
        let other = entry.other ?? CountedKey(entry.key.ofOtherApp)
        entry.other = other
        return try used(other, minute.number)
    }

    private func entry() throws(StoreError) -> CountedKey {
        if let entry = keys[parts] { return entry }
        if keys.count >= Self.keyLimit { keys.removeAll() }
        let entry = CountedKey(try parts.key(path: table.path))
        keys[parts] = entry
        return entry
    }

    /// Makes sure that the ledger has the key, with a last use no earlier than the minute.
    private func used(_ entry: CountedKey, _ minute: Int64) throws(StoreError) -> CountedKey {
        let last = minute | (SpanLength.hour.minutes - 1)
        if entry.number == nil || entry.lastMinute < last {
            entry.number = try table.number(of: entry.key, usedIn: last)
            entry.lastMinute = last
        }
        return entry
    }

    private func cell(_ minute: Int64, _ key: CountedKey) throws(StoreError) -> CountedCell {
        let place = FigureTable.place(minute, key: key.number ?? 0)
        if let cell = cells[place] { return cell }
        if cells.count >= Self.cellLimit {
            try writeCells()
            cells.removeAll()
        }
        let cell = CountedCell()
        try table.read(.minute, place) { (bytes) throws(FigureError) in try cell.figures.add(bytes) }
        cells[place] = cell
        return cell
    }

    func minute(_ number: Int64) throws(StoreError) -> CountedMinute {
        if let minute = minutes[number] { return minute }
        if minutes.count >= Self.cellLimit {
            try writeMinutes()
            minutes.removeAll()
        }
        let minute = CountedMinute(number)
        if try table.read(
            .minute, FigureTable.place(number), { (bytes) throws(FigureError) in try minute.figures.add(bytes) })
        {
            minute.apps = try table.apps(ofMinute: number)
        }
        minutes[number] = minute
        return minute
    }

    /// Writes the changed figures; to be called last in a transaction.
    func write() throws(StoreError) {
        try writeCells()
        try writeMinutes()
        if cells.count > Self.cellLimit / 2 { cells.removeAll() }
        if minutes.count > Self.minutesKept { minutes.removeAll() }
    }

    private static let minutesKept = 4

    private func writeCells() throws(StoreError) {
        for (place, cell) in cells where cell.isChanged {
            try table.write(.minute, place, cell.figures.bytes)
            cell.isChanged = false
        }
    }

    private func writeMinutes() throws(StoreError) {
        for (number, minute) in minutes where minute.isChanged {
            try table.write(.minute, FigureTable.place(number), minute.figures.bytes)
            try table.noteChange(ofMinute: number)
            minute.isChanged = false
        }
    }

    /// Discards the cached figures, because the transaction was rolled back.
    func reset() {
        mustRead = true
        request = CountedRequest()
        forgetFigures()
        table.reset()
    }

    func forgetFigures() {
        inFlight.removeAll()
        keys.removeAll()
        cells.removeAll()
        minutes.removeAll()
    }

    // MARK: Other work

    /// Stores that pruning has removed rows of minutes before `minute`. Their figures stay.
    func notePruned(before minute: Int64) throws(StoreError) {
        try begin()
        guard minute > pruned else { return }
        try table.notePruned(before: minute)
        pruned = minute
    }

    /// Deletes the figures of minutes before `minute` without rows, at most `count` minutes of them.
    ///
    /// - Returns: whether there may be more to delete.
    func forget(before minute: Int64, atMost count: Int64 = 64) throws(StoreError) -> Bool {
        try begin()
        let end = min(minute, pruned)
        guard end > first, let oldest = try table.oldestMinute(), oldest < end else { return false }
        first = min(end, oldest + count)
        try table.forget(before: first)
        forgetFigures()
        return first < end
    }

    /// Adds up one complete long span, if there is one.
    func rollUp() throws(StoreError) { try table.rollUp() }

    /// Whether a long span is complete and not added up yet.
    var isRollUpDue: Bool { table.isRollUpDue }
}

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
