public import PushModel

extension CustomData {
    /// Returns whether the forwarder holds an entry of the person, or a removal is under way. Erasing has to wait then.
    public func isBusy(with person: Person) -> Bool {
        guard !isRemoving else { return true }
        let owned = OwnedEntries(by: person)
        return [claims, reserved].contains { $0.values.contains { $0.values.contains(where: owned.has) } }
    }

    /// Removes the person's waiting entries from memory, in linear time. Writes no record: the caller deletes the rows.
    public mutating func forget(_ person: Person) {
        let owned = OwnedEntries(by: person)
        var entries = stored.takeAll(where: person.includes)
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

    init(by person: Person) {
        self.person = person
        user = person.externalID.map { Array($0.utf8) }
        bits = person.devices.reduce(person.externalID.map(HeldEntry.bit) ?? 0) { $0 | HeldEntry.bit(of: $1.text) }
    }

    func has(_ held: HeldEntry) -> Bool {
        guard held.mayName(bits) else { return false }
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
