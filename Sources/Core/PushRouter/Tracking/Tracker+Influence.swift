import PushModel

/// A session start whose influenced opens are not decided yet: its row with the tracker's own slots and numbers.
struct WaitingStart: Sendable {
    var cause: SequenceNumber
    /// The slot of the device, which stays while a start is pending on it.
    var device: UInt32
    /// The number of the user's text, with a use of its own.
    var user: UInt32
    var at: WallTime
    /// The window in milliseconds: a delivery can be credited if it was received less than this before.
    var window: Int64
}

extension Tracker {
    /// Adds a session start to the user's history (T5).
    ///
    /// - Returns: its window in milliseconds; `nil` for a start that is too late to count.
    mutating func takeStart(
        _ source: TrackerSource, _ device: UInt32, _ user: UInt32, now: WallTime, into output: inout TrackerOutput
    ) -> Int64? {
        let isAnonymous = user == SharedTexts.none
        let owner = isAnonymous ? texts.retain(source.device) : user
        let app = devices[device].app
        let slot: UInt32
        if let known = history.find(owner: owner, isAnonymous: isAnonymous, app: app) {
            slot = known
        } else {
            texts.retain(owner)
            texts.retain(app)
            slot = history.add(
                .init(
                    number: source.cause.value, owner: owner, app: app, isAnonymous: isAnonymous,
                    since: now.clockSeconds))
        }
        if isAnonymous { texts.release(owner) }
        let start = source.at.milliseconds
        var entry = history[slot]
        // A start long after the others, by its time or by the clock, begins a new history; a start long before them is
        // too late.
        if Int64(entry.since) < historyHorizon { entry.count = 0 }
        if let latest = entry.latest {
            guard latest.saturatingSubtract(start) <= rules.intervalMax else { return nil }
            if forgetsByAge, start.saturatingSubtract(latest) > rules.intervalMax { entry.count = 0 }
        }
        let window = entry.window(at: start, rules)
        entry.insert(start)
        entry.since = now.clockSeconds
        history[slot] = entry
        output.records.append(.starts(row(of: slot)))
        forgetOldStarts(into: &output)
        return window
    }

    /// Schedules the decision on the influenced opens of a session start for the end of the grace (T6).
    mutating func decideLater(
        _ source: TrackerSource, _ device: UInt32, _ user: UInt32, window: Int64, now: WallTime,
        into output: inout TrackerOutput
    ) {
        let due = clock.own(now).saturatingAdd(rules.waitMilliseconds)
        texts.retain(user)
        wait(
            for: WaitingStart(cause: source.cause, device: device, user: user, at: source.at, window: window), due: due)
        output.records.append(
            .pendingStart(
                PendingStart(
                    cause: source.cause, key: key(of: device), externalID: source.externalID, at: source.at,
                    window: window, due: clock.wall(due))))
    }

    mutating func wait(for start: WaitingStart, due: Int64) {
        let slot = pendingStarts.insert(start)
        devices[start.device].pendingStarts += 1
        timers.insert(TrackerTimer(due: due, cause: start.cause, purpose: .pendingStart, slot: slot))
    }

    /// The limit of deliveries credited in one call.
    static let creditedAtOnce = 1000

    /// Decides the influenced opens of a session start after its grace (T4, T6, T10).
    ///
    /// - Parameters:
    ///   - timer: the timer of the session start.
    ///   - room: the bytes of rows that the caller has room for; the last delivery may exceed it.
    ///   - output: receives events and records.
    /// - Returns: whether all are decided. If not, the same timer decides the rest; deliveries already credited are
    ///   skipped.
    mutating func decide(_ timer: TrackerTimer, room: inout Int, into output: inout TrackerOutput) -> Bool {
        guard let start = pendingStarts[timer.slot] else { return true }
        var credited = influenced(by: start)
        if rules.influencedCredit == .latest {
            let latest = credited.max {
                (deliveries[$0].receivedAt, deliveries[$0].seq) < (deliveries[$1].receivedAt, deliveries[$1].seq)
            }
            credited = latest.map { [$0] } ?? []
        }
        let now = credited.prefix(Self.creditedAtOnce).prefix { slot in
            guard room > 0 else { return false }
            room -= rowLength(ofOpen: slot, by: start)
            return true
        }
        emitInfluencedOpens(now, of: start, into: &output)
        guard now.count == credited.count else { return false }
        pendingStarts.remove(timer.slot, leaving: nil)
        output.records.append(.decidedStart(start.cause))
        texts.release(start.user)
        devices[start.device].pendingStarts -= 1
        if devices[start.device].pendingStarts == 0 { unlistOpened(start.device) }
        releaseIfUnused(start.device)
        return true
    }

