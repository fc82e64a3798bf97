import PushModel

extension Tracker {
    /// A session start enters the user's history (T5).
    ///
    /// - Returns: its window in milliseconds; `nil` for a start so late that it counts as none.
    mutating func takeStart(_ source: TrackerSource, now: WallTime, into output: inout TrackerOutput) -> Int64? {
        let owner = texts.retain(source.externalID ?? source.device)
        let app = texts.retain(source.app)
        let isAnonymous = source.externalID == nil
        let slot: UInt32
        if let known = history.find(owner: owner, isAnonymous: isAnonymous, app: app) {
            texts.release(owner)
            texts.release(app)
            slot = known
        } else {
            slot = history.add(.init(owner: owner, app: app, isAnonymous: isAnonymous, since: now.clockSeconds))
            agingHistory.append(slot, used: now.clockSeconds)
        }
        let start = source.at.milliseconds
        var entry = history[slot]
        // So long after the others it begins anew, by its time or by the clock; so long before them it comes too late.
        if Int64(entry.since) < historyHorizon { entry.count = 0 }
        if let latest = entry.latest {
            guard latest.saturatingSubtract(start) <= rules.intervalMax else { return nil }
            if start.saturatingSubtract(latest) > rules.intervalMax { entry.count = 0 }
        }
        let window = entry.window(at: start, rules)
        entry.insert(start)
        entry.since = now.clockSeconds
        history[slot] = entry
        output.records.append(.starts(row(of: slot)))
        forgetOldStarts(into: &output)
        return window
    }

    /// Has the influenced opens of a session start decided at the end of the grace (T6).
    mutating func decideLater(
        _ source: TrackerSource, _ device: UInt32, window: Int64, now: WallTime, into output: inout TrackerOutput
    ) {
        let due = clock.own(now).saturatingAdd(rules.waitMilliseconds)
        let start = PendingStart(
            cause: source.cause, key: key(of: device), externalID: source.externalID, at: source.at, window: window,
            due: clock.wall(due))
        wait(for: start, device, due: due)
        output.records.append(.pendingStart(start))
    }

    mutating func wait(for start: PendingStart, _ device: UInt32, due: Int64) {
        let slot = pendingStarts.insert(start)
        devices[device].pendingStarts += 1
        timers.insert(TrackerTimer(due: due, cause: start.cause, purpose: .pendingStart, slot: slot))
    }

    /// T4, T6, T10: the grace is over.
    mutating func decide(_ timer: TrackerTimer, into output: inout TrackerOutput) {
        guard let start = pendingStarts[timer.slot] else { return }
        pendingStarts.remove(timer.slot, leaving: nil)
        let device = findOrAdd(start.key.device, app: start.key.app)
        var credited = influenced(by: start, device)
        if rules.influencedCredit == .latest {
            let latest = credited.max {
                (deliveries[$0].receivedAt, deliveries[$0].seq) < (deliveries[$1].receivedAt, deliveries[$1].seq)
            }
            credited = latest.map { [$0] } ?? []
        }
        for slot in credited.sorted(by: { deliveries[$0].seq < deliveries[$1].seq }) {
            deliveries[slot].flags.insert(.influenced)
            let delivery = SequenceNumber(deliveries[slot].seq)
            output.records.append(.influenced(delivery))
            guard rules.emitsCampaignEvents(for: start.key.app) else { continue }
            output.events.append(
                event(
                    .influencedOpen, number: delivery, cause: start.cause, about: slot, user: start.externalID,
                    at: start.at))
        }
        output.records.append(.decidedStart(start.cause))
        devices[device].pendingStarts -= 1
        if devices[device].pendingStarts == 0 { unlistOpened(device) }
        releaseIfUnused(device)
    }

    /// The deliveries of a device that a session start is an influenced open of.
    private func influenced(by start: PendingStart, _ device: UInt32) -> [UInt32] {
        guard let user = texts.find(start.externalID) else { return [] }
        var found: [UInt32] = []
        var next = devices[device].newest
        while next != noSlot {
            let entry = deliveries[next]
            let age = start.at.milliseconds.saturatingSubtract(entry.receivedAt)
            if entry.user == user, entry.campaign != TextTable.none, !entry.flags.contains(.influenced), age >= 0,
                age < start.window, !isOpened(entry, at: start)
            {
                found.append(next)
            }
            next = entry.older
        }
        return found
    }

    /// Whether a delivery counts as opened for a session start: the request of its open came before the start's, or the
    /// open was no later than the grace after the start.
    private func isOpened(_ entry: Deliveries.Entry, at start: PendingStart) -> Bool {
        guard entry.flags.contains(.opened) else { return false }
        guard let opening = openings[SequenceNumber(entry.seq)], opening.by >= start.cause else { return true }
        return opening.at.milliseconds.saturatingSubtract(start.at.milliseconds) <= rules.grace.milliseconds
    }

    private mutating func unlistOpened(_ device: UInt32) {
        guard !openings.isEmpty else { return }
        var next = devices[device].newest
        while next != noSlot {
            let slot = next
            next = deliveries[slot].older
            guard deliveries[slot].flags.contains(.opened) else { continue }
            openings[SequenceNumber(deliveries[slot].seq)] = nil
            unlist(slot)
        }
    }

    // MARK: Memory

    /// Starts that were taken in before this are forgotten, in Unix seconds.
    private var historyHorizon: Int64 { clock.seconds.saturatingSubtract(rules.intervalMax / 1000) }

    private mutating func forgetOldStarts(into output: inout TrackerOutput) {
        while let old = agingHistory.popOld(
            before: historyHorizon, tooMany: history.count > rules.rememberUsersMax,
            lastUse: { [history] slot, _ in history[slot].since })
        {
            output.records.append(.forgottenStarts(key(ofStarts: old)))
            texts.release(history[old].owner)
            texts.release(history[old].app)
            history.remove(old)
        }
    }

    private func key(ofStarts slot: UInt32) -> StartsRow.Key {
        let entry = history[slot]
        return StartsRow.Key(
            owner: texts[entry.owner] ?? "", isAnonymous: entry.isAnonymous, app: texts[entry.app])
    }

    private func row(of slot: UInt32) -> StartsRow {
        let entry = history[slot]
        return StartsRow(
            key: key(ofStarts: slot),
            starts: (0..<Int(entry.count)).map { WallTime(milliseconds: entry.starts[$0]) },
            since: WallTime(milliseconds: Int64(entry.since) * 1000))
    }
}
