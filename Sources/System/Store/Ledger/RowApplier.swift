public import PushModel

/// Applies the rows of batches to the ledger, within the caller's transaction.
///
/// Most kinds of rows take one statement, to which the values are bound in place, in the batch. For one thread.
final class RowApplier {
    private var insertRequest: RowStatement
    private var insertInvocation: RowStatement
    private var updateInvocation: RowStatement
    private var insertEvent: RowStatement
    private var insertEntry: RowStatement
    private var replaceSending: RowStatement
    private var replaceLifeSign: RowStatement
    private var insertProducer: RowStatement
    private var replaceConfiguration: RowStatement
    private var devices: DeviceRows
    private var insertFanOut: RowStatement
    private var updateFanOut: RowStatement
    private var sessions: KeyedRows
    private var starts: KeyedRows
    private var pendingStarts: KeyedRows
    private var heldInteractions: KeyedRows
    private let tracker: TrackerRows
    private let customData: CustomDataRows
    private let history: HistoryRows
    /// The dead letters in numbers.
    var deadLetters: DeadLetterCounter { history.deadLetters }
    /// The texts that rows share.
    let texts: SharedTexts
    private let gaps: GapRows
    private let audit: AuditRows
    /// The figures, which reports add up.
    let figures: FigureRows
    private let path: String
    /// The cursor of the last event.
    var lastCursor: Int64
    /// The highest number of a request that pruning removed.
    var pruned: SequenceNumber

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        texts = try SharedTexts(database)
        let (requests, invocations, events) = (LedgerTable.requests, LedgerTable.invocations, LedgerTable.events)
        insertRequest = try RowStatement(requests.insertion(), of: requests, database, texts: texts)
        insertInvocation = try RowStatement(invocations.insertion(), of: invocations, database, texts: texts)
        updateInvocation = try RowStatement(invocations.update, of: invocations, database, texts: texts)
        insertEvent = try RowStatement(events.insertion(), of: events, database, texts: texts)
        insertEntry = try RowStatement(LedgerTable.entries.insertion(), of: LedgerTable.entries, database)
        let (sending, life, replace) = (SendingState.table, LifeSign.table, "INSERT OR REPLACE")
        replaceSending = try RowStatement(sending.insertion(replace), of: sending, database)
        replaceLifeSign = try RowStatement(life.insertion(replace), of: life, database)
        insertProducer = try RowStatement(Producer.table.insertion(), of: Producer.table, database)
        let configurations = ConfigurationPeriod.table
        replaceConfiguration = try RowStatement(configurations.insertion(replace), of: configurations, database)
        devices = try DeviceRows(database)
        insertFanOut = try RowStatement(FanOut.table.insertion(), of: FanOut.table, database)
        updateFanOut = try RowStatement(
            """
            UPDATE fan_outs SET made = ?2, left_out = ?3, devices = CASE WHEN ?2 + ?3 < members THEN devices END
            WHERE seq = ?1
            """, count: 3, database)
        sessions = try KeyedRows(SessionRow.table, replace, database)
        starts = try KeyedRows(StartsRow.table, replace, database)
        pendingStarts = try KeyedRows(PendingStart.table, "INSERT", database)
        heldInteractions = try KeyedRows(HeldInteraction.table, "INSERT", database)
        tracker = try TrackerRows(database)
        customData = try CustomDataRows(database)
        history = try HistoryRows(database)
        gaps = try GapRows(database)
        audit = try AuditRows(database)
        figures = try FigureRows(database)
        lastCursor = try database.number(
            "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM event_rows))")
        pruned = SequenceNumber(try database.number("SELECT highest_seq FROM meta"))
    }

    /// Applies the rows of batches, in order.
    ///
    /// - Throws: `corrupt` for bytes that are no rows, or for rows that do not fit the ledger; SQLite's errors. The
    ///   caller rolls the transaction back.
    func apply(_ batches: [UnsafeRawBufferPointer]) throws(StoreError) {
        try texts.begin()
        try figures.begin()
        for batch in batches { try apply(batch) }
        try figures.write()
        try tracker.forgetDeliveries(pruned: pruned)
    }

    /// Discards the cached state after the transaction of the last call was rolled back.
    ///
    /// - Parameter cursor: the value of ``lastCursor`` before the transaction.
    func rollBack(to cursor: Int64) {
        lastCursor = cursor
        tracker.reset()
    }

    private func apply(_ batch: UnsafeRawBufferPointer) throws(StoreError) {
        var reader = RowReader(batch)
        while let (kind, values) = try reading({ () throws(RowError) in try reader.next() }) {
            try apply(kind, values)
        }
    }

    private func apply(_ kind: RowKind, _ values: RowValues) throws(StoreError) {
        switch kind {
        case .request:
            try insertRequest.run(values)
            try figures.add(request: values)
        case .invocation:
            try insertInvocation.run(values)
            try figures.add(invocation: values)
        case .invocationUpdate:
            try updateInvocation.run(values)
            try requireOneChange(updateInvocation.changes, values)
            try figures.add(invocation: values)
        case .event:
            lastCursor += 1
            try insertEvent.run(values, key: lastCursor)
            try tracker.note(values, cursor: lastCursor)
        case .device: try devices.replace(former: values)
        case .deviceFacts: try devices.replace(values)
        case .forgottenDevice: try devices.forget(values)
        case .subscriptions: try devices.change(values)
        case .fanOut: try insertFanOut.run(values)
        case .fanOutProgress: try updateFanOut.run(values)
        case .trackedDelivery: try tracker.add(values)
        case .openedDelivery: try tracker.open.run(values)
        case .influencedDelivery: try tracker.influence.run(values)
        case .forgottenDelivery: try tracker.forget(values)
        case .interaction: try tracker.add(interaction: values)
        case .session: try sessions.insert(values)
        case .forgottenSession: try sessions.delete(values)
        case .starts: try starts.insert(values)
        case .forgottenStarts: try starts.delete(values)
        case .pendingStart: try pendingStarts.insert(values)
        case .decidedStart: try pendingStarts.delete(values)
        case .heldInteraction: try heldInteractions.insert(values)
        case .settledInteraction: try heldInteractions.delete(values)
        case .entry: try insertEntry.run(values)
        case .entryMove: try customData.move(values)
        case .attribute: try customData.change(values)
        case .sending: try replaceSending.run(values, key: 1)
        case .attempt:
            try history.add(values)
            try figures.add(attempt: values)
        case .output: try history.updateOutput.run(values)
        case .deadLetter: try history.add(deadLetter: values)
        case .noDeadLetters: try history.removeDeadLetters(values)
        case .gap: try gaps.add(values)
        case .lifeSign: try replaceLifeSign.run(values, key: 1)
        case .producer: try insertProducer.run(values)
        case .configuration: try replaceConfiguration.run(values)
        case .audit: try audit.add(values)
        case .pruning, .erasure: throw .row(RowError(message: "an order is not alone in its batch"))
        }
    }

    /// - Throws: `contradiction` if the ledger lacks the invocation of an update.
    private func requireOneChange(_ changes: Int, _ values: RowValues) throws(StoreError) {
        guard changes != 1 else { return }
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        throw StoreError(
            .contradiction, message: "a row changes an invocation of request \(seq) that the ledger does not have",
            context: path)
    }
}

