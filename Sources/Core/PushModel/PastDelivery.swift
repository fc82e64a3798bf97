/// A delivery that an interaction names, as the ledger stores it.
public struct PastDelivery: Sendable {
    /// The accepted request: its number, platform, app, device, user and message id.
    public var accepted: AcceptedRequest
    /// The provider of the payload; `nil` if no provider's rule matched.
    public var provider: String?
    /// The request, parsed again from its body (payload, OS version); `nil` if this version of the daemon cannot read
    /// it.
    public var request: DeliverRequest?

    public init(accepted: AcceptedRequest, provider: String?, request: DeliverRequest?) {
        (self.accepted, self.provider, self.request) = (accepted, provider, request)
    }
}

/// One delivery in the FCM process of a device; in order of acceptance they give its list of recent ids.
public struct RecentDelivery: Hashable, Sendable {
    /// The device of an app.
    public var device: DeviceKey
    /// The id that FCM's list of recent messages has for it; `nil` if it does not enter the list.
    public var duplicateID: String?
    /// The state of the app; `nil` if it is unknown.
    public var state: AppState?

    public init(device: DeviceKey, duplicateID: String?, state: AppState?) {
        (self.device, self.duplicateID, self.state) = (device, duplicateID, state)
    }
}
