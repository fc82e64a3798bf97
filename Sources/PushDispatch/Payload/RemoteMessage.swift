import PushModel

/// What the getters of FCM's `RemoteMessage` give for a message, with their fallbacks.
///
/// Source: firebase-android-sdk a089298ed9, RemoteMessage.java and NotificationParams.java. Google Play services set most
/// of the extras behind it; what a payload does not tell is what FCM makes of an extra that is missing.
public struct RemoteMessage: Hashable, Sendable {
    /// FCM's priorities. The raw values are those of the extras.
    public enum Priority: String, Sendable {
        case high, normal, unknown

        init(_ extra: String?) { self = extra == "high" ? .high : extra == "normal" ? .normal : .unknown }
    }

    /// One getter of the notification that gives a value.
    public struct Field: Hashable, Sendable {
        /// The getter, as FCM v1 calls its field: `title`, `channel_id`.
        public var name: String
        /// What it gives.
        public var text: String
    }

    /// `getFrom`: the sender's id, or the topic.
    public var from: String?
    /// `getTo`, of upstream messages only.
    public var to: String?
    /// `getSenderId`.
    public var senderID: String?
    /// `getMessageId`: `google.message_id`, else `message_id`.
    public var messageID: String?
    /// `getMessageType`.
    public var messageType: String?
    /// `getCollapseKey`.
    public var collapseKey: String?
    /// `getSentTime`: milliseconds since 1970; 0 when missing or unreadable.
    public var sentTime: Int64
    /// `getTtl`: seconds; 0 when missing or unreadable.
    public var ttl: Int32
    /// `getOriginalPriority`: as it was sent.
    public var originalPriority: Priority
    /// `getPriority`: as it was delivered, which FCM may have lowered.
    public var priority: Priority
    /// `getNotification`: its getters that give a value; `nil` for a data message.
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
        let sent = payload.extra("google.priority")
        originalPriority = Priority(payload.extra("google.original_priority") ?? sent)
        if let delivered = payload.extra("google.delivered_priority") {
            priority = Priority(delivered)
        } else if payload.extra("google.priority_reduced") == "1" {
            priority = .normal
        } else {
            priority = Priority(sent)
        }
        guard payload.notification != .absent else { return }
        notification = Self.fields.compactMap { name, keys in
            payload.notificationText(name, extras: keys).map { Field(name: name, text: $0) }
        }
    }

    /// The getters of the notification that give text, as FCM v1 calls its fields, with their extras behind `gcm.n.`.
    private static let fields: [(name: String, extras: [String])] = [
        ("title", ["title"]), ("title_loc_key", ["title_loc_key"]), ("title_loc_args", ["title_loc_args"]),
        ("body", ["body"]), ("body_loc_key", ["body_loc_key"]), ("body_loc_args", ["body_loc_args"]),
        ("icon", ["icon"]), ("image", ["image"]), ("sound", ["sound2", "sound"]), ("tag", ["tag"]),
        ("color", ["color"]), ("click_action", ["click_action"]), ("channel_id", ["android_channel_id"]),
        ("link", ["link_android", "link"]), ("ticker", ["ticker"]),
    ]
}

extension AndroidPayload {
    /// What a getter of the notification gives: the field `name` of a block, or the first of `extras` that says something
    /// (FCM: `NotificationParams.getLink` and `getSoundResourceName`).
    fileprivate func notificationText(_ name: String, extras: [String]) -> String? {
        switch form {
        case .v1(let message): return message.androidNotificationField(name)?.text
        case .remoteMessage(let object): return object["notification"]?[name]?.text
        case .intent, .amazonIntent, .dataMap:
            let texts = extras.compactMap { notificationExtra($0) }
            return texts.first { !$0.isEmpty } ?? texts.first
        }
    }
}
