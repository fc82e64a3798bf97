public import PushModel

extension CustomData {
    /// Returns whether the forwarder holds an entry of the person up to a number, or a removal is under way. Then an
    /// erasure has to wait.
    public func isBusy(with person: Person, through last: EntryNumber) -> Bool {
        guard !isRemoving else { return true }
        let owned = OwnedEntries(by: person, through: last)
        return [claims, reserved].contains { $0.values.contains { $0.values.contains(where: owned.has) } }
    }

    /// Removes the person's waiting entries up to a number from memory, in linear time. Writes no record: the caller
    /// deletes the rows.
    public mutating func forget(_ person: Person, through last: EntryNumber) {
        let owned = OwnedEntries(by: person, through: last)
        var entries = stored.takeAll(through: last, where: person.includes)
        while let held = entries.popFirst() { bytes -= held.size }
        for held in queue.remove(where: owned.has) { bytes -= held.size }
        for held in unknown.remove(where: owned.has) { bytes -= held.size }
    }
}

/// Finds a person's entries by their device and user, or by the profile that they name. Compares the bytes in place,
/// and tests `nameBits` first, because there may be very many entries.
private struct OwnedEntries {
    private let person: Person
    private let user: [UInt8]?
    private let bits: UInt64
    private let last: EntryNumber

    init(by person: Person, through last: EntryNumber) {
        (self.person, self.last) = (person, last)
        user = person.externalID.map { Array($0.utf8) }
        bits = person.devices.reduce(person.externalID.map(HeldEntry.bit) ?? 0) { $0 | HeldEntry.bit(of: $1.text) }
    }

    func has(_ held: HeldEntry) -> Bool {
        guard held.number <= last, held.mayName(bits) else { return false }
        guard let user else { return isFromDevice(held) }
        if held.isSent(to: user) { return true }
        let isFromUser = held.withUser { text in
            text.map { text in user.withUnsafeBufferPointer { text.isSame(as: $0) } }
        }
        return isFromUser ?? isFromDevice(held)
    }

    private func isFromDevice(_ held: HeldEntry) -> Bool {
        held.withDevice { device in
            device.map { person.devices.contains(ExactName(String(decoding: $0, as: UTF8.self))) } ?? false
        }
    }
}
