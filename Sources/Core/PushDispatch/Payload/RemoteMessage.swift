public import PushModel

/// The values of the getters of FCM's `RemoteMessage`, with their fallbacks.
///
/// Source: firebase-android-sdk a089298ed9, RemoteMessage.java. Google Play services set most of the extras; a missing
/// one has the value that FCM gives it.
public struct RemoteMessage: Hashable, Sendable {
    /// A getter of the notification with its value.
    public struct Field: Hashable, Sendable {
        /// The getter by its field name in FCM v1: `title`, `channel_id`.
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
    /// `getMessageId`: `google.message_id`, or `message_id` without it.
    public var messageID: String?
    /// `getMessageType`.
    public var messageType: String?
    /// `getCollapseKey`.
    public var collapseKey: String?
    /// `getSentTime`: milliseconds since 1970; 0 when missing or unreadable.
    public var sentTime: Int64
    /// `getTtl`: seconds; 0 when missing or unreadable.
    public var ttl: Int32
    /// `getOriginalPriority`: as sent; `nil` for `PRIORITY_UNKNOWN`.
    public var originalPriority: MessagePriority?
    /// `getPriority`: as delivered, perhaps lowered by FCM; `nil` for `PRIORITY_UNKNOWN`.
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
    /// FCM's priorities of the message, as sent and as delivered; `nil`: the extras have none, or FCM did not deliver
    /// it. Read for every delivery.
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
        // The names of getters in a `RemoteMessage` that an SDK printed as JSON.
        case .remoteMessage(let object):
            return (Self.priority(object.member("originalPriority")), Self.priority(object.member("priority")))
        case .amazonIntent, .dataMap: return (nil, nil)
        }
    }

    /// Returns a string as `Bundle.getString` does: any other value counts as absent.
    private static func text(_ view: JSONView?) -> JSONView? { view.flatMap { $0.isString ? $0 : nil } }

    private static func priority(_ view: JSONView?) -> MessagePriority? {
        guard let view else { return nil }
        return view.equals("high") ? .high : view.equals("normal") ? .normal : nil
    }
}
