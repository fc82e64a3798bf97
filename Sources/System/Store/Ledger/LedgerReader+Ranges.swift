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
            try each("\(LedgerTable.requests.values()) FROM \(LedgerTable.requests.source) WHERE seq", range, "seq") {
                (row) throws(StoreError) in
                let request = try AcceptedRequest(reading: &row)
                places[request.seq] = stories.count
                stories.append(RequestStory(request: request))
            }
            guard !stories.isEmpty else { return [] }
            try each(
                "\(LedgerTable.invocations.values()) FROM \(LedgerTable.invocations.source) WHERE seq", range, "seq, n"
            ) { (row) throws(StoreError) in
                let invocation = try InvocationRecord(reading: &row)
                if let place = places[invocation.id.seq] { stories[place].invocations.append(invocation) }
            }
            // INDEXED BY: the planner would otherwise scan the whole table to get the requested order.
            let events = "\(LedgerTable.events.values()) FROM \(LedgerTable.events.source) INDEXED BY"
            try each("\(events) events_by_seq WHERE seq", range, "seq, cursor") { (row) throws(StoreError) in
                let event = try AnalyticsEvent(reading: &row)
                if let place = places[event.seq] { stories[place].events.append(event) }
            }
            try each("\(events) events_of_delivery WHERE delivery <> seq AND delivery", range, "seq, cursor") {
                (row) throws(StoreError) in
                let event = try AnalyticsEvent(reading: &row)
                if let place = places[event.delivery] { stories[place].events.append(event) }
            }
            let attempts = "\(AttemptRecord.table.values()) FROM attempts INDEXED BY attempts_of_request"
            try each("\(attempts) WHERE seq", range, "number") {
                (row) throws(StoreError) in
                let attempt = try AttemptRecord(reading: &row)
                if let place = places[attempt.id.seq] { stories[place].attempts.append(attempt) }
            }
            try each("seq, n, count FROM attempts_left_out WHERE seq", range, "seq") { (row) throws(StoreError) in
                let (seq, n, count): (SequenceNumber, Int, Int) = try row.next()
                if let place = places[seq] { stories[place].attemptsLeftOut[n, default: 0] += count }
            }
            try each("\(DeadLetter.table.values()) FROM dead_letters WHERE seq", range, "seq, n") {
                (row) throws(StoreError) in
                let letter = try DeadLetter(reading: &row)
                if let place = places[letter.id.seq] { stories[place].deadLetters.append(letter) }
            }
            try each("replay_of, seq FROM request_rows INDEXED BY requests_by_replay WHERE replay_of", range, "seq") {
                (row) throws(StoreError) in
                let (former, seq): (SequenceNumber, SequenceNumber) = try row.next()
                if let place = places[former] { stories[place].replays.append(seq) }
            }
            let entries = "cause, \(LedgerTable.entries.values()) FROM entries INDEXED BY entries_of_request"
            try each("\(entries) WHERE cause", range, "number") {
                (row) throws(StoreError) in
                let cause: SequenceNumber = try row.next()
                let entry = try EntryRecord(reading: &row)
                if let place = places[cause] { stories[place].entries.append(entry) }
            }
            return stories
        }
    }

    /// A column that is often searched by its text.
    public enum LookedUp: Sendable {
        case id, app, device, user, campaign, outcome, handler
        /// The number of a request that the system shows: no receipt names its campaign.
        case shown
    }

    /// Passes the texts of these columns, for all requests with a number in a range, to `body`: a tenth of the cost of
    /// their stories.
    ///
    /// - Returns: whether all of them are decided; otherwise further texts will follow.
    public func lookedUpTexts(
        in range: ClosedRange<SequenceNumber>, _ body: (LookedUp, String) -> Void
    ) throws(StoreError) -> Bool {
        try snapshot { () throws(StoreError) in
            func give(_ column: LookedUp, _ text: String?) { if let text { body(column, text) } }
            var isDecided = true
            let requests = LedgerTable.requests
            try each(
                "seq, id, message_id, \(requests.text("app")), device, external_id FROM \(requests.source) WHERE seq",
                range,
                "seq"
            ) { (row) throws(StoreError) in
                give(.id, "\(row.integer())")
                give(.id, row.text())
                give(.id, row.text())
                give(.app, row.text())
                give(.device, row.text())
                give(.user, row.text())
            }
            let invocations = LedgerTable.invocations
            try each(
                "invocations.seq, outcome, \(invocations.text("handler")) FROM \(invocations.source) WHERE seq", range,
                "seq"
            ) { (row) throws(StoreError) in
                let seq = row.integer()
                let outcome: Outcome? = try row.next()
                if outcome == .shownBySystem { give(.shown, "\(seq)") }
                isDecided = isDecided && outcome != nil
                give(.outcome, outcome?.rawValue)
                give(.handler, row.text())
            }
            let events = LedgerTable.events
            let campaigns = "\(events.text("campaign_id")) FROM \(events.source) INDEXED BY events_by_seq"
            try each("\(campaigns) WHERE seq", range, "seq") { (row) throws(StoreError) in give(.campaign, row.text()) }
            return isDecided
        }
    }

    private func each(
        _ query: String, _ range: ClosedRange<SequenceNumber>, _ order: String,
        _ body: (inout StatementRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare("SELECT \(query) BETWEEN ?1 AND ?2 ORDER BY \(order)")
        statement.bind(range.lowerBound.value, at: 1)
        statement.bind(range.upperBound.value, at: 2)
        while try statement.step() {
            var row = statement.row()
            try body(&row)
        }
    }

    /// Returns the highest number of a request below another one; `nil` if there is none.
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

    /// Returns the remembered devices, the most recently named first.
    ///
    /// - Parameter limit: the largest number of devices.
    public func knownDevices(newest limit: Int) throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices ORDER BY number DESC LIMIT ?1")
        statement.bind(Int64(limit), at: 1)
        var found: [KnownDevice] = []
        while try statement.step() { found.append(try statement.value()) }
        return found
    }
}
