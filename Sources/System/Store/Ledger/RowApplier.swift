import PushModel

/// Applies the rows of batches to the ledger, within the caller's transaction.
///
/// Most kinds are one statement, to which the values are bound as they lie in the batch. For one thread.
final class RowApplier {
    private var insertRequest: Statement
    private var insertInvocation: Statement
    private var updateInvocation: Statement
    private var insertEvent: Statement
    private var replaceDevice: Statement
    private var deleteDevice: Statement
    private let tracker: TrackerRows
    private let customData: CustomDataRows
    private let history: HistoryRows
    /// The texts that rows share.
    let texts: SharedTexts
    private let gaps: GapRows
    /// What reports add up.
    let figures: FigureRows
    private let path: String
    /// The cursor of the last event.
    var lastCursor: Int64
    /// The highest number of a request that pruning took.
    var pruned: SequenceNumber

    private static let requests = LedgerTable.requests.codings
    private static let invocations = LedgerTable.invocations.codings
    private static let events = LedgerTable.events.codings

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        insertRequest = try database.prepare(
            "INSERT INTO request_rows VALUES (\(parameters(LedgerColumns.requestCount)))")
        insertInvocation = try database.prepare(
            "INSERT INTO invocation_rows VALUES (\(parameters(LedgerColumns.invocationCount)))")
        updateInvocation = try database.prepare(Self.update)
        insertEvent = try database.prepare("INSERT INTO event_rows VALUES (\(parameters(LedgerColumns.eventCount)))")
        replaceDevice = try database.prepare("INSERT OR REPLACE INTO devices VALUES (\(parameters(5)))")
        deleteDevice = try database.prepare("DELETE FROM devices WHERE number = ?1")
        tracker = try TrackerRows(database)
        customData = try CustomDataRows(database)
        history = try HistoryRows(database)
        texts = try SharedTexts(database)
        gaps = try GapRows(database)
        figures = try FigureRows(database)
        lastCursor = try database.number(
            "SELECT max((SELECT highest_cursor FROM meta), (SELECT coalesce(max(cursor), 0) FROM event_rows))")
        pruned = SequenceNumber(try database.number("SELECT highest_seq FROM meta"))
    }

    private static let update = """
        UPDATE invocation_rows SET callback = ?3, provider = ?4, route = ?5, handler = ?6, budget_us = ?7,
            deadline_ns = ?8, started = ?9, outcome = ?10, reason = ?11, queue_us = ?12, exec_us = ?13,
            total_us = ?14, completed_by = ?15, completed_times = ?16, completed_result = ?17,
            completed_options = ?18, decided_at = ?19, observer = ?20, waited_for_seq = ?21, waited_for_n = ?22,
            waited_for_handler = ?23, reason_code = ?24, ahead = ?25, waited_for_us = ?26
        WHERE seq = ?1 AND n = ?2
        """

    /// Applies the rows of batches, in order.
    ///
    /// - Throws: `corrupt` for bytes that are no rows or do not fit what the ledger has; SQLite's errors. The caller rolls
    ///   the transaction back.
    func apply(_ batches: [UnsafeRawBufferPointer]) throws(StoreError) {
        try texts.begin()
        try figures.begin()
        for batch in batches { try apply(batch) }
        try figures.write()
        try tracker.forgetDeliveries(pruned: pruned)
    }

    /// The transaction of the last call was rolled back, by an error in it or by that of its end.
    ///
    /// - Parameter cursor: what ``lastCursor`` was before it.
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
            try insertRequest.run(values, count: LedgerColumns.requestCount, of: Self.requests, texts)
            try figures.add(request: values)
        case .invocation:
            try insertInvocation.run(values, count: LedgerColumns.invocationCount, of: Self.invocations, texts)
            try figures.add(invocation: values)
        case .invocationUpdate:
            try updateInvocation.run(values, count: LedgerColumns.invocationCount, of: Self.invocations, texts)
            try requireOneChange(updateInvocation.changes, values)
            try figures.add(invocation: values)
        case .event:
            lastCursor += 1
            insertEvent.bind(lastCursor, at: 1)
            try insertEvent.run(values, count: LedgerColumns.eventCount - 1, from: 2, of: Self.events, texts)
            try tracker.note(values, cursor: lastCursor)
        case .device: try replaceDevice.run(values, count: 5)
        case .forgottenDevice: try deleteDevice.run(values, count: 1)
        case .trackedDelivery, .openedDelivery, .influencedDelivery, .forgottenDelivery, .interaction, .session,
            .forgottenSession, .starts, .forgottenStarts, .pendingStart, .decidedStart, .heldInteraction,
            .settledInteraction:
            try tracker.apply(kind, values)
        case .entry, .entryProblem, .entryMove, .attribute, .sending: try customData.apply(kind, values)
        case .attempt:
            try history.apply(kind, values)
            try figures.add(attempt: values)
        case .output, .deadLetter, .noDeadLetters: try history.apply(kind, values)
        case .gap, .lifeSign: try gaps.apply(kind, values)
        }
    }

    /// - Throws: `contradiction` where the invocation of a row was not there to be changed.
    private func requireOneChange(_ changes: Int, _ values: RowValues) throws(StoreError) {
        guard changes != 1 else { return }
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        throw StoreError(.contradiction, message: "there is no such invocation of request \(seq)", context: path)
    }
}

