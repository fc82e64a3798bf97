/// The person of an erasure: a user with the user's devices, or devices alone.
public struct Person: Hashable, Sendable {
    /// The user; `nil`: any user of the devices.
    public var externalID: String?
    /// The devices.
    public var devices: Set<ExactName>

    public init(externalID: String?, devices: [String] = []) {
        self.externalID = externalID
        self.devices = Set(devices.map(ExactName.init))
    }

    /// Whether a row with this user and this device belongs to the person. A row that names another user never does if
    /// the person is a user, since users may share a device. A row without a user belongs to the person by its device.
    public func includes(user: String?, device: String?) -> Bool {
        if let externalID, let user { return user.isSame(as: externalID) }
        return device.map { devices.contains(ExactName($0)) } ?? false
    }
}

/// The bound of an erasure: rows accepted after it stay.
public struct ErasureBound: Hashable, Sendable {
    /// The last request that the erasure covers.
    public var request: SequenceNumber
    /// The last entry of custom data that the erasure covers.
    public var entry: EntryNumber

    public init(request: SequenceNumber, entry: EntryNumber) {
        (self.request, self.entry) = (request, entry)
    }
}
