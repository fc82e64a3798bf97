import Glibc
public import PushModel

/// A read-only view of a ledger, for any process, with or without a running daemon.
///
/// The ledger lags behind acknowledged requests by some milliseconds, and by more under load;
/// ``LedgerReader/complete(directory:)`` sees all of them. For one thread at a time.
public final class LedgerReader {
    /// The 128-bit id of this state directory, drawn when the ledger was created.
    public let stateIdentity: UUID128
    let database: Database
    private let inode: ino_t
    private var requestByKey = LazyStatement(
        "SELECT \(LedgerTable.requests.values()) FROM \(LedgerTable.requests.source) INDEXED BY requests_by_id WHERE uid = ?1 AND id = ?2"
    )
    private var requestByNumber = LazyStatement(
        "SELECT \(LedgerTable.requests.values()) FROM \(LedgerTable.requests.source) WHERE seq = ?1")
    private var deliveryByNumber = LazyStatement(
        "SELECT \(LedgerTable.requests.values()) FROM \(LedgerTable.requests.source) WHERE seq = ?1 AND \(isMeant)")
    private var deliveryByMessage = LazyStatement(
        """
        SELECT \(LedgerTable.requests.values()) FROM \(LedgerTable.requests.source) INDEXED BY requests_by_message
        WHERE message_id = ?1 AND tracked = 0 AND \(isMeant) AND seq < ?4 ORDER BY seq DESC LIMIT 1
        """)
    private var invocationsOfRequest = LazyStatement(
        "SELECT \(LedgerTable.invocations.values()) FROM \(LedgerTable.invocations.source) WHERE seq = ?1 ORDER BY n")
    private var eventsOfRequest = LazyStatement(
        """
        SELECT \(LedgerTable.events.values()) FROM \(LedgerTable.events.source)
        WHERE seq = ?1 OR delivery = ?1 AND delivery <> seq ORDER BY seq, cursor
        """)
    var entriesOfRequest = LazyStatement(
        "SELECT \(LedgerTable.entries.values()) FROM entries WHERE cause = ?1 ORDER BY number")

    var rangeStatements: [RangeStatement: StatementBox] = [:]

    /// The tracker's rule for the delivery of an interaction: a delivery without an app matches any app.
    private static let isMeant = """
        \(LedgerTable.requests.has("operation", Operation.deliver))
            AND (?2 IS NULL OR app IS NULL OR \(LedgerTable.requests.text("app")) = ?2)
            AND (?3 IS NULL OR device = ?3)
        """

    /// Opens the ledger of a state directory.
    ///
    /// - Parameter directory: the state directory; it is not locked.
    /// - Throws: `StoreError`: `missing`, `notPermitted`, `newerSchema`, `corrupt` or `failed`.
    public convenience init(directory: String) throws(StoreError) {
        let path = directory + "/ledger.db"
        guard access(path, F_OK) == 0 || errno == EACCES else {
            throw StoreError(.missing, message: "no pushes are recorded here yet: there is no ledger", context: path)
        }
        try self.init(try Database(path: path, access: .readOnly))
    }

    /// Returns the number of the last batch that the ledger has; 0 if it has none.
    public func lastBatch() throws(StoreError) -> UInt64 { try LedgerSchema.logPosition(database).number }

    /// Takes over a connection for this reader alone.
    convenience init(_ database: consuming Database) throws(StoreError) {
        try database.execute("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -1024")
        try self.init(reading: database)
    }

    /// Shares a connection that has read the schema already, on the same thread.
    convenience init(sharing database: borrowing Database) throws(StoreError) {
        try self.init(reading: Database(sharing: database))
    }

    private init(reading database: consuming Database) throws(StoreError) {
        let path = database.path
        guard try !LedgerSchema.isEmpty(database) else {
            throw StoreError(.missing, message: "the ledger is not set up yet", context: path)
        }
        let schema = try LedgerSchema.check(database)
        guard schema == LedgerSchema.version else {
            throw StoreError(
                .olderSchema, message: "the ledger has schema \(schema); this program reads \(LedgerSchema.version)",
                context: path)
        }
        stateIdentity = try LedgerSchema.stateIdentity(database)
        var status = stat()
        inode = stat(path, &status) == 0 ? status.st_ino : 0
        self.database = database
    }

