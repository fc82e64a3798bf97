import PushModel

/// The statements that write the tracker's state.
final class TrackerRows {
    /// The receipt of a delivery, by the delivery's number, in SQL.
    private static let receipt = """
        FROM \(LedgerTable.events.source) WHERE seq = ?1 AND \(LedgerTable.events.has("kind", AnalyticsEvent.Kind.received))
        """

    private var insertDelivery: RowStatement
    var open: RowStatement
    var influence: RowStatement
    private var findReceipt: Statement
    private var deleteDeliveries: Statement
    private var deleteReceipts: Statement
    private var insertInteraction: RowStatement
    private var insertButton: Statement
    private var deleteButtons: Statement
    private let path: String
    /// The delivery and the cursor of the last receipt that was written. The delivery's row comes next.
    private var lastReceipt: (delivery: Int64, cursor: Int64)?
    /// The last delivery that the tracker forgot in this transaction.
    private var lastForgotten: Int64?

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        insertDelivery = try RowStatement(TrackedRow.table.insertion(), of: TrackedRow.table, database)
        open = try RowStatement(
            "UPDATE tracked_deliveries SET opened_at = ?2, opened_by = ?3 WHERE event = (SELECT cursor \(Self.receipt))",
            count: 3, database)
        influence = try RowStatement(
            "UPDATE tracked_deliveries SET influenced = 1 WHERE event = (SELECT cursor \(Self.receipt))", count: 1,
            database)
        findReceipt = try database.prepare("SELECT cursor \(Self.receipt)")
        deleteDeliveries = try database.prepare("DELETE FROM tracked_deliveries WHERE event <= ?1")
        deleteReceipts = try database.prepare(
            """
            DELETE FROM event_rows WHERE cursor IN (SELECT event FROM tracked_deliveries WHERE event <= ?1)
                AND NOT EXISTS (SELECT 1 FROM request_rows WHERE request_rows.seq = event_rows.seq)
            """)
        insertInteraction = try RowStatement(InteractionRow.table.insertion(), of: InteractionRow.table, database)
        insertButton = try database.prepare("INSERT OR IGNORE INTO closed_buttons SELECT cursor, ?2 \(Self.receipt)")
        deleteButtons = try database.prepare("DELETE FROM closed_buttons WHERE event <= ?1")
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

    /// Adds a delivery; its receipt is the last one that was noted.
    func add(_ values: RowValues) throws(StoreError) {
        var values = values
        let seq = try reading { () throws(RowError) in try values.integer() }
        guard let lastReceipt, lastReceipt.delivery == seq else {
            throw StoreError(.contradiction, message: "there is no receipt of delivery \(seq)", context: path)
        }
        try insertDelivery.run(values, key: lastReceipt.cursor)
    }

    /// Adds the verdict on an interaction.
    func add(interaction values: RowValues) throws(StoreError) {
        try insertInteraction.run(values)
        var values = values
        let row = try reading { () throws(RowError) in try InteractionRow(reading: &values) }
        guard row.buttonAction == .close, let delivery = row.delivery, let button = row.button else { return }
        insertButton.bind(delivery.value, at: 1)
        insertButton.bind(button, at: 2)
        try insertButton.run()
    }

    /// Notes a delivery that the tracker forgot.
    func forget(_ values: RowValues) throws(StoreError) {
        var values = values
        lastForgotten = try reading { () throws(RowError) in try values.integer() }
    }

    /// Deletes the deliveries that the tracker forgot in this transaction, and all before them, once at the end. The
    /// tracker forgets the oldest first, and earlier rows belong to deliveries that a restart left out because they
    /// were too many.
    ///
    /// - Parameter pruned: the highest number of a request that pruning removed.
    func forgetDeliveries(pruned: SequenceNumber) throws(StoreError) {
        guard let delivery = lastForgotten else { return }
        lastForgotten = nil
        guard let cursor = try cursor(ofReceipt: delivery) else { return }
        // Pruning keeps the receipts of remembered deliveries.
        if delivery <= pruned.value {
            deleteReceipts.bind(cursor, at: 1)
            try deleteReceipts.run()
        }
        deleteButtons.bind(cursor, at: 1)
        try deleteButtons.run()
        deleteDeliveries.bind(cursor, at: 1)
        try deleteDeliveries.run()
    }

    /// Discards the noted delivery, because the transaction was rolled back.
    func reset() { lastForgotten = nil }

    private func cursor(ofReceipt delivery: Int64) throws(StoreError) -> Int64? {
        findReceipt.bind(delivery, at: 1)
        defer { findReceipt.reset() }
        return try findReceipt.step() ? findReceipt.integer(0) : nil
    }
}