    /// The bytes of the rows of an influenced open, about.
    private func rowLength(ofOpen slot: UInt32, by start: WaitingStart) -> Int {
        let (place, push) = (key(of: start.device), push(slot))
        let names = [texts[start.user], place.device, place.app, push.campaignID, push.messageID]
        return names.reduce(200) { $0 + ($1?.utf8.count ?? 0) }
    }

    /// Returns the deliveries of which a session start is an influenced open, in the order of their numbers.
    private func influenced(by start: WaitingStart) -> [UInt32] {
        var found: [(seq: Int64, slot: UInt32)] = []
        for slot in devices[start.device].unopened.all {
            let entry = deliveries[slot]
            let age = start.at.milliseconds.saturatingSubtract(entry.receivedAt)
            guard entry.user == start.user, entry.campaign != SharedTexts.none, !entry.flags.contains(.influenced),
                age >= 0, age < start.window, !isOpened(entry, at: start)
            else { continue }
            found.append((entry.seq, slot))
        }
        // Most deliveries have come in the order of their numbers.
        found.sort { $0.seq < $1.seq }
        return found.map(\.slot)
    }

    private mutating func emitInfluencedOpens(
        _ credited: ArraySlice<UInt32>, of start: WaitingStart, into output: inout TrackerOutput
    ) {
        guard !credited.isEmpty else { return }
        deliveries.readAhead(credited)
        let place = key(of: start.device)
        let user = texts[start.user]
        let emitsEvents = rules.emitsCampaignEvents(for: place.app)
        for slot in credited {
            deliveries[slot].flags.insert(.influenced)
            let entry = deliveries[slot]
            let delivery = SequenceNumber(entry.seq)
            output.records.append(.influenced(delivery))
            guard emitsEvents else { continue }
            output.events.append(
                AnalyticsEvent(
                    id: AnalyticsEvent.identifier(state: stateID, number: delivery, kind: .influencedOpen),
                    time: start.at.seconds, seq: start.cause, delivery: delivery, externalUserID: user,
                    deviceID: place.device, appID: place.app, platform: entry.platform,
                    content: .influencedOpen(push(slot))))
        }
    }

    /// Whether a delivery counts as opened for a session start: the request of its open preceded the start's, or the
    /// open was no later than the grace after the start.
    private func isOpened(_ entry: Deliveries.Entry, at start: WaitingStart) -> Bool {
        guard entry.flags.contains(.opened) else { return false }
        guard let opening = openings[SequenceNumber(entry.seq)], opening.by >= start.cause else { return true }
        return opening.at.milliseconds.saturatingSubtract(start.at.milliseconds) <= rules.grace.milliseconds
    }

    mutating func unlistOpened(_ device: UInt32) {
        guard !openings.isEmpty else { return }
        let opened: [UInt32] = devices[device].unopened.all.filter { deliveries[$0].flags.contains(.opened) }
        for slot in opened {
            openings[SequenceNumber(deliveries[slot].seq)] = nil
            deliveries[slot].flags.remove(.listed)
        }
        devices[device].unopened.remove(opened)
    }

    // MARK: Memory

    /// The time in Unix seconds; starts last used before it are forgotten.
    private var historyHorizon: Int64 { horizon(rules.intervalMax / 1000) }

    private mutating func forgetOldStarts(into output: inout TrackerOutput) {
        var left = Self.forgottenAtOnce
        while left > 0,
            let old = history.nextOld(before: historyHorizon, tooMany: history.count > rules.rememberUsersMax)
        {
            left -= 1
            output.records.append(.forgottenStarts(SequenceNumber(history[old].number)))
            texts.release(history[old].owner)
            texts.release(history[old].app)
            history.remove(old)
        }
    }

    private func row(of slot: UInt32) -> StartsRow {
        let entry = history[slot]
        return StartsRow(
            number: SequenceNumber(entry.number),
            key: .init(owner: texts[entry.owner] ?? "", isAnonymous: entry.isAnonymous, app: texts[entry.app]),
            starts: (0..<Int(entry.count)).map { WallTime(milliseconds: entry.starts[$0]) },
            since: WallTime(milliseconds: Int64(entry.since) * 1000))
    }
}
