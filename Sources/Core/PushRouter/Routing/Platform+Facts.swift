public import PushModel

// Facts about platforms that the router needs; the switches make a new platform answer each.
extension Platform {
    /// Whether the push service delivers messages to an app one after the other, on one thread.
    var hasLanes: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the push service's library remembers message ids in the app's process. The list is lost with the
    /// process, even if a message restarts it.
    var keepsRecentIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether payloads have an id of their own. A plain APNs or web payload has none, and the request's id replaces
    /// it.
    var hasMessageIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the notification's category decides whether the app receives dismissals.
    var reportsDismissalsByCategory: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether the system itself shows the alert of a payload.
    public var showsAlerts: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether an app may run without an instance of Braze's SDK. On Android the SDK makes one when needed; on the web
    /// the service worker needs none.
    var appMayLackSDK: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether a callback needs an instance of Braze's SDK that the app may lack.
    public func mayLackInstance(for callback: Callback) -> Bool { appMayLackSDK && callback.needsAppInstance }
}