    /// Whether another file has replaced the one that is read, as after a restore.
    public var isReplaced: Bool {
        var status = stat()
        guard stat(database.path, &status) == 0 else { return false }
        return status.st_ino != inode
    }

    /// Runs several reads over one state of the ledger, in one read transaction.
    public func snapshot<Value>(_ read: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        if database.isInTransaction { return try read() }
        try database.execute("BEGIN")
        // A read transaction writes nothing, so a failed COMMIT loses nothing.
        defer { try? database.execute("COMMIT") }
        return try read()
    }

    /// Returns the highest number ever given to a request that is or was in the ledger; 0 if there was none.
    public func highestSequenceNumber() throws(StoreError) -> SequenceNumber {
        SequenceNumber(
            try database.number(
                "SELECT max((SELECT highest_seq FROM meta), (SELECT coalesce(max(seq), 0) FROM request_rows))"))
    }

    // MARK: One request

    /// Returns a request with its body and everything that came of it; `nil` if the ledger does not have it.
    public func story(of seq: SequenceNumber) throws(StoreError) -> RequestStory? {
        try snapshot { () throws(StoreError) in
            let found = try requestByNumber.compiled(for: database)
            found.statement.bind(seq.value, at: 1)
            var story = try story(found)
            if story != nil { story?.configuration = try configuration(of: seq) }
            return story
        }
    }

    /// Returns the request with this id of the producer with this user id, and everything that came of it; `nil` if the
    /// ledger does not have it.
    public func find(uid: UInt32, id: String) throws(StoreError) -> RequestStory? {
        try snapshot { () throws(StoreError) in
            let found = try requestByKey.compiled(for: database)
            found.statement.bind(Int64(uid), at: 1)
            found.statement.bind(id, at: 2)
            return try story(found)
        }
    }

    /// Returns the delivery that an interaction names, with everything that came of it; `nil` if the ledger does not
    /// have it, or if the interaction names it by a message id, the tracker owned it, and the tracker did not find it
    /// for the interaction.
    public func delivery(_ reference: DeliveryReference) throws(StoreError) -> RequestStory? {
        try snapshot { () throws(StoreError) in
            switch reference.name {
            case .seq(let seq): return try delivery(seq, reference)
            case .message(let id):
                if let found = try trackedDelivery(of: reference.interaction) { return try delivery(found, reference) }
                let named = try deliveryByMessage.compiled(for: database)
                named.statement.bind(id, at: 1)
                named.statement.bind(placeOf: reference)
                named.statement.bind(reference.interaction?.value ?? .max, at: 4)
                return try story(named)
            }
        }
    }

    private func delivery(_ seq: SequenceNumber, _ reference: DeliveryReference) throws(StoreError) -> RequestStory? {
        // A delivery must have been accepted before its interaction.
        if let interaction = reference.interaction, seq >= interaction { return nil }
        let found = try deliveryByNumber.compiled(for: database)
        found.statement.bind(seq.value, at: 1)
        found.statement.bind(placeOf: reference)
        return try story(found)
    }

    /// Returns the delivery that the tracker found for an interaction that was accepted after it.
    private func trackedDelivery(of interaction: SequenceNumber?) throws(StoreError) -> SequenceNumber? {
        guard let interaction else { return nil }
        let statement = try database.prepare("SELECT delivery FROM interactions WHERE cause = ?1 AND delivery < ?1")
        statement.bind(interaction.value, at: 1)
        return try statement.step() ? try statement.value(0) : nil
    }

