import PushModel

/// The meaning of an Android intent's action for the service or receiver that gets it.
///
/// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.handleIntent; braze-android-sdk 43.0.0,
/// BrazePushReceiver.handlePush and handleAdmRegistrationIntent.
enum IntentAction: Hashable, Sendable {
    /// FCM delivers a message.
    case message
    /// Amazon Device Messaging delivers a message.
    case amazonMessage
    /// The token is new; FCM passes `null` if the intent has none.
    case newToken(String?)
    /// The app instance is registered with FCM under this installation id.
    case registered(String?)
    /// The app instance is no longer registered.
    case unregistered(String?)
    /// Amazon Device Messaging refused to register the app, with this error or without one.
    case amazonRefusal(String?)
    /// FCM's report to itself about a notification that it showed: no message.
    case notificationEvent
    /// An action that FCM does not know.
    case unknown(String)

    /// Whether the intent delivers a message.
    var bringsMessage: Bool { self == .message || self == .amazonMessage }

    /// Whether an action is one of Amazon Device Messaging.
    static func isAmazons(_ action: String) -> Bool { action.utf8.starts(with: "com.amazon.device.messaging.".utf8) }

    /// - Parameters:
    ///   - action: the intent's action; `nil` counts as a message.
    ///   - extras: the intent's extras.
    init(_ action: String?, extras: JSONView) {
        switch action {
        // CloudMessagingReceiver handles an intent inside another before anything else, and calls no service for it.
        case nil where Self.wrapsIntent(extras),
            "com.google.android.c2dm.intent.RECEIVE" where Self.wrapsIntent(extras),
            "com.google.firebase.messaging.NOTIFICATION_OPEN", "com.google.firebase.messaging.NOTIFICATION_DISMISS":
            self = .notificationEvent
        case nil, "com.google.android.c2dm.intent.RECEIVE", "com.google.firebase.messaging.RECEIVE_DIRECT_BOOT":
            self = .message
        case "com.google.firebase.messaging.NEW_TOKEN": self = .newToken(extras.member("token")?.string)
        case "com.google.firebase.messaging.FCM_REGISTERED": self = .registered(extras.member("token")?.string)
        case "com.google.firebase.messaging.FCM_UNREGISTERED": self = .unregistered(extras.member("token")?.string)
        case "com.amazon.device.messaging.intent.RECEIVE": self = .amazonMessage
        case "com.amazon.device.messaging.intent.REGISTRATION": self = Self.amazonRegistration(extras)
        case .some(let other): self = .unknown(other)
        }
    }

    private static func wrapsIntent(_ extras: JSONView) -> Bool { extras.member("wrapped_intent") != nil }

    /// Braze's receiver checks in this order: error, id, end of registration.
    private static func amazonRegistration(_ extras: JSONView) -> IntentAction {
        if let error = extras.member("error")?.string { return .amazonRefusal(error) }
        if let id = extras.member("registration_id")?.string { return .newToken(id) }
        // Braze only logs it; ADM's own handler class has a callback for it.
        if let id = extras.member("unregistered")?.string { return .unregistered(id) }
        return .amazonRefusal(nil)
    }
}
