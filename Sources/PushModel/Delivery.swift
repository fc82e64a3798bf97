/// One payload reaching one app on one device in one app state: what `op: deliver` asks for, with defaults filled in.
public struct Delivery: Sendable {
    /// The platform the payload is for.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it; without one the delivery has a lane of its own.
    public var device: String?
    /// The user.
    public var externalID: String?
    /// What the app was doing.
    public var state: AppState
    /// Whether the screen was locked; on Android that counts as background.
    public var locked: Bool
    /// The version of the operating system, as `major[.minor[.patch]]`.
    public var osVersion: String?
    /// Whether notifications may be shown.
    public var notifications: NotificationPermission
    /// Whether the app had a Braze instance.
    public var sdk: SDKState
    /// The payload, in any of the accepted forms; an object.
    public var payload: JSONNode

    /// Joins the parts; everything but the platform and the payload has a default.
    public init(
        platform: Platform, app: String? = nil, device: String? = nil, externalID: String? = nil,
        state: AppState = .background, locked: Bool = false, osVersion: String? = nil,
        notifications: NotificationPermission = .allowed, sdk: SDKState = .ready, payload: JSONNode
    ) {
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.state = state
        self.locked = locked
        self.osVersion = osVersion
        self.notifications = notifications
        self.sdk = sdk
        self.payload = payload
    }
}