    private func story(_ found: StatementBox) throws(StoreError) -> RequestStory? {
        defer { found.statement.reset() }
        guard try found.statement.step() else { return nil }
        let request: AcceptedRequest = try found.statement.value()
        var story = RequestStory(request: request, invocations: [], events: [], entries: [])
        let invocations = try invocationsOfRequest.compiled(for: database)
        invocations.statement.bind(request.seq.value, at: 1)
        defer { invocations.statement.reset() }
        while try invocations.statement.step() { story.invocations.append(try invocations.statement.value()) }
        let events = try eventsOfRequest.compiled(for: database)
        events.statement.bind(request.seq.value, at: 1)
        defer { events.statement.reset() }
        while try events.statement.step() { story.events.append(try events.statement.value()) }
        story.entries = try entries(of: request.seq)
        try readHistory(of: &story)
        if request.operation == .publish { story.fanOut = try fanOut(of: request.seq) }
        guard request.operation == .interact else { return story }
        let interaction = try database.prepare("SELECT verdict FROM interactions WHERE cause = ?1")
        interaction.bind(request.seq.value, at: 1)
        if try interaction.step() { story.verdict = try interaction.value() }
        return story
    }

    // MARK: Streams

    /// Returns every invocation without a result, with its request, in order of `seq` and `n`: a restart finishes
    /// these. The query takes no time if there are none, however large the ledger is.
    public func pendingInvocations() throws(StoreError) -> [(request: AcceptedRequest, invocation: InvocationRecord)] {
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.requests.values()), \(LedgerTable.invocations.values())
            FROM \(LedgerTable.invocations.source) INDEXED BY invocations_pending JOIN \(LedgerTable.requests.source) USING (seq)
            WHERE outcome IS NULL ORDER BY invocations.seq, n
            """)
        var pending: [(request: AcceptedRequest, invocation: InvocationRecord)] = []
        while try statement.step() {
            var row = statement.row()
            pending.append((try AcceptedRequest(reading: &row), try InvocationRecord(reading: &row)))
        }
        return pending
    }

    /// Streams the same invocations without request lines: the request has an empty body, and `byteCount` is its
    /// length.
    public func pendingInvocations(
        _ body: (_ request: AcceptedRequest, _ byteCount: Int, _ invocation: InvocationRecord) throws(StoreError) ->
            Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.requests.values(replacing: ["body": "x''"])), length(requests.body),
                \(LedgerTable.invocations.values())
            FROM \(LedgerTable.invocations.source) INDEXED BY invocations_pending JOIN \(LedgerTable.requests.source) USING (seq)
            WHERE outcome IS NULL ORDER BY invocations.seq, n
            """)
        while try statement.step() {
            var row = statement.row()
            let (request, byteCount) = (try AcceptedRequest(reading: &row), try row.next() as Int)
            try body(request, byteCount, try InvocationRecord(reading: &row))
        }
    }

    /// Returns the number of invocations without a result.
    public func pendingInvocationCount() throws(StoreError) -> Int {
        Int(
            try database.integer(
                "SELECT count(*) FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL"))
    }

    /// Returns the line of a request; `nil` if the ledger does not have it.
    public func line(of seq: SequenceNumber) throws(StoreError) -> [UInt8]? {
        let statement = try database.prepare("SELECT body FROM request_rows WHERE seq = ?1")
        statement.bind(seq.value, at: 1)
        return try statement.step() ? statement.bytes(0) : nil
    }

    /// Returns the number of requests accepted at or after `start` and before `end`; `nil` means no bound.
    func acceptedRequests(from start: WallTime? = nil, to end: WallTime? = nil) throws(StoreError) -> Int {
        let statement = try database.prepare(
            "SELECT count(*) FROM request_rows WHERE accepted_at >= ?1 AND accepted_at < ?2")
        statement.bind(start, before: end)
        guard try statement.step() else { return 0 }
        return try statement.value(0)
    }

    /// Streams the requests accepted at or after `start` and before `end`, a row for each invocation and one for a
    /// request without any, in order of `seq` and `n`; `nil` means no bound. Memory is constant.
    public func rows(
        from start: WallTime? = nil, to end: WallTime? = nil, _ body: (LedgerRow) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(Self.rowQuery)
        statement.bind(start, before: end)
        statement.bind(0, at: 3)
        statement.bind(.max, at: 4)
        statement.bind(-1, at: 5)
        while try statement.step() { body(try statement.ledgerRow()) }
    }

    /// Streams the invocations with one of some outcomes, each with the line of its request, of the requests accepted at or
    /// after `start` and before `end`; `nil` means no bound. Memory is constant.
    public func rows(
        endedAs outcomes: [Outcome], from start: WallTime? = nil, to end: WallTime? = nil,
        _ body: (_ row: LedgerRow, _ line: [UInt8]) -> Void
    ) throws(StoreError) {
        let condition = outcomes.map { LedgerTable.invocations.has("outcome", $0) }.joined(separator: " OR ")
        let statement = try database.prepare(
            """
            SELECT \(Self.rowColumns), body
            FROM \(LedgerTable.requests.source) CROSS JOIN \(LedgerTable.invocations.source) USING (seq)
            WHERE accepted_at >= ?1 AND accepted_at < ?2 AND (\(condition))
            ORDER BY requests.seq, n
            """)
        statement.bind(start, before: end)
        while try statement.step() {
            var row = statement.row()
            body(try LedgerRow(reading: &row), row.bytes())
        }
    }

    /// Returns a page of those rows, for printing: a read transaction that waits for a terminal keeps the WAL from
    /// being emptied.
    ///
    /// - Parameters:
    ///   - start: the first time of acceptance; `nil` means no bound.
    ///   - end: the first time of acceptance that is too late; `nil` means no bound.
    ///   - last: the request before the first one of the page.
    ///   - newest: the last request of the listing, fixed when the listing began.
    ///   - limit: the largest number of rows; no request has as many.
    public func rows(
        from start: WallTime?, to end: WallTime?, after last: SequenceNumber, through newest: SequenceNumber,
        limit: Int
    ) throws(StoreError) -> [LedgerRow] {
        let statement = try database.prepare(Self.rowQuery)
        statement.bind(start, before: end)
        statement.bind(last.value, at: 3)
        statement.bind(newest.value, at: 4)
        statement.bind(Int64(limit), at: 5)
        var rows: [LedgerRow] = []
        while try statement.step() { rows.append(try statement.ledgerRow()) }
        // The limit may have cut the rows of the last request.
        if rows.count == limit, let last = rows.last?.seq { rows.removeAll { $0.seq == last } }
        return rows
    }

    /// The columns of a ``LedgerRow``.
    static let rowColumns = """
        requests.seq, operation, id, uid, accepted_at, mode, platform, \(LedgerTable.requests.text("app")), device, \
        message_id, transport, original_priority, delivered_priority, replay_of, \(LedgerTable.invocations.values())
        """

    /// The query of rows. The window limits the numbers first, and then each time, because the clock may have been set
    /// back.
    private static let rowQuery = {
        let window = "request_rows INDEXED BY requests_by_time WHERE accepted_at >= ?1 AND accepted_at < ?2"
        return """
            SELECT \(rowColumns)
            FROM \(LedgerTable.requests.source) LEFT JOIN \(LedgerTable.invocations.source) USING (seq)
            WHERE requests.seq BETWEEN max(?3 + 1, (SELECT min(seq) FROM \(window)))
                    AND min(?4, (SELECT max(seq) FROM \(window)))
                AND accepted_at >= ?1 AND accepted_at < ?2
            ORDER BY requests.seq, n LIMIT ?5
            """
    }()
}

