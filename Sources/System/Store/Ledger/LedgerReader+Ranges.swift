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

    /// A column that searches ask for most.
    public enum LookedUp: Sendable {
        case id, app, device, user, campaign, outcome, handler
        /// The system shows the request's push, so no receipt names its campaign. The text is empty.
        case shown
    }

    /// Gives the texts of these columns of all requests with a number in a range, in a tenth of the time that their
    /// stories take.
    ///
    /// - Parameter body: takes the number of the request, the column and its text.
    public func lookedUpTexts(
        in range: ClosedRange<SequenceNumber>, _ body: (SequenceNumber, LookedUp, String) -> Void
    ) throws(StoreError) {
        try snapshot { () throws(StoreError) in
            func give(_ seq: Int64, _ column: LookedUp, _ text: String?) {
                if let text { body(SequenceNumber(seq), column, text) }
            }
            let requests = LedgerTable.requests
            try each(
                "seq, id, message_id, \(requests.text("app")), device, external_id FROM \(requests.source) WHERE seq",
                range,
                "seq"
            ) { (row) throws(StoreError) in
                let seq = row.integer()
                give(seq, .id, row.text())
                give(seq, .id, row.text())
                give(seq, .app, row.text())
                give(seq, .device, row.text())
                give(seq, .user, row.text())
            }
            let invocations = LedgerTable.invocations
            try each(
                "invocations.seq, outcome, \(invocations.text("handler")) FROM \(invocations.source) WHERE seq", range,
                "seq"
            ) { (row) throws(StoreError) in
                let seq = row.integer()
                let outcome: Outcome? = try row.next()
                if outcome == .shownBySystem { give(seq, .shown, "") }
                give(seq, .outcome, outcome?.rawValue)
                give(seq, .handler, row.text())
            }
            let events = LedgerTable.events
            let campaigns = "events.seq, \(events.text("campaign_id")) FROM \(events.source) INDEXED BY events_by_seq"
            try each("\(campaigns) WHERE seq", range, "seq") { (row) throws(StoreError) in
                let seq = row.integer()
                give(seq, .campaign, row.text())
            }
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

    /// Whether each invocation of the requests in a range has an outcome.
    public func isDecided(_ range: ClosedRange<SequenceNumber>) throws(StoreError) -> Bool {
        let statement = try database.prepare(
            """
            SELECT 1 FROM invocation_rows INDEXED BY invocations_pending
            WHERE outcome IS NULL AND seq BETWEEN ?1 AND ?2 LIMIT 1
            """)
        statement.bind(range.lowerBound.value, at: 1)
        statement.bind(range.upperBound.value, at: 2)
        return try !statement.step()
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

    /// A device that is remembered; `nil`: no request has named it.
    public func knownDevice(_ key: DeviceKey) throws(StoreError) -> KnownDevice? {
        // The table has no index on its texts: the statement reads all rows.
        var statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices WHERE device = ?1 AND app = ?2")
        statement.bind(key.device, at: 1)
        statement.bind(key.app ?? "", at: 2)
        return try statement.step() ? try statement.value() : nil
    }

    /// The devices that are remembered, those that were first named last first.
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
