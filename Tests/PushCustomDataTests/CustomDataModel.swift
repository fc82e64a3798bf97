@testable import PushModel
@testable import PushRouter

/// A model of `CustomData`, written for clarity: one array has every entry with its state, and every query searches all
/// of it. The model checks nothing: its inputs are valid.
struct CustomDataModel {
    private struct Row {
        var entry: CustomEntry
        var state: EntryState
        var claimant: UUID128?
        /// The run that has the entry while it is still queued on disk.
        var reserver: UUID128?
    }

    var rules: CustomDataRules
    private var rows: [Row] = []
    private(set) var events: [AnalyticsEvent] = []
    private(set) var moves: [EntryMove] = []
    private(set) var entries: [CustomEntry] = []

    init(rules: CustomDataRules) { self.rules = rules }

    /// Clears the output of a turn.
    mutating func clear() {
        events = []
        moves = []
        entries = []
    }

    var summary: CustomDataSummary {
        func count(_ state: EntryState) -> Int { rows.count { $0.state == state } }
        var summary = CustomDataSummary()
        summary.pending = count(.pending)
        let reserved = rows.count { $0.reserver != nil }
        summary.queued = count(.queued) - reserved
        summary.claimed = count(.claimed) + reserved
        summary.unknown = count(.unknown)
        let waiting = rows.filter { [.pending, .queued, .claimed, .unknown].contains($0.state) }
        summary.bytes = waiting.reduce(0) { $0 + ($1.entry.name?.utf8.count ?? 0) + $1.entry.data.count }
        summary.oldestUnsent = rows.first { [.queued, .claimed].contains($0.state) }?.entry.savedAt
        return summary
    }

    var unknownEntries: [EntryNumber] { rows.filter { $0.state == .unknown }.map(\.entry.number) }

    /// - Returns: whether there was room.
    mutating func log(_ name: String, _ data: String, _ source: EntrySource, now: WallTime) -> Bool {
        let time = min(source.at, now)
        let waiting = rows.count { [.pending, .queued, .claimed, .unknown].contains($0.state) }
        guard waiting < rules.pendingMax else {
            add(source, name: name, data: "", .rejected, at: time, now: now)
            return false
        }
        if case .stored = source.destination {
            add(source, name: name, data: data, .pending, at: time, now: now)
        } else {
            add(source, name: name, data: data, .queued, at: time, now: now)
        }
        return true
    }

    private mutating func add(
        _ source: EntrySource, name: String, data: String, _ state: EntryState, at time: WallTime, now: WallTime
    ) {
        let entry = CustomEntry(
            number: EntryNumber(Int64(rows.count + 1)), cause: source.cause, kind: .customEvent,
            destination: source.destination,
            platform: source.platform, app: source.app, device: source.device, externalID: source.externalID,
            name: name, data: Array(data.utf8), time: time, savedAt: now)
        rows.append(Row(entry: entry, state: state))
        entries.append(entry)
    }

    mutating func flush(_ session: SessionStart, suite: String?, now: WallTime) -> Int {
        var count = 0
        for index in rows.indices where rows[index].state == .pending {
            let entry = rows[index].entry
            guard entry.app == nil || entry.app == session.app, entry.device == nil || entry.device == session.device,
                entry.externalID == nil || entry.externalID == session.externalID,
                suite == nil || entry.suite == suite
            else { continue }
            count += 1
            let time = rules.eventTime == .saved ? entry.time : session.at
            events.append(
                AnalyticsEvent(
                    id: AnalyticsEvent.identifier(
                        state: CustomDataBench.stateID, number: SequenceNumber(entry.number.value), kind: .customEvent),
                    time: time.seconds, seq: session.cause ?? entry.cause,
                    delivery: session.cause ?? entry.cause, externalUserID: session.externalID,
                    deviceID: entry.device ?? session.device, appID: entry.app ?? session.app,
                    platform: session.cause == nil ? entry.platform : session.platform,
                    content: .customEvent(
                        name: entry.name ?? "", properties: String(decoding: entry.data, as: UTF8.self))))
            let user = session.externalID
            let owner = entry.brazeID.map(UserIdentifier.brazeID) ?? user.map(UserIdentifier.externalID)
            let isUnsent = rules.sendsFlushed && owner == nil
            move(
                index, .flushed, at: now, by: session.cause,
                reason: isUnsent
                    ? "not sent to the endpoint: the session has no user (SendFlushed=yes)" : nil)
            guard rules.sendsFlushed, let profile = owner else { continue }
            let source = EntrySource(
                cause: session.cause ?? entry.cause, destination: .sent(profile), platform: entry.platform,
                app: entry.app ?? session.app, device: entry.device ?? session.device, externalID: user, at: time)
            add(
                source, name: entry.name ?? "", data: String(decoding: entry.data, as: UTF8.self), .queued, at: time,
                now: now)
        }
        return count
    }

