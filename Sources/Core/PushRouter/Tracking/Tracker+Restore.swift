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

extension Tracker {
    /// Forgets a person: deliveries, sessions, session starts and pending decisions. Produces no event and no record;
    /// the caller deletes the rows. Takes time in proportion to all that is remembered.
    ///
    /// - Parameters:
    ///   - person: the person.
    ///   - last: what later requests made stays; `nil`: nothing does.
    public mutating func forget(_ person: Person, through last: SequenceNumber? = nil) {
        let last = last?.value ?? .max
        let user = person.externalID.flatMap { texts.find($0) }
        var named: Set<UInt32> = []
        for device in person.devices {
            var next = devices.first(device.text) ?? noSlot
            while next != noSlot {
                named.insert(next)
                next = devices[next].nextApp
            }
        }
        let isForUser = person.externalID != nil
        func includes(_ owner: UInt32, _ device: UInt32) -> Bool {
            if isForUser, owner != SharedTexts.none { return owner == user }
            return named.contains(device)
        }
        var left = named
        forgetDeliveries(of: includes, through: last, &left)
        forgetSessions(of: includes, through: last, &left)
        forgetStarts(of: person, user, through: last)
        forgetWaiting(of: person, includes, through: last, &left)
        for device in left { releaseIfUnused(device) }
    }

    /// - Parameter left: collects the devices that may be unused afterwards.
    private mutating func forgetDeliveries(
        of includes: (UInt32, UInt32) -> Bool, through last: Int64, _ left: inout Set<UInt32>
    ) {
        for slot in deliveries.slots where !deliveries[slot].flags.contains(.erased) {
            let entry = deliveries[slot]
            guard entry.seq <= last, includes(entry.user, entry.device) else { continue }
            unlist(slot)
            closed[SequenceNumber(entry.seq)] = nil
            openings[SequenceNumber(entry.seq)] = nil
            texts.release(entry.user)
            texts.release(entry.campaign)
            deliveries.erase(slot)
            // The slot stays until it is the oldest; meanwhile it belongs to the unnamed device.
            devices[entry.device].deliveries -= 1
            left.insert(entry.device)
            let nameless = findOrAdd(nil, app: nil)
            devices[nameless].deliveries += 1
            deliveries[slot].device = nameless
        }
    }

    private mutating func forgetSessions(
        of includes: (UInt32, UInt32) -> Bool, through last: Int64, _ left: inout Set<UInt32>
    ) {
        for device in devices.slots {
            guard let session = devices[device].session, session.number <= last, includes(session.user, device) else {
                continue
            }
            texts.release(session.user)
            devices[device].session = nil
            sessionCount -= 1
            if !session.isOpen { noteStaleTimer() }
            left.insert(device)
        }
    }

    private mutating func forgetStarts(of person: Person, _ user: UInt32?, through last: Int64) {
        let owners = Set(person.devices.compactMap { texts.find($0.text) })
        for slot in history.slots {
            let entry = history[slot]
            guard entry.owner != SharedTexts.none, entry.number <= last,
                entry.isAnonymous ? owners.contains(entry.owner) : entry.owner == user
            else { continue }
            texts.release(entry.owner)
            texts.release(entry.app)
            history.remove(slot)
        }
    }

    private mutating func forgetWaiting(
        of person: Person, _ includes: (UInt32, UInt32) -> Bool, through last: Int64, _ left: inout Set<UInt32>
    ) {
        var forgotten: Set<UInt32> = []
        for slot in pendingStarts.slots {
            guard let start = pendingStarts[slot], start.cause.value <= last, includes(start.user, start.device) else {
                continue
            }
            pendingStarts.remove(slot, leaving: nil)
            forgotten.insert(slot)
            texts.release(start.user)
            devices[start.device].pendingStarts -= 1
            if devices[start.device].pendingStarts == 0 { unlistOpened(start.device) }
            left.insert(start.device)
        }
        // Another start may reuse the slot soon.
        if !forgotten.isEmpty {
            timers.removeAll { $0.purpose == .pendingStart && forgotten.contains($0.slot) }
        }
        for interaction in held.all
        where interaction.cause.value <= last
            && person.includes(user: interaction.externalID, device: interaction.device)
        {
            _ = held.remove(interaction.cause)
            noteStaleTimer()
        }
    }
}
