public import PushModel

/// The values of the getters of FCM's `RemoteMessage`, with their defaults.
///
/// Source: firebase-android-sdk a089298ed9, RemoteMessage.java. Google Play services set most of the extras; a field
/// that the payload does not state has FCM's value for a missing extra.
public struct RemoteMessage: Hashable, Sendable {
    /// One getter of the notification with a value.
    public struct Field: Hashable, Sendable {
        /// The name of the getter's field in FCM v1: `title`, `channel_id`.
        public var name: String
        /// The value.
        public var text: String
    }

    /// `getFrom`: the sender's id, or the topic.
    public var from: String?
    /// `getTo`, of upstream messages only.
    public var to: String?
    /// `getSenderId`.
    public var senderID: String?
    /// `getMessageId`: `google.message_id`, or `message_id` if that is absent.
    public var messageID: String?
    /// `getMessageType`.
    public var messageType: String?
    /// `getCollapseKey`.
    public var collapseKey: String?
    /// `getSentTime`: milliseconds since 1970; 0 when missing or unreadable.
    public var sentTime: Int64
    /// `getTtl`: seconds; 0 when missing or unreadable.
    public var ttl: Int32
    /// `getOriginalPriority`: the priority at sending; `nil` for `PRIORITY_UNKNOWN`.
    public var originalPriority: MessagePriority?
    /// `getPriority`: the priority at delivery, which FCM may have lowered; `nil` for `PRIORITY_UNKNOWN`.
    public var priority: MessagePriority?
    /// `getNotification`: its getters with a value; `nil` for a data message.
    public var notification: [Field]?
}

extension RemoteMessage {
    /// Reads the extras of `payload`.
    init(_ payload: AndroidPayload) {
        from = payload.extra("from")
        to = payload.extra("google.to")
        senderID = payload.extra("google.c.sender.id")
        messageID = payload.extra("google.message_id") ?? payload.extra("message_id")
        messageType = payload.extra("message_type")
        collapseKey = payload.extra("collapse_key")
        sentTime = payload.integerExtra("google.sent_time") ?? 0
        ttl = payload.integerExtra("google.ttl").flatMap(Int32.init(exactly:)) ?? 0
        (originalPriority, priority) = payload.priorities
        guard payload.notification != .absent else { return }
        notification = NotificationGetter.all.compactMap { getter in
            payload.value(of: getter).map { Field(name: getter.name, text: $0) }
        }
    }
}

extension AndroidPayload {
    /// FCM's priorities of the message, as sent and as delivered; `nil` if the extras do not state them, and for other
    /// transports. Every delivery reads it.
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) {
        guard transport == .fcm else { return (nil, nil) }
        switch form {
        case .v1(let message): return (message.priority, message.priority)
        case .intent(let extras):
            let sent = Self.text(extras.member("google.priority"))
            let original = Self.text(extras.member("google.original_priority")) ?? sent
            if let delivered = Self.text(extras.member("google.delivered_priority")) {
                return (Self.priority(original), Self.priority(delivered))
            }
            let isReduced = extras.member("google.priority_reduced")?.equals("1") == true
            return (Self.priority(original), isReduced ? .normal : Self.priority(sent))
        // The JSON names of the getters in SDKs that print a `RemoteMessage`.
        case .remoteMessage(let object):
            return (Self.priority(object.member("originalPriority")), Self.priority(object.member("priority")))
        case .amazonIntent, .dataMap: return (nil, nil)
        }
    }

    /// `Bundle.getString`: a value that is no string counts as absent.
    private static func text(_ view: JSONView?) -> JSONView? { view.flatMap { $0.isString ? $0 : nil } }

    private static func priority(_ view: JSONView?) -> MessagePriority? {
        guard let view else { return nil }
        // RemoteMessage.PRIORITY_HIGH and PRIORITY_NORMAL, as React Native Firebase prints them.
        if let number = view.int64 { return number == 1 ? .high : number == 2 ? .normal : nil }
        return view.equals("high") ? .high : view.equals("normal") ? .normal : nil
    }
}

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

extension AndroidPayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if hasAppleObject { warnings.append(.keyOfAnotherPlatform("aps", .ios)) }
        if case .remoteMessage(let object) = form, let block = object.member("notification"),
            let key = ["actions", "vibrate"].first(where: { block.member($0)?.kind == .array })
        {
            // W3C, Notifications API, NotificationOptions: no API of FCM has them for Android.
            warnings.append(.keyOfAnotherPlatform("notification.\(key)", .web))
        }
        if case .v1(let message) = form, message.androidV2 != nil { warnings.append(.androidPreview) }
        if braze == nil, let mark = map?.member("_ab"), mark.textLength == 4, !mark.equals("true"),
            mark.string?.lowercased() == "true"
        {
            warnings.append(.brazeMarkerCase)
        }
        if braze != nil {
            let (text, extra) = (map?.member("a"), map?.member("extra"))
            if notification != .absent { warnings.append(.brazeBesideNotification) }
            if let extra, extra.objectInText == nil { warnings.append(.brazeExtraUnreadable) }
            let bytes = (text?.text.utf8.count ?? 0) + (extra?.text.utf8.count ?? 0)
            if bytes > 4000 { warnings.append(.brazeTooLarge(bytes: bytes)) }
        }
        if let ttl = remoteMessage?.ttl, ttl > V1Duration.longestTTL { warnings.append(.lifeTooLong(seconds: ttl)) }
        return warnings + dataWarnings + notificationWarnings
    }

    private var dataWarnings: [Warning] {
        guard let map else { return [] }
        var warnings: [Warning] = []
        var bytes = 0
        for (key, value) in map.view.members {
            // In an intent FCM's own keys are in the right place.
            if Self.isReserved(key), !isIntent { warnings.append(.reservedKey(key.text)) }
            guard isVisible(key) else { continue }
            guard isInData(value) else {
                warnings.append(.extraIsNoString(key: key.text, kind: value.kind.name))
                continue
            }
            bytes += key.textLength + value.text.utf8.count
            if !value.isString { warnings.append(.dataValueIsNoString(key: key.text, kind: value.kind.name)) }
        }
        if bytes > 4096 { warnings.append(.tooLarge(bytes: bytes)) }
        return warnings
    }

    /// Warnings about values that `NotificationParams` ignores.
    private var notificationWarnings: [Warning] {
        guard notification != .absent else { return [] }
        return NotificationGetter.all.compactMap { getter in
            guard case .number(_, let range) = getter.reading, let value = notificationExtra(getter.name),
                !value.isEmpty, !getter.reads(value)
            else { return nil }
            return .notificationValueUnused(name: getter.name, range: range)
        }
    }

    private var isIntent: Bool {
        switch form {
        case .intent, .amazonIntent: true
        case .v1, .remoteMessage, .dataMap: false
        }
    }
}