extension Statement {
    /// A row of `LedgerReader.rowColumns`.
    func ledgerRow() throws(StoreError) -> LedgerRow {
        var row = row()
        return try LedgerRow(reading: &row)
    }

    /// Binds a half-open window of time to `?1` and `?2`.
    func bind(_ start: WallTime?, before end: WallTime?) {
        bind(start?.milliseconds ?? .min, at: 1)
        bind(end?.milliseconds ?? .max, at: 2)
    }

    /// Binds the app and the device of a delivery to `?2` and `?3`.
    fileprivate mutating func bind(placeOf reference: DeliveryReference) {
        bind(reference.app, at: 2)
        bind(reference.device, at: 3)
    }
}

extension LedgerRow {
    /// Reads the columns of `LedgerReader.rowColumns`.
    fileprivate init(reading row: inout StatementRow) throws(StoreError) {
        self.init(
            seq: try row.next(), operation: try row.next(), id: row.text(), uid: try row.next(),
            acceptedAt: try row.next(), mode: try row.next(), platform: try row.next(), app: row.text(),
            device: row.text(), messageID: row.text(), transport: try row.next(),
            originalPriority: try row.next(), deliveredPriority: try row.next(),
            replayOf: try row.next(),
            // In the row of a request without invocations their columns are NULL.
            invocation: row.isNull ? nil : try InvocationRecord(reading: &row))
    }
}

