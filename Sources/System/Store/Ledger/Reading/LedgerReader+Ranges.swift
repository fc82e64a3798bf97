public import PushModel

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
