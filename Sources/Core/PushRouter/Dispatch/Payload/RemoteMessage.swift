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
        return view.equals("high") ? .high : view.equals("normal") ? .normal : nil
    }
}