/// A statement that reads requests with a number from ?1 to ?2. A reader compiles each one once.
enum RangeStatement: Hashable {
    case requests, invocations, events, eventsOfDelivery, attempts, attemptsLeftOut, deadLetters, replays, entries
    /// The searched texts of each table.
    case textsOfRequests, textsOfInvocations, campaigns
    /// The numbers of the requests whose column has the text ?3.
    case search(LedgerReader.SearchedColumn)
    /// The numbers of the requests with an undecided invocation.
    case undecided

    /// The columns and the table; the condition on the number follows.
    private var selection: String {
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        // Each index is named: the planner would read the whole table in the order that is asked for.
        return switch self {
        case .requests: "\(requests.values()) FROM \(requests.source) WHERE seq"
        case .invocations: "\(invocations.values()) FROM \(invocations.source) WHERE seq"
        case .events: "\(events.values()) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .eventsOfDelivery:
            "\(events.values()) FROM \(events.source) INDEXED BY events_of_delivery WHERE delivery <> seq AND delivery"
        case .attempts: "\(AttemptRecord.table.values()) FROM attempts INDEXED BY attempts_of_request WHERE seq"
        case .attemptsLeftOut: "seq, n, count FROM attempts_left_out WHERE seq"
        case .deadLetters: "\(DeadLetter.table.values()) FROM dead_letters WHERE seq"
        case .replays: "replay_of, seq FROM request_rows INDEXED BY requests_by_replay WHERE replay_of"
        case .entries:
            "cause, \(LedgerTable.entries.values()) FROM entries INDEXED BY entries_of_request WHERE cause"
        case .textsOfRequests:
            "seq, id, message_id, \(requests.text("app")), device, external_id FROM \(requests.source) WHERE seq"
        case .textsOfInvocations, .search(.outcome), .search(.handler), .search(.shown):
            "seq, outcome, \(invocations.text("handler")) FROM \(invocations.source) WHERE seq"
        case .campaigns, .search(.campaign):
            "seq, \(events.text("campaign_id")) FROM \(events.source) INDEXED BY events_by_seq WHERE seq"
        case .search: "seq FROM \(requests.source) WHERE seq"
        case .undecided:
            "seq FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL AND seq"
        }
    }

    /// The rest of the condition.
    private var condition: String {
        guard case .search(let column) = self else { return "" }
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        return switch column {
        case .id: " AND (id = ?3 OR message_id = ?3)"
        case .app: " AND \(requests.text("app")) = ?3"
        case .device: " AND device = ?3"
        case .user: " AND external_id = ?3"
        case .campaign: " AND \(events.text("campaign_id")) = ?3"
        case .outcome, .shown: " AND \(invocations.text("outcome")) = ?3"
        case .handler: " AND \(invocations.text("handler")) = ?3"
        }
    }

    private var order: String {
        switch self {
        case .requests, .attemptsLeftOut, .replays, .textsOfRequests, .textsOfInvocations, .campaigns, .search,
            .undecided:
            "seq"
        case .invocations, .deadLetters: "seq, n"
        case .events, .eventsOfDelivery: "seq, cursor"
        case .attempts, .entries: "number"
        }
    }

    var sql: String { "SELECT \(selection) BETWEEN ?1 AND ?2\(condition) ORDER BY \(order)" }
}