extension Statement {
    /// Runs a statement that gives no rows with the values of a row, which are not copied.
    ///
    /// - Parameters:
    ///   - values: the values; they outlive the call.
    ///   - count: how many there must be.
    ///   - first: the parameter of the first; those before it are bound.
    mutating func run(_ values: RowValues, count: Int32, from first: Int32 = 1) throws(StoreError) {
        var values = values
        for index in first..<first + count {
            switch try reading({ () throws(RowError) in try values.next() }) {
            case .null: bind(nil as Int64?, at: index)
            case .integer(let value): bind(value, at: index)
            case .text(let text): bind(lending: text, at: index)
            case .bytes(let bytes): bind(lendingBytes: bytes, at: index)
            }
        }
        guard values.isAtEnd else { throw StoreError.row(RowError(message: "a row has too many values")) }
        try run()
    }
}

extension Statement {
    /// The same for a row of a table that holds numbers for texts. The first value is the request's number.
    ///
    /// - Parameters:
    ///   - codings: what the table's columns hold; a parameter has its column's number.
    ///   - texts: what rows share.
    mutating func run(
        _ values: RowValues, count: Int32, from first: Int32 = 1, of codings: [LedgerTable.Coding], _ texts: SharedTexts
    ) throws(StoreError) {
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        bind(seq, at: first)
        for index in first + 1..<first + count {
            switch try reading({ () throws(RowError) in try values.next() }) {
            case .null: bind(nil as Int64?, at: index)
            case .integer(let value): bind(value, at: index)
            case .text(let text):
                switch codings[Int(index) - 1] {
                case .plain: bind(lending: text, at: index)
                case .word(let words):
                    guard let number = words.number(of: text) else {
                        throw StoreError.row(RowError(message: "value \(index) of a row is no word of its set"))
                    }
                    bind(number, at: index)
                case .shared:
                    bind(try texts.number(of: text, isText: true, usedBy: seq), orLending: text, at: index)
                }
            case .bytes(let bytes):
                guard case .shared = codings[Int(index) - 1],
                    let number = try texts.number(of: bytes, isText: false, usedBy: seq)
                else {
                    bind(lendingBytes: bytes, at: index)
                    continue
                }
                bind(number, at: index)
            }
        }
        guard values.isAtEnd else { throw StoreError.row(RowError(message: "a row has too many values")) }
        try run()
    }

    private func bind(_ number: Int64?, orLending text: UnsafeRawBufferPointer, at index: Int32) {
        if let number { bind(number, at: index) } else { bind(lending: text, at: index) }
    }
}

/// Reads from a row; what cannot be read is an error of the store's.
func reading<Value>(_ read: () throws(RowError) -> Value) throws(StoreError) -> Value {
    do throws(RowError) {
        return try read()
    } catch {
        throw StoreError.row(error)
    }
}

extension StoreError {
    /// A batch that is whole by its checksum has rows that no version of this program writes.
    static func row(_ error: RowError) -> StoreError {
        StoreError(.contradiction, message: error.message, context: "a batch of the log")
    }
}

/// `?1,?2,...`: one for each column.
func parameters(_ count: Int32, from first: Int32 = 1) -> String {
    (first..<first + count).map { "?\($0)" }.joined(separator: ",")
}