    mutating func reset(suite: String, app: String?, now: WallTime) -> Int {
        let found = rows.indices.filter {
            rows[$0].state == .pending && rows[$0].entry.suite == suite
                && (app == nil || rows[$0].entry.app == app)
        }
        for index in found { move(index, .discarded, at: now) }
        return found.count
    }

    mutating func claim(
        by claimant: UUID128, isReserving: Bool, limit: Int, bytes: Int, now: WallTime
    ) -> [CustomEntry] {
        for index in rows.indices where rows[index].state == .claimed && rows[index].claimant != claimant {
            let reason = "the forwarder ended after it had begun to send the entry and before it reported the answer"
            move(index, rules.onUnknown == .hold ? .unknown : .queued, at: now, reason: reason)
        }
        for index in rows.indices where rows[index].reserver != claimant { rows[index].reserver = nil }
        var taken: [CustomEntry] = []
        var size = 0
        for index in rows.indices where rows[index].state == .queued && rows[index].reserver == nil {
            let entry = rows[index].entry
            size += (entry.name?.utf8.count ?? 0) + entry.data.count
            guard taken.count < limit, taken.isEmpty || size <= bytes else { break }
            taken.append(entry)
            if isReserving {
                rows[index].reserver = claimant
            } else {
                move(index, .claimed, at: now, claimant: claimant)
            }
        }
        return taken
    }

    mutating func depart(_ number: EntryNumber, by claimant: UUID128, now: WallTime) -> Bool {
        guard let index = index(number) else { return false }
        guard rows[index].reserver == claimant else {
            return rows[index].state == .claimed && rows[index].claimant == claimant
        }
        move(index, .claimed, at: now, claimant: claimant)
        return true
    }

    /// Queues again the entries that were reserved but not announced.
    mutating func restart() { for index in rows.indices { rows[index].reserver = nil } }

    mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by claimant: UUID128, now: WallTime
    ) -> Bool {
        guard let index = index(number) else { return false }
        let goesBack = state == .unknown && rules.onUnknown == .retry
        let state = goesBack ? .queued : state
        if rows[index].reserver == claimant {
            rows[index].reserver = nil
            if state != .queued { move(index, state, at: now, reason: reason) }
            return true
        }
        guard rows[index].state == .claimed, rows[index].claimant == claimant else { return false }
        move(index, state, at: now, reason: reason)
        return true
    }

    mutating func resolve(_ number: EntryNumber, _ state: EntryState, now: WallTime) -> Bool {
        guard let index = index(number),
            rows[index].state == .unknown || rows[index].state == .queued && state == .discarded
        else { return false }
        move(index, state, at: now)
        return true
    }

    private func index(_ number: EntryNumber) -> Int? { rows.firstIndex { $0.entry.number == number } }

    private mutating func move(
        _ index: Int, _ state: EntryState, at now: WallTime, by: SequenceNumber? = nil, claimant: UUID128? = nil,
        reason: String? = nil
    ) {
        rows[index].state = state
        rows[index].claimant = claimant
        rows[index].reserver = nil
        moves.append(
            EntryMove(
                number: rows[index].entry.number, state: state, at: now, by: by, claimant: claimant, reason: reason))
    }
}

extension CustomEntry {
    fileprivate var suite: String? { if case .stored(let suite, _) = destination { suite } else { nil } }
    fileprivate var brazeID: String? { if case .stored(_, let brazeID) = destination { brazeID } else { nil } }
}
