public import PushModel
public import PushRouter

/// The tracker's rows as a store would have them, in the order of their first write.
public struct TrackerRows {
    public private(set) var deliveries: [(row: TrackedRow, received: AnalyticsEvent)] = []
    public private(set) var interactions: [InteractionRow] = []
    public private(set) var sessions: [SessionRow] = []
    public private(set) var starts: [StartsRow] = []
    public private(set) var pendingStarts: [PendingStart] = []
    public private(set) var held: [HeldInteraction] = []
    public private(set) var eventIDs: Set<UUID128> = []
    /// The changes that a store would refuse.
    public private(set) var violations: [String] = []

    public init() {}

    /// Writes the decisions of one turn: events and records together, as in one transaction.
    public mutating func write(_ events: [AnalyticsEvent], _ records: [TrackerRecord]) {
        for event in events where !eventIDs.insert(event.id).inserted {
            violations.append("event \(event.id) comes twice: \(event)")
        }
        for record in records { write(record, events) }
    }

    private mutating func write(_ record: TrackerRecord, _ events: [AnalyticsEvent]) {
        switch record {
        case .delivery(let row):
            guard let received = events.first(where: { $0.kind == .received && $0.seq == row.seq }) else {
                return violations.append("delivery \(row.seq) has no receipt")
            }
            deliveries.append((row, received))
        case .opened(let seq, let at, let by):
            update(\.deliveries, where: { $0.row.seq == seq }) { $0.row.opened = .init(at: at, by: by) }
        case .influenced(let seq): update(\.deliveries, where: { $0.row.seq == seq }) { $0.row.isInfluenced = true }
        case .forgottenDelivery(let seq): remove(\.deliveries) { $0.row.seq == seq }
        case .interaction(let row):
            if interactions.contains(where: { $0.cause == row.cause }) { violations.append("\(row) is not new") }
            interactions.append(row)
        case .session(let row): replace(\.sessions, row, number: \.number, owner: \.key)
        case .forgottenSession(let number): remove(\.sessions) { $0.number == number }
        case .starts(let row): replace(\.starts, row, number: \.number, owner: \.key)
        case .forgottenStarts(let number): remove(\.starts) { $0.number == number }
        case .pendingStart(let start): pendingStarts.append(start)
        case .decidedStart(let cause): remove(\.pendingStarts) { $0.cause == cause }
        case .held(let waiting): held.append(waiting)
        case .settled(let cause): remove(\.held) { $0.interaction.cause == cause }
        }
    }

    private mutating func update<Row>(
        _ rows: WritableKeyPath<TrackerRows, [Row]>, where isMeant: (Row) -> Bool, _ change: (inout Row) -> Void
    ) {
        guard let index = self[keyPath: rows].firstIndex(where: isMeant) else {
            return violations.append("there is no row to update")
        }
        change(&self[keyPath: rows][index])
    }

    /// Writes a row under its number. A row of another owner with that number, or another row of its owner, is a
    /// violation.
    private mutating func replace<Row, Owner: Equatable>(
        _ rows: WritableKeyPath<TrackerRows, [Row]>, _ row: Row, number: KeyPath<Row, SequenceNumber>,
        owner: KeyPath<Row, Owner>
    ) {
        func isMeant(_ other: Row) -> Bool { other[keyPath: number] == row[keyPath: number] }
        func isSameOwner(_ other: Row) -> Bool { other[keyPath: owner] == row[keyPath: owner] }
        if let other = self[keyPath: rows].first(where: { isMeant($0) != isSameOwner($0) }) {
            violations.append("\(row) stands beside \(other)")
        }
        self[keyPath: rows].removeAll(where: isMeant)
        self[keyPath: rows].append(row)
    }

    private mutating func remove<Row>(_ rows: WritableKeyPath<TrackerRows, [Row]>, where isMeant: (Row) -> Bool) {
        guard let index = self[keyPath: rows].firstIndex(where: isMeant) else {
            return violations.append("there is no row to delete")
        }
        self[keyPath: rows].remove(at: index)
    }

    /// Returns the tracker as of a restart at `now`.
    public func restored(stateID: UUID128, rules: TrackerRules, now: WallTime) -> Tracker {
        var tracker = Tracker(stateID: stateID, rules: rules)
        for row in pendingStarts { tracker.restore(row, now: now) }
        for row in sessions { tracker.restore(row, now: now) }
        for row in starts { tracker.restore(row) }
        for (row, received) in deliveries { tracker.restore(row, received: TrackedReceipt(received)) }
        for row in interactions where row.buttonAction == .close {
            if let delivery = row.delivery, let button = row.button { tracker.restore(closed: button, of: delivery) }
        }
        for row in held { tracker.restore(row, now: now) }
        return tracker
    }
}

extension TrackedReceipt {
    /// The parts of an event that the ledger restores.
    public init(_ event: AnalyticsEvent) {
        self.init(
            externalUserID: event.externalUserID, deviceID: event.deviceID, appID: event.appID,
            platform: event.platform, campaignID: event.push?.campaignID, messageID: event.push?.messageID)
    }
}