/// One line of the report: an invocation and the facts of its request, without the body; or a request that has none.
public struct LedgerRow: Hashable, Sendable {
    /// The request's number.
    public var seq: SequenceNumber
    /// The operation of the request.
    public var operation: Operation
    /// The producer's own id.
    public var id: String?
    /// The user id of the producer.
    public var uid: UInt32
    /// The time of acceptance.
    public var acceptedAt: WallTime
    /// The mode of the request: device or relay.
    public var mode: DispatchMode
    /// The platform.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device.
    public var device: String?
    /// The payload's own id.
    public var messageID: String?
    /// The transport of a delivery; `nil` unless it is one.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM; `nil` if the payload does not have it.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` if the payload does not have it.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` if a producer sent it.
    public var replayOf: SequenceNumber?
    /// The invocation, without a result while it is in flight; `nil` if the request led to none.
    public var invocation: InvocationRecord?
}

extension StoredRange {
    /// The numbers of a ledger from elsewhere, which leave room for new numbers.
    static let restoredNumber: ClosedRange<Int64> = 0...1 << 61
    /// The numbers that a salvage keeps. It skips some numbers behind them, and a restore skips more.
    static let salvagedNumber: ClosedRange<Int64> = 0...1 << 60
    /// Minutes of figures, with the one behind the last.
    static let minute: ClosedRange<Int64> = 0...FigureMinute.limit
    /// The places of figures of minutes.
    static let place: ClosedRange<Int64> = 0...FigureTable.place(FigureMinute.limit) - 1
}

extension Database {
    /// The highest numbers of requests, events and entries that a ledger has given, in this order.
    func highestNumbers() throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        for (deleted, key, table) in [
            ("highest_seq", "seq", "request_rows"), ("highest_cursor", "cursor", "event_rows"),
            ("highest_entry", "number", "entries"),
        ] {
            numbers.append(
                try integer(
                    "SELECT max((SELECT \(deleted) FROM meta), (SELECT coalesce(max(\(key)), 0) FROM \(table)))"))
        }
        return numbers
    }

    /// Throws if a number is so high that a ledger with later numbers is refused: it was damaged, and no later number may
    /// be given.
    func requireRoomForNumbers() throws(StoreError) {
        for number in try highestNumbers() where !StoredRange.restoredNumber.contains(number) {
            throw StoreError(
                .corrupt,
                message:
                    "the ledger has the number \(number), which is outside the range that leaves room for later ones",
                context: path)
        }
    }

    /// Returns the number of a request, an event or an entry that a query yields.
    ///
    /// - Throws: `corrupt` if it is outside the valid range.
    func number(_ sql: String) throws(StoreError) -> Int64 {
        let number = try integer(sql)
        guard StoredRange.number.contains(number) else {
            throw StoreError(
                .corrupt, message: "the ledger has the number \(number), which is outside the valid range",
                context: path)
        }
        return number
    }
}
