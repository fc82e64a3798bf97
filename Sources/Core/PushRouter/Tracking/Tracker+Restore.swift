public import PushModel

// After a restart the daemon restores a new tracker from the rows: first the pending session starts, then all other
// rows, each kind in the order in which its rows were first written. The next requests forget restored rows that are
// too old or too many.
extension Tracker {
    /// Reserves capacity for the deliveries to restore, which is faster than growing.
    ///
    /// - Parameter deliveries: the number of deliveries.
    public mutating func reserve(deliveries count: Int) { deliveries.reserve(count) }

    /// Restores a session start with a pending decision.
    ///
    /// - Parameters:
    ///   - start: the row.
    ///   - now: the clock; the wait is at most the grace, even if the clock was set meanwhile.
    public mutating func restore(_ start: PendingStart, now: WallTime) {
        clock.read(now)
        let waiting = WaitingStart(
            cause: start.cause, device: findOrAdd(start.key.device, app: start.key.app),
            user: texts.retain(start.externalID), at: start.at, window: start.window)
        wait(for: waiting, due: min(start.due, rules.endOfWait(now)).milliseconds)
    }

    /// Restores a held interaction.
    public mutating func restore(_ waiting: HeldInteraction, now: WallTime) {
        clock.read(now)
        hold(waiting, due: min(waiting.due, rules.endOfWait(now)).milliseconds)
    }

    /// Restores a session.
    public mutating func restore(_ row: SessionRow, now: WallTime) {
        clock.read(now)
        let device = findOrAdd(row.key.device, app: row.key.app)
        var session = Devices.Session(
            user: texts.retain(row.externalID), number: row.number.value, startedAt: row.startedAt.milliseconds,
            since: row.since.clockSeconds, platform: row.platform)
        if let end = row.end {
            session.endedAt = end.at.milliseconds
            session.endedBy = end.by.value
            let latest = now.milliseconds.saturatingAdd(rules.sessionTimeout(on: row.platform)).saturatingAdd(1)
            session.endDue = min(end.due.milliseconds, latest)
            timers.insert(TrackerTimer(due: session.endDue, cause: end.by, purpose: .sessionEnd, slot: device))
        }
        devices[device].session = session
        sessionCount += 1
    }

    /// Restores the session starts of a user.
    public mutating func restore(_ row: StartsRow) {
        var entry = StartHistory.Entry(
            number: row.number.value, owner: texts.retain(row.key.owner), app: texts.retain(row.key.app),
            isAnonymous: row.key.isAnonymous, since: row.since.clockSeconds)
        for start in row.starts { entry.insert(start.milliseconds) }
        _ = history.add(entry)
    }

    /// Restores a delivery with the facts of its receipt.
    public mutating func restore(_ row: TrackedRow, received: TrackedReceipt) {
        let slot = add(
            row, on: findOrAdd(received.deviceID, app: received.appID), isNamed: received.deviceID != nil,
            user: received.externalUserID, campaign: received.campaignID, messageID: received.messageID,
            received.platform)
        if row.isInfluenced { deliveries[slot].flags.insert(.influenced) }
        if let opened = row.opened { markOpened(slot, opened) }
    }

    /// Restores a press of a delivery's close button; call it after restoring the delivery.
    public mutating func restore(closed button: String, of delivery: SequenceNumber) {
        guard deliveries.find(delivery) != nil else { return }
        closed[delivery, default: []].insert(button)
    }
}

extension TrackerRules {
    fileprivate func endOfWait(_ now: WallTime) -> WallTime {
        WallTime(milliseconds: now.milliseconds.saturatingAdd(waitMilliseconds))
    }
}
