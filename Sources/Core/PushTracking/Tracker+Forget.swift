public import PushModel

extension Tracker {
    /// Erases a person: deliveries, sessions, session starts, and pending decisions. Emits no event and no record: the
    /// caller deletes the rows. Linear in the memory of the tracker.
    public mutating func forget(_ person: Person) {
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
        forgetDeliveries(of: includes, &left)
        forgetSessions(of: includes, &left)
        forgetStarts(of: person, user)
        forgetWaiting(of: person, includes, &left)
        for device in left { releaseIfUnused(device) }
    }

    /// - Parameter left: takes the devices that may be unused now.
    private mutating func forgetDeliveries(of includes: (UInt32, UInt32) -> Bool, _ left: inout Set<UInt32>) {
        for slot in deliveries.slots where !deliveries[slot].flags.contains(.erased) {
            let entry = deliveries[slot]
            guard includes(entry.user, entry.device) else { continue }
            unlist(slot)
            closed[SequenceNumber(entry.seq)] = nil
            openings[SequenceNumber(entry.seq)] = nil
            texts.release(entry.user)
            texts.release(entry.campaign)
            deliveries.erase(slot)
            // Its slot is freed in its turn, by age; until then it belongs to the device without a name.
            devices[entry.device].deliveries -= 1
            left.insert(entry.device)
            let nameless = findOrAdd(nil, app: nil)
            devices[nameless].deliveries += 1
            deliveries[slot].device = nameless
        }
    }

    private mutating func forgetSessions(of includes: (UInt32, UInt32) -> Bool, _ left: inout Set<UInt32>) {
        for device in devices.slots {
            guard let session = devices[device].session, includes(session.user, device) else { continue }
            texts.release(session.user)
            devices[device].session = nil
            sessionCount -= 1
            if !session.isOpen { noteStaleTimer() }
            left.insert(device)
        }
    }

    private mutating func forgetStarts(of person: Person, _ user: UInt32?) {
        let owners = Set(person.devices.compactMap { texts.find($0.text) })
        for slot in history.slots {
            let entry = history[slot]
            guard entry.owner != SharedTexts.none,
                entry.isAnonymous ? owners.contains(entry.owner) : entry.owner == user
            else { continue }
            texts.release(entry.owner)
            texts.release(entry.app)
            history.remove(slot)
        }
    }

    private mutating func forgetWaiting(
        of person: Person, _ includes: (UInt32, UInt32) -> Bool, _ left: inout Set<UInt32>
    ) {
        var forgotten: Set<UInt32> = []
        for slot in pendingStarts.slots {
            guard let start = pendingStarts[slot], includes(start.user, start.device) else { continue }
            pendingStarts.remove(slot, leaving: nil)
            forgotten.insert(slot)
            texts.release(start.user)
            devices[start.device].pendingStarts -= 1
            if devices[start.device].pendingStarts == 0 { unlistOpened(start.device) }
            left.insert(start.device)
        }
        // Another start may soon reuse the slot.
        if !forgotten.isEmpty {
            timers.removeAll { $0.purpose == .pendingStart && forgotten.contains($0.slot) }
        }
        for interaction in held.all where person.includes(user: interaction.externalID, device: interaction.device) {
            _ = held.remove(interaction.cause)
            noteStaleTimer()
        }
    }
}
