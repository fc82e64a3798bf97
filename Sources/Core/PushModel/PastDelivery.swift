/// A delivery that an interaction names, as the ledger has it.
public struct PastDelivery: Sendable {
    /// The request as it was accepted: its number, platform, app, device, user and message id.
    public var accepted: AcceptedRequest
    /// Whose payload it was; `nil` when no provider's rule matched.
    public var provider: String?
    /// What was asked, read again: payload, version of the system; `nil` if this version cannot read it any more.
    public var request: DeliverRequest?

    public init(accepted: AcceptedRequest, provider: String?, request: DeliverRequest?) {
        (self.accepted, self.provider, self.request) = (accepted, provider, request)
    }
}

/// What a device's FCM process did with one delivery; in order of acceptance they give its list of recent ids.
public struct RecentDelivery: Hashable, Sendable {
    /// Which device of which app.
    public var device: DeviceKey
    /// The id under which FCM's list has it; `nil` when it does not get there.
    public var duplicateID: String?
    /// What the app was doing; `nil` if that is not known.
    public var state: AppState?

    public init(device: DeviceKey, duplicateID: String?, state: AppState?) {
        (self.device, self.duplicateID, self.state) = (device, duplicateID, state)
    }
}
