/// Names a device of an app.
package struct DeviceKey: Hashable, Sendable {
    /// Package name or bundle id.
    package var app: String?
    /// The device, as the producer names it.
    package var device: String

    /// Joins the parts.
    package init(app: String?, device: String) {
        self.app = app
        self.device = device
    }
}

/// What was last said of a device; it stands in for what a request leaves out.
package struct KnownDevice: Hashable, Sendable {
    /// The request that first named it: the row's key, so that new rows come after all others.
    package var number: SequenceNumber
    /// Which device.
    package var key: DeviceKey
    /// Its platform.
    package var platform: Platform
    /// Its user; `nil`: anonymous.
    package var externalID: String?

    /// Joins the parts.
    package init(number: SequenceNumber, key: DeviceKey, platform: Platform, externalID: String?) {
        self.number = number
        self.key = key
        self.platform = platform
        self.externalID = externalID
    }
}
