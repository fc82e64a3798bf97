/// Whom an erasure is about: a user with the devices that are the user's, or devices alone.
public struct Person: Hashable, Sendable {
    /// The user; `nil`: whoever used the devices.
    public var externalID: String?
    /// The devices.
    public var devices: Set<ExactName>

    public init(externalID: String?, devices: [String] = []) {
        self.externalID = externalID
        self.devices = Set(devices.map(ExactName.init))
    }

    /// Whether what names this user and this device is the person's. What names another user never is where the person is a
    /// user, though a device may be shared; what names no user is the person's by the device.
    public func includes(user: String?, device: String?) -> Bool {
        if let externalID, let user { return user.isSame(as: externalID) }
        return device.map { devices.contains(ExactName($0)) } ?? false
    }
}

/// How far an erasure goes: what was accepted after it is not touched.
public struct ErasureBound: Hashable, Sendable {
    /// The last request.
    public var request: SequenceNumber
    /// The last entry of custom data.
    public var entry: EntryNumber

    public init(request: SequenceNumber, entry: EntryNumber) {
        (self.request, self.entry) = (request, entry)
    }
}
