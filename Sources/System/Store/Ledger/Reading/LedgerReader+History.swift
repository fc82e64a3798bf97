public import PushModel

extension LedgerReader {
    /// Adds the attempts, the dead letters and the replays to a story.
    func readHistory(of story: inout RequestStory) throws(StoreError) {
        let seq = story.request.seq.value
        let attempts = try database.prepare(
            "SELECT \(AttemptRecord.table.values()) FROM attempts WHERE seq = ?1 ORDER BY number")
        attempts.bind(seq, at: 1)
        while try attempts.step() { story.attempts.append(try attempts.value()) }
        let leftOut = try database.prepare("SELECT n, sum(count) FROM attempts_left_out WHERE seq = ?1 GROUP BY n")
        leftOut.bind(seq, at: 1)
        while try leftOut.step() { story.attemptsLeftOut[try leftOut.value(0)] = try leftOut.value(1) }
        let letters = try database.prepare(
            "SELECT \(DeadLetter.table.values()) FROM dead_letters WHERE seq = ?1 ORDER BY n")
        letters.bind(seq, at: 1)
        while try letters.step() { story.deadLetters.append(try letters.value()) }
        let replays = try database.prepare(
            "SELECT seq FROM request_rows INDEXED BY requests_by_replay WHERE replay_of = ?1 ORDER BY seq")
        replays.bind(seq, at: 1)
        while try replays.step() { story.replays.append(try replays.value(0)) }
    }

    /// Returns the attempts at each invocation without a result.
    public func pendingAttempts() throws(StoreError) -> [InvocationID: AttemptHistory] {
        let attempts = try database.prepare(
            """
            SELECT \(AttemptRecord.table.values(replacing: ["errors": "NULL", "errors_cut": "NULL"]))
            FROM invocation_rows INDEXED BY invocations_pending CROSS JOIN attempts USING (seq, n)
            WHERE outcome IS NULL ORDER BY attempts.number
            """)
        var found: [InvocationID: AttemptHistory] = [:]
        while try attempts.step() {
            let attempt: AttemptRecord = try attempts.value()
            found[attempt.id, default: AttemptHistory()].note(attempt)
        }
        return found
    }

