import PushModel

/// The statements that write what the tracker remembers.
final class TrackerRows {
    /// A delivery's receipt, by its number.
    private static let receipt = """
        FROM \(LedgerTable.events.source) WHERE seq = ?1 AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.received))
        """

    private var insertDelivery: Statement
    private var openDelivery: Statement
    private var influenceDelivery: Statement
    private var findReceipt: Statement
    private var deleteDeliveries: Statement
    private var deleteReceipts: Statement
    private var insertInteraction: Statement
    private var insertButton: Statement
    private var deleteButtons: Statement
    private var replaceSession: Statement
    private var deleteSession: Statement
    private var replaceStarts: Statement
    private var deleteStarts: Statement
    private var insertPendingStart: Statement
    private var deletePendingStart: Statement
    private var insertHeld: Statement
    private var deleteHeld: Statement
    private let path: String
    /// The last receipt that was written: whose, and its cursor. Its delivery's row comes next.
    private var lastReceipt: (delivery: Int64, cursor: Int64)?
    /// The last delivery that was forgotten in this transaction.
    private var lastForgotten: Int64?

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        insertDelivery = try database.prepare(
            "INSERT INTO tracked_deliveries VALUES (\(parameters(TrackerColumns.deliveryCount)))")
        openDelivery = try database.prepare(
            "UPDATE tracked_deliveries SET opened_at = ?2, opened_by = ?3 WHERE event = (SELECT cursor \(Self.receipt))"
        )
        influenceDelivery = try database.prepare(
            "UPDATE tracked_deliveries SET influenced = 1 WHERE event = (SELECT cursor \(Self.receipt))")
        findReceipt = try database.prepare("SELECT cursor \(Self.receipt)")
        deleteDeliveries = try database.prepare("DELETE FROM tracked_deliveries WHERE event <= ?1")
        deleteReceipts = try database.prepare(
            """
            DELETE FROM event_rows WHERE cursor IN (SELECT event FROM tracked_deliveries WHERE event <= ?1)
                AND NOT EXISTS (SELECT 1 FROM request_rows WHERE request_rows.seq = event_rows.seq)
            """)
        insertInteraction = try database.prepare(
            "INSERT INTO interactions VALUES (\(parameters(TrackerColumns.interactionCount)))")
        insertButton = try database.prepare("INSERT OR IGNORE INTO closed_buttons SELECT cursor, ?2 \(Self.receipt)")
        deleteButtons = try database.prepare("DELETE FROM closed_buttons WHERE event <= ?1")
        replaceSession = try database.prepare(
            "INSERT OR REPLACE INTO sessions VALUES (\(parameters(TrackerColumns.sessionCount)))")
        deleteSession = try database.prepare("DELETE FROM sessions WHERE number = ?1")
        replaceStarts = try database.prepare(
            "INSERT OR REPLACE INTO session_starts VALUES (\(parameters(TrackerColumns.startsCount)))")
        deleteStarts = try database.prepare("DELETE FROM session_starts WHERE number = ?1")
        insertPendingStart = try database.prepare(
            "INSERT INTO pending_starts VALUES (\(parameters(TrackerColumns.pendingStartCount)))")
        deletePendingStart = try database.prepare("DELETE FROM pending_starts WHERE cause = ?1")
        insertHeld = try database.prepare(
            "INSERT INTO held_interactions VALUES (\(parameters(TrackerColumns.heldCount)))")
        deleteHeld = try database.prepare("DELETE FROM held_interactions WHERE cause = ?1")
    }

    /// Notes the cursor that an event got, if it is a delivery's receipt.
    ///
    /// - Parameter values: the values of the event's row.
    func note(_ values: RowValues, cursor: Int64) throws(StoreError) {
        var values = values
        try reading { () throws(RowError) in
            let seq = try values.integer()
            _ = try values.next()
            guard case .text(let kind) = try values.next(), kind.elementsEqual(Self.receiptKind) else { return }
            lastReceipt = (seq, cursor)
        }
    }

    private static let receiptKind = Array(AnalyticsEvent.Kind.received.rawValue.utf8)

    /// Applies one row. A delivery's receipt is the last receipt before it.
    func apply(_ kind: RowKind, _ values: RowValues) throws(StoreError) {
        switch kind {
        case .trackedDelivery: try insertDelivery(values)
        case .openedDelivery: try openDelivery.run(values, count: 3)
        case .influencedDelivery: try influenceDelivery.run(values, count: 1)
        case .forgottenDelivery:
            var values = values
            lastForgotten = try reading { () throws(RowError) in try values.integer() }
        case .interaction: try insertInteraction(values)
        case .session: try replaceSession.run(values, count: TrackerColumns.sessionCount)
        case .forgottenSession: try deleteSession.run(values, count: 1)
        case .starts: try replaceStarts.run(values, count: TrackerColumns.startsCount)
        case .forgottenStarts: try deleteStarts.run(values, count: 1)
        case .pendingStart: try insertPendingStart.run(values, count: TrackerColumns.pendingStartCount)
        case .decidedStart: try deletePendingStart.run(values, count: 1)
        case .heldInteraction: try insertHeld.run(values, count: TrackerColumns.heldCount)
        case .settledInteraction: try deleteHeld.run(values, count: 1)
        case .attempt, .output, .deadLetter, .noDeadLetters, .gap, .lifeSign, .request, .invocation, .invocationUpdate,
            .event, .device, .forgottenDevice, .entry, .entryProblem, .entryMove, .attribute, .sending:
            preconditionFailure("\(kind) is no row of the tracker's")
        }
    }

    /// Forgets the deliveries that were forgotten in this transaction, and all before them: the tracker forgets the oldest
    /// first, and those that were too many for it to be given back with them. At the end, once for all.
    ///
    /// - Parameter pruned: the highest number of a request that pruning took.
    func forgetDeliveries(pruned: SequenceNumber) throws(StoreError) {
        guard let delivery = lastForgotten else { return }
        lastForgotten = nil
        guard let cursor = try cursor(ofReceipt: delivery) else { return }
        // Pruning left the receipts of what was remembered.
        if delivery <= pruned.value {
            deleteReceipts.bind(cursor, at: 1)
            try deleteReceipts.run()
        }
        deleteButtons.bind(cursor, at: 1)
        try deleteButtons.run()
        deleteDeliveries.bind(cursor, at: 1)
        try deleteDeliveries.run()
    }

    /// The transaction was rolled back.
    func reset() { lastForgotten = nil }

    private func insertDelivery(_ values: RowValues) throws(StoreError) {
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        guard let lastReceipt, lastReceipt.delivery == seq else {
            throw StoreError(.contradiction, message: "there is no receipt of delivery \(seq)", context: path)
        }
        insertDelivery.bind(lastReceipt.cursor, at: 1)
        try insertDelivery.run(values, count: TrackerColumns.deliveryCount - 1, from: 2)
    }

    private func insertInteraction(_ values: RowValues) throws(StoreError) {
        try insertInteraction.run(values, count: TrackerColumns.interactionCount)
        var values = values
        let closed = try reading { () throws(RowError) -> (delivery: Int64, button: String)? in
            _ = try values.next()
            let delivery = try values.optionalInteger()
            _ = try values.next()
            let button = try values.optionalText()
            let action = try values.optionalName(ButtonAction.self)
            guard action == .close, let delivery, let button else { return nil }
            return (delivery, button)
        }
        guard let closed else { return }
        insertButton.bind(closed.delivery, at: 1)
        insertButton.bind(closed.button, at: 2)
        try insertButton.run()
    }

    private func cursor(ofReceipt delivery: Int64) throws(StoreError) -> Int64? {
        findReceipt.bind(delivery, at: 1)
        defer { findReceipt.reset() }
        return try findReceipt.step() ? findReceipt.integer(0) : nil
    }
}
