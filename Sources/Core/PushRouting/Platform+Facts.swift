import PushModel

// The router's questions about a platform; a new platform must answer each.
extension Platform {
    /// Whether the push service hands messages to an app one after the other, on a single thread.
    var hasLanes: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the push service remembers message ids in the app's process. Its list ends with the process; any message
    /// that starts a new process finds it empty.
    var keepsRecentIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether payloads have an id of their own. A plain APNs or web payload has none: the request's id stands in.
    var hasMessageIDs: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }

    /// Whether the category of a notification decides whether the app learns of a dismissal.
    var tellsOfDismissalsByCategory: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether an app may run without an instance of Braze's SDK. On Android the SDK creates one on demand; on the web
    /// the service worker needs none.
    var appMayLackSDK: Bool {
        switch self {
        case .ios: true
        case .android, .web: false
        }
    }

    /// Whether a callback needs an instance of Braze's SDK that the app may lack.
    func mayLackInstance(for callback: Callback) -> Bool { appMayLackSDK && callback.needsAppInstance }
}
