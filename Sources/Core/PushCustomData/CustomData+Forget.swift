public import PushModel

extension CustomData {
    /// Whether the forwarder has something of a person, or entries leave their suites right now: they cannot be forgotten then.
    public func isBusy(with person: Person) -> Bool {
        guard !isRemoving else { return true }
        let owned = OwnedEntries(by: person)
        return [claims, reserved].contains { $0.values.contains { $0.values.contains(where: owned.has) } }
    }

    /// Forgets what waits of a person. No record comes of it: whoever asks takes the rows out. Linear in what waits.
    public mutating func forget(_ person: Person) {
        let owned = OwnedEntries(by: person)
        var entries = stored.takeAll(where: person.includes)
        while let held = entries.popFirst() { bytes -= held.size }
        for held in queue.remove(where: owned.has) { bytes -= held.size }
        for held in unknown.remove(where: owned.has) { bytes -= held.size }
    }
}

/// Which entries are a person's: by whom they come from, or by the profile that they name. Looks at bytes where they lie, and at
/// few of those, since there may be very many.
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
