import PushFigures
import PushModel

/// Keeps the figures of the ledger: what reports add up instead of reading each row.
///
/// An invocation is counted when it ends, in the minute in which its request was accepted, in the transaction that stores
/// its end; a request when it is stored. What is in flight is in no figure: reports find it by an index. Minutes that are
/// changed are kept in memory from one transaction to the next, and written once in each. For one thread, within the
/// caller's transaction.
final class FigureRows {
    /// Of so many apps a minute has figures of their own; those of the others are kept together.
    static let appsOfMinute = 256
    /// How many figures are kept in memory; some kilobytes each.
    private static let cellLimit = 96
    /// How many keys and how many requests in flight are kept in memory.
    private static let keyLimit = 4096

    private let table: FigureTable
    private var requestFacts: Statement
    private var isObserver: Statement
    private var storedCode: Statement
    /// Whether ``first`` and ``lastAcceptedAt`` may not be what the ledger says.
    private var mustRead = false
    private var noteClock: Statement

    /// The request that was stored last.
    private var request = RequestFacts()
    /// Requests that were stored with an invocation in flight.
    private var inFlight: [Int64: RequestFacts] = [:]
    private var lastAcceptedAt: Int64 = .min
    private var parts = KeyParts()
    private var keys: [KeyParts: KeyEntry] = [:]
    private var cells: [Int64: Cell] = [:]
    private var minutes: [Int64: Minute] = [:]
    /// Figures begin with this minute; older rows are counted by who reads them.
    private var first: Int64 = 0
    private var lastRequest: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        table = try FigureTable(database)
        requestFacts = try database.prepare(
            """
            SELECT accepted_at, mode, platform, app, transport, original_priority, delivered_priority
            FROM requests WHERE seq = ?1
            """)
        isObserver = try database.prepare("SELECT observer FROM invocations WHERE seq = ?1 AND n = ?2")
        noteClock = try database.prepare("INSERT OR REPLACE INTO clock_steps VALUES (?1, ?2)")
        lastRequest = try database.prepare("SELECT accepted_at FROM requests ORDER BY seq DESC LIMIT 1")
        storedCode = try database.prepare("SELECT reason_code FROM invocations WHERE seq = ?1 AND n = ?2")
        try readState()
    }

    /// Reads what it keeps of the ledger's state.
    private func readState() throws(StoreError) {
        first = try table.firstMinute()
        defer { lastRequest.reset() }
        lastAcceptedAt = try lastRequest.step() ? lastRequest.integer(0) : .min
        mustRead = false
    }

    /// Has to be called before the rows of a transaction.
    func begin() throws(StoreError) { if mustRead { try readState() } }

    /// The transaction is committed.
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

    /// Counts a request that a version before this one wrote to the log, and that was stored.
    func add(formerRequest values: RowValues) throws(StoreError) {
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        let operation = try reading { () throws(RowError) in try values.next().isWordOfInvocations }
        guard let found = try facts(stored: seq) else { return }
        request = found
        request.operation = operation
        try noteTime(request.acceptedAt, of: seq)
        try countRequest()
    }

    /// Counts an invocation that was stored, if it has ended.
    func add(invocation values: RowValues) throws(StoreError) {
        var (end, mustReadCode) = (InvocationEnd(), false)
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
            // A version before schema 6 wrote a text alone.
            if !values.isAtEnd { parts.append(counted: try values.next()) } else { mustReadCode = true }
        } catch {
            throw StoreError.row(error)
        }
        if mustReadCode { try appendStoredCode(of: end.id) }
        try count(end)
    }

    /// Counts an answer of a handler that was stored.
    func add(attempt values: RowValues) throws(StoreError) {
        var values = values
        let (id, handler, answer) = try reading { () throws(RowError) in
            let id = InvocationID(seq: SequenceNumber(try values.integer()), n: Int(try values.integer()))
            try values.skip(1)
            let handler = try values.text()
            try values.skip(3)
            return (id, handler, try values.name(AttemptRecord.Answer.self))
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

    private func countRequest() throws(StoreError) {
        table.latest = request.minute
        guard request.minute >= first else { return }
        let minute = try minute(request.minute)
        minute.figures.addRequest(leadsToInvocations: request.operation)
        minute.isChanged = true
    }

    private func count(_ end: InvocationEnd) throws(StoreError) {
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
    }

    /// What is known of a request that is stored.
    private func facts(of seq: Int64) throws(StoreError) -> RequestFacts? {
        if request.seq == seq { return request }
        if let facts = inFlight[seq] { return facts }
        return try facts(stored: seq)
    }

    private func facts(stored seq: Int64) throws(StoreError) -> RequestFacts? {
        requestFacts.bind(seq, at: 1)
        defer { requestFacts.reset() }
        guard try requestFacts.step() else { return nil }
        var facts = RequestFacts()
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

    private func appendStoredCode(of id: InvocationID) throws(StoreError) {
        storedCode.bind(id.seq.value, at: 1)
        storedCode.bind(Int64(id.n), at: 2)
        defer { storedCode.reset() }
        parts.append(counted: try storedCode.step() ? storedCode.lentText(0) : .null)
    }

    private func isOwners(_ id: InvocationID) throws(StoreError) -> Bool {
        isObserver.bind(id.seq.value, at: 1)
        isObserver.bind(Int64(id.n), at: 2)
        defer { isObserver.reset() }
        return try isObserver.step() && isObserver.integer(0) == 0
    }

    // MARK: What is in memory

    /// The key of ``parts``, as far as the minute has room for another app.
    private func key(in minute: Minute) throws(StoreError) -> KeyEntry {
        let entry = try entry()
        guard let app = entry.key.app, !minute.apps.contains(app) else { return try used(entry, minute.number) }
        if minute.apps.count < Self.appsOfMinute {
            minute.apps.insert(app)
            return try used(entry, minute.number)
        }
        let other = entry.other ?? KeyEntry(entry.key.ofOtherApp)
        entry.other = other
        return try used(other, minute.number)
    }

    private func entry() throws(StoreError) -> KeyEntry {
        if let entry = keys[parts] { return entry }
        if keys.count >= Self.keyLimit { keys.removeAll() }
        let entry = KeyEntry(try parts.key(path: table.path))
        keys[parts] = entry
        return entry
    }

    /// Sees to it that the ledger has the key, with a minute of its last use that is no earlier.
    private func used(_ entry: KeyEntry, _ minute: Int64) throws(StoreError) -> KeyEntry {
        let last = minute | (SpanLength.hour.minutes - 1)
        if entry.number == nil || entry.lastMinute < last {
            entry.number = try table.number(of: entry.key, usedIn: last)
            entry.lastMinute = last
        }
        return entry
    }

    private func cell(_ minute: Int64, _ key: KeyEntry) throws(StoreError) -> Cell {
        let place = FigureTable.place(minute, key: key.number ?? 0)
        if let cell = cells[place] { return cell }
        if cells.count >= Self.cellLimit {
            try writeCells()
            cells.removeAll()
        }
        let cell = Cell()
        try table.read(.minute, place) { (bytes) throws(FigureError) in try cell.figures.add(bytes) }
        cells[place] = cell
        return cell
    }

    private func minute(_ number: Int64) throws(StoreError) -> Minute {
        if let minute = minutes[number] { return minute }
        if minutes.count >= Self.cellLimit {
            try writeMinutes()
            minutes.removeAll()
        }
        let minute = Minute(number)
        if try table.read(
            .minute, FigureTable.place(number), { (bytes) throws(FigureError) in try minute.figures.add(bytes) })
        {
            minute.apps = try table.apps(ofMinute: number)
        }
        minutes[number] = minute
        return minute
    }

    /// Writes what has changed; the last thing in a transaction.
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

    /// Forgets what is in memory, because the transaction was rolled back.
    func reset() {
        mustRead = true
        request = RequestFacts()
        forgetFigures()
        table.reset()
    }

    private func forgetFigures() {
        inFlight.removeAll()
        keys.removeAll()
        cells.removeAll()
        minutes.removeAll()
    }

    // MARK: Other work

    /// Takes away the figures of all minutes before `minute`, of which rows were taken out.
    func forget(before minute: Int64) throws(StoreError) {
        guard minute > first else { return }
        try table.forget(before: minute)
        first = minute
        forgetFigures()
    }

    /// Adds up one long span that is complete, if there is one.
    ///
    /// - Returns: whether there may be more to do.
    func rollUp() throws(StoreError) -> Bool { try table.rollUp() }

    /// Whether a long span is complete and not added up.
    var isRollUpDue: Bool { table.isRollUpDue }

    /// Counts all rows of the ledger anew.
    func recount(_ database: borrowing Database) throws(StoreError) {
        request = RequestFacts()
        forgetFigures()
        try table.empty()
        first = 0
        let rows = try database.prepare(
            """
            SELECT seq, operation, accepted_at, mode, platform, app, transport, original_priority, delivered_priority,
                n, callback, provider, route, handler, budget_us, outcome, queue_us, exec_us, total_us, observer,
                waited_for_seq, reason_code
            FROM requests INDEXED BY requests_by_time LEFT JOIN invocations USING (seq) ORDER BY accepted_at, seq, n
            """)
        while try rows.step() {
            if rows.integer(0) != request.seq {
                request = RequestFacts()
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
                InvocationEnd(
                    id: InvocationID(seq: SequenceNumber(rows.integer(0)), n: try rows.number(9)),
                    times: DecidedTimes(
                        budget: rows.integer(14), queue: rows.integer(16), exec: rows.integer(17),
                        total: rows.integer(18)),
                    isObserver: rows.integer(19) != 0, waited: !rows.isNull(20)))
        }
        let attempts = try database.prepare(
            """
            SELECT accepted_at, attempts.handler, answer FROM attempts JOIN requests USING (seq)
                JOIN invocations USING (seq, n) WHERE observer = 0 AND answer IN ('declined', 'retry')
            ORDER BY attempts.number
            """)
        while try attempts.step() {
            let minute = try minute(FigureMinute.of(milliseconds: attempts.integer(0)))
            minute.figures.add(try attempts.name(2), of: attempts.text(1) ?? "")
            minute.isChanged = true
        }
        try write()
        request = RequestFacts()
        try readState()
        try database.execute(
            """
            DELETE FROM clock_steps;
            INSERT INTO clock_steps SELECT seq, accepted_at FROM (
                SELECT seq, accepted_at, lag(accepted_at) OVER (ORDER BY seq) AS before FROM requests)
            WHERE accepted_at < before;
            """)
        while try table.rollUp() {}
        try table.noteVersion()
    }
}

/// What figures need of a request.
private struct RequestFacts {
    var seq: Int64 = -1
    var acceptedAt: Int64 = 0
    var minute: Int64 = 0
    /// Whether its operation leads to invocations.
    var operation = false
    /// Mode, platform, app, transport and both priorities.
    var parts = KeyParts()
}

/// What figures need of an invocation beside its key.
private struct InvocationEnd {
    var id = InvocationID(seq: SequenceNumber(0), n: 0)
    var times = DecidedTimes(budget: 0, queue: 0, exec: 0, total: 0)
    var isObserver = false
    var waited = false
}

/// A key as the ledger knows it.
private final class KeyEntry {
    let key: FigureKey
    /// Its number in the ledger; `nil` before it was asked for.
    var number: Int64?
    /// Up to which minute the ledger keeps it.
    var lastMinute: Int64 = -1
    /// The same of all apps for which there is no room.
    var other: KeyEntry?

    init(_ key: FigureKey) { self.key = key }
}

/// The figures of one key in one minute.
private final class Cell {
    var figures = KeyFigures()
    var isChanged = false
}

/// The figures of one minute that no key has.
private final class Minute {
    let number: Int64
    var figures = SpanFigures()
    /// The apps that have figures of their own.
    var apps: Set<String> = []
    var isChanged = false

    init(_ number: Int64) { self.number = number }
}
