/// One payload that reaches one app on one device in one app state: an `op: deliver` request with its platform
/// resolved. Takes two words, so copies are cheap.
public struct Delivery: Sendable {
    /// The platform the payload is for.
    public let platform: Platform
    private let request: DeliverRequest

    /// Creates the delivery that a request asks for.
    ///
    /// - Parameters:
    ///   - request: the request; its own platform is ignored.
    ///   - platform: the platform the payload is for.
    public init(_ request: DeliverRequest, platform: Platform) {
        (self.request, self.platform) = (request, platform)
    }

    /// Joins the parts; everything but the platform and the payload has a default.
    public init(
        platform: Platform, transport: Transport? = nil, app: String? = nil, device: String? = nil,
        externalID: String? = nil,
        state: AppState = .background, locked: Bool = false, osVersion: String? = nil,
        notifications: NotificationPermission = .allowed, sdk: SDKState = .ready, payload: JSONNode,
        messageID: String? = nil, headers: JSONNode? = nil
    ) {
        let target = Target(platform: platform, app: app, device: device, externalID: externalID)
        self.init(
            DeliverRequest(
                target: target, transport: transport, state: state, locked: locked, osVersion: osVersion,
                notifications: notifications,
                sdk: sdk, payload: payload, messageID: messageID, headers: headers), platform: platform)
    }

    /// The transport, as the request says; `nil`: the platform's own, or the one that the payload's form shows.
    public var transport: Transport? { request.transport }
    /// Package name or bundle id.
    public var app: String? { request.target.app }
    /// The state of the app.
    public var state: AppState { request.state }
    /// Whether the screen was locked; on Android a locked screen counts as background.
    public var locked: Bool { request.locked }
    /// Whether notifications may be shown.
    public var notifications: NotificationPermission { request.notifications }
    /// Whether the app had a Braze instance.
    public var sdk: SDKState { request.sdk }
    /// The payload, in any of the accepted forms; an object.
    public var payload: JSONNode { request.payload }
    /// The message id that the push service returned to the sender, for a payload without one (FCM: `google.message_id`).
    public var messageID: String? { request.messageID }
    /// The headers of the request to APNs; `nil` if none are known beyond those of a send body.
    public var headers: JSONNode? { request.headers }
}
