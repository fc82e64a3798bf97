public import PushModel

extension CustomData {
    /// Whether the forwarder has something of a person, or entries leave their suites right now: they cannot be forgotten then.
    public func isBusy(with person: Person) -> Bool {
        let owned = OwnedEntries(by: person)
        guard !isRemoving else { return true }
        return [claims, reserved].contains { $0.values.contains { $0.values.contains(where: owned.has) } }
    }

    /// Forgets what waits of a person. No record comes of it: whoever asks takes the rows out. Linear in what waits.
    public mutating func forget(_ person: Person) {
        let owned = OwnedEntries(by: person)
        var entries = stored.takeAll(app: nil, where: owned.has)
        while let held = entries.popFirst() { bytes -= held.size }
        for held in queue.remove(where: owned.has) { bytes -= held.size }
        for held in unknown.remove(where: owned.has) { bytes -= held.size }
    }
}

/// Which entries are a person's: by whom they come from, or by the profile that they name. Looks at bytes where they lie, since
/// there may be very many.
private struct OwnedEntries {
    private let person: Person
    private let user: [UInt8]?
    private let devices: ShortHashes

    init(by person: Person) {
        self.person = person
        user = person.externalID.map { Array($0.utf8) }
        devices = ShortHashes(person.devices.lazy.map { $0.text.withBytes(Self.hash) })
    }

    func has(_ held: HeldEntry) -> Bool {
        guard let user else { return isFromDevice(held) }
        if held.isSent(to: user) { return true }
        let isFromUser = held.withUser { text in
            text.map { text in user.withUnsafeBufferPointer { text.isSame(as: $0) } }
        }
        return isFromUser ?? isFromDevice(held)
    }

    private func isFromDevice(_ held: HeldEntry) -> Bool {
        held.withDevice { device in
            guard let device, devices.mayHave(Self.hash(device)) else { return false }
            return person.devices.contains(ExactName(String(decoding: device, as: UTF8.self)))
        }
    }

    private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: WordHash.ofThisProcess(text))
    }
}
