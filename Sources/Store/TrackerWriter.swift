import PushModel

/// The statements that write what the tracker remembers.
final class TrackerWriter {
    /// A delivery's receipt, by its number.
    private static let receipt = "FROM events WHERE seq = ?1 AND kind = '\(AnalyticsEvent.Kind.received.rawValue)'"

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
    private var lastReceipt: (delivery: SequenceNumber, cursor: Int64)?

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
            DELETE FROM events WHERE cursor IN (SELECT event FROM tracked_deliveries WHERE event <= ?1)
                AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.seq = events.seq)
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

    /// Notes the cursor that an event got.
    func note(_ event: AnalyticsEvent, cursor: Int64) {
        if event.kind == .received { lastReceipt = (event.delivery, cursor) }
    }

    /// Writes one record.
    ///
    /// - Parameters:
    ///   - record: the record; a delivery's receipt was the last one that was written before it.
    ///   - pruned: the highest number of a request that pruning took.
    func write(_ record: TrackerRecord, pruned: SequenceNumber) throws(StoreError) {
        switch record {
        case .delivery(let row):
            guard let lastReceipt, lastReceipt.delivery == row.seq else {
                throw StoreError(.failed, message: "there is no receipt of delivery \(row.seq)", context: path)
            }
            insertDelivery.bind(row, receipt: lastReceipt.cursor)
            try insertDelivery.run(with: row.buttons, at: TrackerColumns.deliveryButtons)
        case .opened(let delivery, let at, let by):
            openDelivery.bind(delivery.value, at: 1)
            openDelivery.bind(at.milliseconds, at: 2)
            openDelivery.bind(by.value, at: 3)
            try openDelivery.run()
        case .influenced(let delivery):
            influenceDelivery.bind(delivery.value, at: 1)
            try influenceDelivery.run()
        case .forgottenDelivery(let delivery): try forget(delivery, pruned: pruned)
        case .interaction(let row): try write(row)
        case .session(let row):
            replaceSession.bind(row)
            try replaceSession.run()
        case .forgottenSession(let number):
            deleteSession.bind(number.value, at: 1)
            try deleteSession.run()
        case .starts(let row):
            replaceStarts.bind(row)
            try replaceStarts.run(with: row.starts.flatMap(\.bytes), at: TrackerColumns.startsTimes)
        case .forgottenStarts(let number):
            deleteStarts.bind(number.value, at: 1)
            try deleteStarts.run()
        case .pendingStart(let start):
            insertPendingStart.bind(start)
            try insertPendingStart.run()
        case .decidedStart(let cause):
            deletePendingStart.bind(cause.value, at: 1)
            try deletePendingStart.run()
        case .held(let waiting):
            insertHeld.bind(waiting)
            try insertHeld.run()
        case .settled(let cause):
            deleteHeld.bind(cause.value, at: 1)
            try deleteHeld.run()
        }
    }

    /// Forgets a delivery and all before it: the tracker forgets the oldest first, and those that were too many for it to
    /// be given back with them.
    private func forget(_ delivery: SequenceNumber, pruned: SequenceNumber) throws(StoreError) {
        guard let cursor = try cursor(ofReceipt: delivery) else { return }
        // Pruning left the receipts of what was remembered.
        if delivery <= pruned {
            deleteReceipts.bind(cursor, at: 1)
            try deleteReceipts.run()
        }
        deleteButtons.bind(cursor, at: 1)
        try deleteButtons.run()
        deleteDeliveries.bind(cursor, at: 1)
        try deleteDeliveries.run()
    }

    private func cursor(ofReceipt delivery: SequenceNumber) throws(StoreError) -> Int64? {
        findReceipt.bind(delivery.value, at: 1)
        defer { findReceipt.reset() }
        return try findReceipt.step() ? findReceipt.integer(0) : nil
    }

    private func write(_ row: InteractionRow) throws(StoreError) {
        insertInteraction.bind(row)
        try insertInteraction.run()
        guard row.buttonAction == .close, let delivery = row.delivery, let button = row.button else { return }
        insertButton.bind(delivery.value, at: 1)
        insertButton.bind(button, at: 2)
        try insertButton.run()
    }
}

/// `?1,?2,...`: one for each column.
func parameters(_ count: Int32) -> String {
    (1...count).map { "?\($0)" }.joined(separator: ",")
}

extension WallTime {
    /// The milliseconds, the most significant byte first.
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: milliseconds.bigEndian) { Array($0) } }
}
