/// Names a device of an app.
public struct DeviceKey: Hashable, Sendable {
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String

    /// Joins the parts.
    public init(app: String?, device: String) {
        self.app = app
        self.device = device
    }
}

/// What was last said of a device; it stands in for what a request leaves out.
public struct KnownDevice: Hashable, Sendable {
    /// The request that first named it: the row's key, so that new rows come after all others.
    public var number: SequenceNumber
    /// Which device.
    public var key: DeviceKey
    /// Its platform.
    public var platform: Platform
    /// Its user; `nil`: anonymous.
    public var externalID: String?

    /// Joins the parts.
    public init(number: SequenceNumber, key: DeviceKey, platform: Platform, externalID: String?) {
        self.number = number
        self.key = key
        self.platform = platform
        self.externalID = externalID
    }
}
