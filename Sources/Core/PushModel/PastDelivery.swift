/// A delivery that an interaction names, as the ledger stores it.
public struct PastDelivery: Sendable {
    /// The request as it was accepted: its number, platform, app, device, user and message id.
    public var accepted: AcceptedRequest
    /// The provider of the payload; `nil` if no provider's rule matched.
    public var provider: String?
    /// The request, read again from its body; `nil` if this version can no longer read it.
    public var request: DeliverRequest?

    public init(accepted: AcceptedRequest, provider: String?, request: DeliverRequest?) {
        (self.accepted, self.provider, self.request) = (accepted, provider, request)
    }
}

/// The effect of one delivery on a device's FCM process; in order of acceptance these give its list of recent ids.
public struct RecentDelivery: Hashable, Sendable {
    /// The app and the device.
    public var device: DeviceKey
    /// Its id in FCM's list of recent messages; `nil` if it does not get into the list.
    public var duplicateID: String?
    /// The state of the app; `nil` if it is unknown.
    public var state: AppState?

    public init(device: DeviceKey, duplicateID: String?, state: AppState?) {
        (self.device, self.duplicateID, self.state) = (device, duplicateID, state)
    }
}
