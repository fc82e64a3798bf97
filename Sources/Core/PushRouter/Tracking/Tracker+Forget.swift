public import PushModel

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
