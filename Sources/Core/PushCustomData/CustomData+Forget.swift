public import PushModel

extension CustomData {
    /// Whether the forwarder has something of a person, or entries leave their suites right now: they cannot be forgotten then.
    public func isBusy(with person: Person) -> Bool {
        isRemoving || [claims, reserved].contains { $0.values.contains { $0.values.contains { $0.isOf(person) } } }
    }

    /// Forgets what waits of a person. No record comes of it: whoever asks takes the rows out. Linear in what waits.
    public mutating func forget(_ person: Person) {
        var entries = stored.takeAll(app: nil) { $0.isOf(person) }
        while let held = entries.popFirst() { bytes -= held.size }
        for held in queue.remove(where: { $0.isOf(person) }) { bytes -= held.size }
        for held in unknown.remove(where: { $0.isOf(person) }) { bytes -= held.size }
    }
}

extension HeldEntry {
    /// Whether it is a person's: by whom it comes from, or by the profile that it names.
    fileprivate func isOf(_ person: Person) -> Bool {
        if let profile = sentExternalID, Optional(profile).isSame(as: person.externalID) { return true }
        return person.includes(user: externalID, device: device)
    }
}
