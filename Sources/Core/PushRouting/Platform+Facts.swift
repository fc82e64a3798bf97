import PushModel

// What the router asks of a platform; a platform that is new has to answer each.
extension Platform {
    /// Whether the push service hands messages to an app one after the other, on one thread of it.
    var hasLanes: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether a push service remembers ids of messages in the app's process. Its list goes with the process, whatever
    /// brought the message that starts it anew.
    var keepsRecentIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether payloads bring an id of their own; a plain APNs or web payload has none, and the request's stands in.
    var hasMessageIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the category of a notification decides whether the app is told of a dismissal.
    var tellsOfDismissalsByCategory: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether an app may run without an instance of Braze's SDK. On Android the SDK makes one when it needs it, and on
    /// the web the service worker needs none.
    var appMayLackSDK: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether a callback needs an instance of Braze's SDK that the app may lack.
    func mayLackInstance(for callback: Callback) -> Bool { appMayLackSDK && callback.needsAppInstance }
}
