/// One payload reaching one app on one device in one app state: what `op: deliver` asks for, with its platform resolved.
/// Two words: cheap to copy.
package struct Delivery: Sendable {
    /// The platform the payload is for.
    package let platform: Platform
    private let request: DeliverRequest

    /// What a request asks for.
    ///
    /// - Parameters:
    ///   - request: the request; its own platform does not count.
    ///   - platform: the platform the payload is for.
    package init(_ request: DeliverRequest, platform: Platform) {
        self.request = request
        self.platform = platform
    }

    /// Joins the parts; everything but the platform and the payload has a default.
    package init(
        platform: Platform, app: String? = nil, device: String? = nil, externalID: String? = nil,
        state: AppState = .background, locked: Bool = false, osVersion: String? = nil,
        notifications: NotificationPermission = .allowed, sdk: SDKState = .ready, payload: JSONNode
    ) {
        let target = Target(platform: platform, app: app, device: device, externalID: externalID)
        self.init(
            DeliverRequest(
                target: target, state: state, locked: locked, osVersion: osVersion, notifications: notifications,
                sdk: sdk, payload: payload), platform: platform)
    }

    /// Package name or bundle id.
    package var app: String? { request.target.app }
    /// What the app was doing.
    package var state: AppState { request.state }
    /// Whether the screen was locked; on Android that counts as background.
    package var locked: Bool { request.locked }
    /// Whether notifications may be shown.
    package var notifications: NotificationPermission { request.notifications }
    /// Whether the app had a Braze instance.
    package var sdk: SDKState { request.sdk }
    /// The payload, in any of the accepted forms; an object.
    package var payload: JSONNode { request.payload }
}
