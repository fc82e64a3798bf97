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

/// The statements that write custom data.
final class CustomDataRows {
    private var moveEntry: RowStatement
    private var selectAttribute: Statement
    private var replaceAttribute: Statement
    private var deleteAttribute: Statement
    private let path: String

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        moveEntry = try RowStatement(
            """
            UPDATE entries SET state = ?2, settled_at = ?3, settled_by = ?4, claimant = ?5, reason = ?6,
                reason_code = CASE ?2 WHEN '\(EntryState.rejected.rawValue)'
                    THEN '\(RejectionCode.blamedByEndpoint.rawValue)' END
            WHERE number = ?1
            """, count: 6, database)
        let isField = "WHERE anonymous = ?1 AND owner = ?2 AND kind = ?3 AND name = ?4"
        selectAttribute = try database.prepare("SELECT value FROM attributes \(isField)")
        replaceAttribute = try database.prepare(AttributeRecord.table.insertion("INSERT OR REPLACE"))
        deleteAttribute = try database.prepare("DELETE FROM attributes \(isField)")
    }

    /// Changes an entry's state.
    func move(_ values: RowValues) throws(StoreError) {
        try moveEntry.run(values)
        guard moveEntry.changes != 1 else { return }
        var values = values
        let number = try reading { () throws(RowError) in try values.integer() }
        throw StoreError(
            .contradiction, message: "a row changes entry \(number) of custom data, which the ledger does not have",
            context: path)
    }

    /// Changes a field of a profile. The new value may depend on the stored one, so the change is applied here, at the
    /// ledger.
    func change(_ values: RowValues) throws(StoreError) {
        var values = values
        let row = try reading { () throws(RowError) in try AttributeRow(reading: &values) }
        guard let value = row.change.apply(to: try value(of: row)) else {
            deleteAttribute.bind(keyOf: row)
            return try deleteAttribute.run()
        }
        replaceAttribute.bind(keyOf: row)
        replaceAttribute.bind(String(decoding: plainly(value), as: UTF8.self), at: 5)
        replaceAttribute.bind(row.at.milliseconds, at: 6)
        replaceAttribute.bind(row.entry.value, at: 7)
        try replaceAttribute.run()
    }

    private func value(of row: AttributeRow) throws(StoreError) -> [UInt8]? {
        // The changes `set` and `remove` do not depend on the old value.
        switch row.change {
        case .set, .remove: return nil
        case .add, .drop, .increment: break
        }
        selectAttribute.bind(keyOf: row)
        defer { selectAttribute.reset() }
        return try selectAttribute.step() ? selectAttribute.bytes(0) : nil
    }
}

/// Removes needless escapes from a string, or from an array with strings, so that equal texts are equal bytes: many
/// producers write `caf\u00e9`.
private func plainly(_ value: [UInt8]) -> [UInt8] {
    guard value.contains(UInt8(ascii: "\\")),
        let document = try? JSONDocument(scanning: value, limits: JSONLimits(depth: .max))
    else { return value }
    var writer = JSONWriter(reserving: value.count)
    switch document.root.kind {
    case .string: writer.write(plainly: document.root)
    case .array: writer.array { list in document.root.elements.forEach { list.write(plainly: $0) } }
    case .object, .number, .bool, .null: return value
    }
    return writer.bytes
}

extension JSONWriter {
    fileprivate mutating func write(plainly node: JSONNode) {
        if let text = node.string { string(text) } else { raw(node.rawBytes) }
    }
}

// Parameters: ?1 is column 0.
extension Statement {
    /// Binds the key of `attributes`.
    fileprivate mutating func bind(keyOf row: AttributeRow) {
        bind(row.owner)
        bind(row.kind.rawValue, at: 3)
        bind(row.name, at: 4)
    }

    /// Binds the owner of a profile to `?1` and `?2`.
    mutating func bind(_ owner: ProfileOwner) {
        switch owner {
        case .user(let user):
            bind(0, at: 1)
            bind(user, at: 2)
        case .device(let device):
            bind(1, at: 1)
            bind(device, at: 2)
        }
    }
}