    /// Streams how often each handler gave each answer, observers aside, for the requests accepted at or after `start`
    /// and before `end`. Counts attempts that have a row; an attempt that was simply handled has none.
    public func answers(
        from start: WallTime? = nil, to end: WallTime? = nil,
        _ body: (_ handler: String, _ answer: AttemptRecord.Answer, _ count: Int) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT answers.handler, answer, sum(answers.count)
            FROM request_rows INDEXED BY requests_by_time CROSS JOIN (
                    SELECT seq, n, handler, answer, 1 AS count FROM attempts
                    UNION ALL SELECT seq, n, handler, answer, count FROM attempts_left_out) AS answers USING (seq)
                CROSS JOIN invocation_rows USING (seq, n)
            WHERE observer = 0 AND accepted_at >= ?1 AND accepted_at < ?2 GROUP BY 1, 2 ORDER BY 1, 2
            """)
        statement.bind(start, before: end)
        while try statement.step() {
            body(statement.text(0) ?? "", try statement.value(1), try statement.value(2))
        }
    }

    /// Returns the numbers of the requests that have dead letters.
    ///
    /// - Parameters:
    ///   - filter: the filter of the dead letters.
    ///   - limit: the largest number of requests.
    ///   - oldestFirst: whether to begin with the oldest rather than the newest.
    public func deadLetters(
        _ filter: DeadLetterFilter, limit: Int, oldestFirst: Bool = false
    ) throws(StoreError) -> [SequenceNumber] {
        let statement = try deadLetters("DISTINCT seq", filter, "ORDER BY seq \(oldestFirst ? "" : "DESC") LIMIT ?10")
        statement.bind(Int64(limit), at: 10)
        var numbers: [SequenceNumber] = []
        while try statement.step() { numbers.append(try statement.value(0)) }
        return numbers
    }

    /// Returns how many requests have dead letters that match a filter.
    public func countOfDeadLetters(_ filter: DeadLetterFilter) throws(StoreError) -> Int {
        let statement = try deadLetters("count(DISTINCT seq)", filter)
        return try statement.step() ? try statement.value(0) : 0
    }

    /// Makes a query of the dead letters that match a filter.
    private func deadLetters(
        _ columns: String, _ filter: DeadLetterFilter, _ end: String = ""
    ) throws(StoreError) -> Statement {
        var statement = try database.prepare(
            """
            SELECT \(columns)
            FROM dead_letters JOIN \(LedgerTable.invocations.source) USING (seq, n) JOIN \(LedgerTable.requests.source) USING (seq)
            WHERE accepted_at >= ?1 AND accepted_at < ?2
                AND (?3 IS NULL OR \(LedgerTable.invocations.text("handler")) = ?3)
                AND (?4 IS NULL OR \(LedgerTable.invocations.text("route")) = ?4)
                AND (?5 IS NULL OR \(LedgerTable.invocations.text("outcome")) = ?5)
                AND (?6 IS NULL OR \(LedgerTable.requests.text("app")) = ?6)
                AND (?7 IS NULL OR \(LedgerTable.invocations.text("provider")) = ?7)
                AND seq > ?8 AND seq <= ?9
            \(end)
            """)
        statement.bind(filter.since, before: filter.until)
        for (index, text) in [filter.handler, filter.route, filter.outcome?.rawValue, filter.app, filter.provider]
            .enumerated()
        {
            statement.bind(text, at: Int32(index) + 3)
        }
        statement.bind(filter.after?.value ?? 0, at: 8)
        statement.bind(filter.through?.value ?? .max, at: 9)
        return statement
    }

    /// Returns the number of dead letters, and the bytes that count for their limit.
    public func deadLetterTotals() throws(StoreError) -> (count: Int, bytes: Int) {
        let statement = try database.prepare("SELECT count(*), coalesce(sum(bytes), 0) FROM dead_letters")
        guard try statement.step() else { return (0, 0) }
        return (try statement.value(0), try statement.value(1))
    }

    /// Returns a request with dead letters, and the data to replay it; `nil` if the ledger does not have the request.
    func deadRequest(_ seq: SequenceNumber) throws(StoreError) -> DeadRequest? {
        guard let story = try story(of: seq) else { return nil }
        // A stored line is read without limits: they may have been higher at acceptance.
        let request = try? Request(acceptedLine: story.request.body)
        var past: RequestStory?
        if case .interact(let interact) = request?.action,
            let reference = DeliveryReference(interact, interaction: seq)
        {
            past = try delivery(reference)
        }
        return DeadRequest(story: story, request: request, past: past)
    }
}

/// A filter of dead letters; `nil` matches any.
public struct DeadLetterFilter: Hashable, Sendable {
    /// The first time of acceptance.
    public var since: WallTime?
    /// The first time of acceptance that is too late.
    public var until: WallTime?
    /// The last handler of the invocation.
    public var handler: String?
    /// The last route of the invocation.
    public var route: String?
    /// The outcome of the invocation.
    public var outcome: Outcome?
    /// The app.
    public var app: String?
    /// The provider of the payload.
    public var provider: String?
    /// The number after which matching requests begin.
    public var after: SequenceNumber?
    /// The highest number of a matching request.
    public var through: SequenceNumber?

    /// A filter that matches every dead letter.
    public init() {}
}

/// A request that may have dead letters, with the data to replay it.
public struct DeadRequest: Sendable {
    /// The story of the request.
    public var story: RequestStory
    /// Its line, parsed again; `nil` if this version cannot read it.
    public var request: Request?
    /// The delivery that it refers to, if it is an interaction.
    public var past: RequestStory?
}

extension LedgerReader {
    /// Returns the stories of all requests with a number in a range, in order. A range takes as many statements as one
    /// story.
    ///
    /// - Parameter range: some hundred numbers: all stories are in memory at once.
    public func stories(in range: ClosedRange<SequenceNumber>) throws(StoreError) -> [RequestStory] {
        try snapshot { () throws(StoreError) in
            var stories: [RequestStory] = []
            var places: [SequenceNumber: Int] = [:]
            try each(.requests, range) { (row) throws(StoreError) in
                let request = try AcceptedRequest(reading: &row)
                places[request.seq] = stories.count
                stories.append(RequestStory(request: request))
            }
            guard !stories.isEmpty else { return [] }
            try each(.invocations, range) { (row) throws(StoreError) in
                let invocation = try InvocationRecord(reading: &row)
                if let place = places[invocation.id.seq] { stories[place].invocations.append(invocation) }
            }
            try each(.events, range) { (row) throws(StoreError) in
                let event = try AnalyticsEvent(reading: &row)
                if let place = places[event.seq] { stories[place].events.append(event) }
            }
            try each(.eventsOfDelivery, range) { (row) throws(StoreError) in
                let event = try AnalyticsEvent(reading: &row)
                if let place = places[event.delivery] { stories[place].events.append(event) }
            }
            try each(.attempts, range) { (row) throws(StoreError) in
                let attempt = try AttemptRecord(reading: &row)
                if let place = places[attempt.id.seq] { stories[place].attempts.append(attempt) }
            }
            try each(.attemptsLeftOut, range) { (row) throws(StoreError) in
                let (seq, n, count): (SequenceNumber, Int, Int) = try row.next()
                if let place = places[seq] { stories[place].attemptsLeftOut[n, default: 0] += count }
            }
            try each(.deadLetters, range) { (row) throws(StoreError) in
                let letter = try DeadLetter(reading: &row)
                if let place = places[letter.id.seq] { stories[place].deadLetters.append(letter) }
            }
            try each(.replays, range) { (row) throws(StoreError) in
                let (former, seq): (SequenceNumber, SequenceNumber) = try row.next()
                if let place = places[former] { stories[place].replays.append(seq) }
            }
            try each(.entries, range) { (row) throws(StoreError) in
                let cause: SequenceNumber = try row.next()
                let entry = try EntryRecord(reading: &row)
                if let place = places[cause] { stories[place].entries.append(entry) }
            }
            return stories
        }
    }

    /// A column that has an index of blocks.
    public enum SearchedColumn: Sendable, CaseIterable {
        case id, app, device, user, campaign, outcome, handler
        /// The outcome `shown_by_system`: no receipt names the campaign of such a push.
        case shown
    }

    /// Passes the searched texts of all requests with a number in a range to `body`.
    ///
    /// - Parameter body: takes the number of the request, the column and its text.
    public func searchedTexts(
        in range: ClosedRange<SequenceNumber>, _ body: (SequenceNumber, SearchedColumn, String) -> Void
    ) throws(StoreError) {
        try snapshot { () throws(StoreError) in
            func give(_ seq: Int64, _ column: SearchedColumn, _ text: String?) {
                if let text { body(SequenceNumber(seq), column, text) }
            }
            try each(.textsOfRequests, range) { (row) throws(StoreError) in
                let seq = row.integer()
                give(seq, .id, row.text())
                give(seq, .id, row.text())
                give(seq, .app, row.text())
                give(seq, .device, row.text())
                give(seq, .user, row.text())
            }
            try each(.textsOfInvocations, range) { (row) throws(StoreError) in
                let seq = row.integer()
                let outcome: Outcome? = try row.next()
                if outcome == .shownBySystem { give(seq, .shown, Outcome.shownBySystem.rawValue) }
                give(seq, .outcome, outcome?.rawValue)
                give(seq, .handler, row.text())
            }
            try each(.campaigns, range) { (row) throws(StoreError) in
                let seq = row.integer()
                give(seq, .campaign, row.text())
            }
        }
    }

    /// Returns the numbers of the requests in a range whose column has a text, in order. SQLite compares, so a range without a
    /// match takes a twentieth of the time of its texts.
    public func requests(
        in range: ClosedRange<SequenceNumber>, where column: SearchedColumn, is text: String
    ) throws(StoreError) -> [SequenceNumber] {
        var found: [SequenceNumber] = []
        try each(.search(column), range, text) { (row) throws(StoreError) in found.append(try row.next()) }
        return found
    }

    /// Returns whether each invocation of the requests in a range has an outcome.
    public func isDecided(_ range: ClosedRange<SequenceNumber>) throws(StoreError) -> Bool {
        let box = try statement(.undecided, range)
        defer { box.statement.reset() }
        return try !box.statement.step()
    }

    private func each(
        _ read: RangeStatement, _ range: ClosedRange<SequenceNumber>, _ text: String? = nil,
        _ body: (inout StatementRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let box = try statement(read, range)
        defer { box.statement.reset() }
        if let text { box.statement.bind(text, at: 3) }
        while try box.statement.step() {
            var row = box.statement.row()
            try body(&row)
        }
    }

    private func statement(
        _ read: RangeStatement, _ range: ClosedRange<SequenceNumber>
    ) throws(StoreError) -> StatementBox {
        let box: StatementBox
        if let compiled = rangeStatements[read] {
            box = compiled
        } else {
            box = StatementBox(try database.prepare(read.sql))
            rangeStatements[read] = box
        }
        box.statement.bind(range.lowerBound.value, at: 1)
        box.statement.bind(range.upperBound.value, at: 2)
        return box
    }

    /// The highest number of a request below another one; `nil`: there is none.
    public func lastRequest(before seq: SequenceNumber) throws(StoreError) -> SequenceNumber? {
        let statement = try database.prepare("SELECT max(seq) FROM request_rows WHERE seq < ?1")
        statement.bind(seq.value, at: 1)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return try statement.value(0)
    }

    /// Returns the lowest number of a request; `nil` if there is none.
    public func lowestSequenceNumber() throws(StoreError) -> SequenceNumber? {
        let statement = try database.prepare("SELECT min(seq) FROM request_rows")
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return try statement.value(0)
    }

    /// Returns the invocations without an outcome, in order.
    public func undecidedInvocations() throws(StoreError) -> [InvocationID] {
        let statement = try database.prepare(
            "SELECT seq, n FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL ORDER BY seq, n")
        var found: [InvocationID] = []
        while try statement.step() { found.append(try statement.value(0)) }
        return found
    }
}
