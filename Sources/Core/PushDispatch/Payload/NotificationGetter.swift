import PushModel

/// A getter of FCM's `RemoteMessage.Notification`, and the extras that it reads.
///
/// Source: firebase-android-sdk a089298ed9, RemoteMessage.java and NotificationParams.java.
struct NotificationGetter: Sendable {
    /// The values that FCM accepts; for any other the getter returns nothing.
    enum Reading: Sendable {
        case text
        /// A whole number of the range, which the words name in messages.
        case number(ClosedRange<Int64>, String)
        /// A JSON array with this number of elements; `nil`: any number.
        case list(count: Int?)
    }

    /// The getter by its field name in FCM v1.
    let name: String
    /// The extras with the prefix `gcm.n.`; the first one that is not empty counts.
    let extras: [String]
    /// The values that FCM accepts.
    let reading: Reading

    private init(_ name: String, _ extras: [String]? = nil, _ reading: Reading = .text) {
        self.name = name
        self.extras = extras ?? [name]
        self.reading = reading
    }

    static let all = [
        NotificationGetter("title"), NotificationGetter("title_loc_key"),
        NotificationGetter("title_loc_args", nil, .list(count: nil)),
        NotificationGetter("body"), NotificationGetter("body_loc_key"),
        NotificationGetter("body_loc_args", nil, .list(count: nil)),
        NotificationGetter("icon"), NotificationGetter("image"), NotificationGetter("sound", ["sound2", "sound"]),
        NotificationGetter("tag"), NotificationGetter("color"), NotificationGetter("click_action"),
        NotificationGetter("channel_id", ["android_channel_id"]), NotificationGetter("link", ["link_android", "link"]),
        NotificationGetter("ticker"), NotificationGetter("sticky"), NotificationGetter("local_only"),
        NotificationGetter("notification_priority", nil, .number(-2...2, "from -2 to 2")),
        NotificationGetter("visibility", nil, .number(-1...1, "from -1 to 1")),
        NotificationGetter("notification_count", nil, .number(0...Int64(Int32.max), "of 0 or more")),
        NotificationGetter("event_time", nil, .number(Int64.min...Int64.max, "of milliseconds")),
        NotificationGetter("vibrate_timings", nil, .list(count: nil)),
        NotificationGetter("light_settings", nil, .list(count: 3)),
    ]

    /// Whether FCM accepts a text of an intent as a value.
    func reads(_ text: String) -> Bool {
        switch reading {
        case .text: return true
        case .number(let range, _): return Int64(text).map(range.contains) == true
        case .list(let count):
            guard let root = try? JSONDocument(scanning: Array(text.utf8)).root, root.kind == .array else {
                return false
            }
            return count == nil || root.count == count
        }
    }
}

extension AndroidPayload {
    /// Returns the value of a getter of the notification: the field of a block, or the first of its extras that is not
    /// empty (FCM: `NotificationParams.getLink` and `getSoundResourceName`).
    func value(of getter: NotificationGetter) -> String? {
        switch form {
        case .v1(let message): return message.androidNotificationField(getter.name)?.text
        case .remoteMessage(let object): return object.member("notification")?[getter.name]?.text
        case .intent, .amazonIntent, .dataMap:
            let texts = getter.extras.compactMap { notificationExtra($0) }
            return (texts.first { !$0.isEmpty } ?? texts.first).flatMap { getter.reads($0) ? $0 : nil }
        }
    }
}
