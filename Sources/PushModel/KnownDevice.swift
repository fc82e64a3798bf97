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
    /// Which device.
    public var key: DeviceKey
    /// Its platform.
    public var platform: Platform
    /// Its user; `nil`: anonymous.
    public var externalID: String?

    /// Joins the parts.
    public init(key: DeviceKey, platform: Platform, externalID: String?) {
        self.key = key
        self.platform = platform
        self.externalID = externalID
    }
}
