public import PushModel

/// The content of a payload in any form that a notification service other than the phone's can show.
///
/// The texts are plain, without control characters that a service cannot show, and cut to limits.
public struct NotificationContent: Hashable, Sendable {
    /// The urgency of a notification. The raw values are those of the desktop notifications specification, 1.2.
    public enum Urgency: UInt8, Sendable { case low, normal, critical }

    /// A party that shows less than what the payload has.
    public enum Party: Sendable {
        /// Android shows the notification block alone (FCM: DisplayNotification takes the extras that begin with gcm.n.).
        case system
        /// Braze's SDK shows its own keys alone (braze-android-sdk, BrazeNotificationPayload: t, a).
        case braze
    }

    /// A button.
    public struct Button: Hashable, Sendable {
        /// The id with which a press is reported.
        public var id: String
        /// The title of the button.
        public var title: String
    }

    /// The limit of the title, and of a button's title, in bytes.
    static let titleMax = 512
    /// The limit of the body, in bytes.
    static let bodyMax = 4096
    /// The limit of a name, a URL or a tag, in bytes; a longer one is omitted.
    static let nameMax = 1024
    /// The limit of buttons; the first ones count.
    public static let buttonsMax = 8

    /// The title; never empty.
    public var title: String
    /// The body; empty if there is none.
    public var body: String
    /// The icon: a name or a URL.
    public var icon: String?
    /// The URL of the image.
    public var image: String?
    /// The tag, by which a later notification of the same app and device replaces this one.
    var tag: String?
    /// The urgency; `nil`: not stated.
    public var urgency: Urgency?
    /// The buttons in order, each id once.
    public var buttons: [Button]
    /// Whether the notification makes no sound.
    var isSilent: Bool
    /// Whether the notification stays until the person acts.
    public var stays: Bool
    /// Whether the text is in keys of an SDK, which shows it.
    let isOfSDK: Bool

    /// Takes the content of a payload.
    ///
    /// - Parameters:
    ///   - payload: the payload of an accepted delivery.
    ///   - platform: the platform, which decides the form.
    ///   - transport: the transport in the request.
    ///   - party: the party that shows it on Android; `nil`: code of the app, which can read all parts of the payload.
    /// - Returns: `nil` if there is neither title nor body, and so nothing to show.
    public init?(_ payload: JSONNode, platform: Platform, transport: Transport? = nil, shownBy party: Party? = nil) {
        let parts: Parts
        switch platform {
        case .android:
            guard let read = try? AndroidPayload(payload, over: transport) else { return nil }
            parts = Parts(read, shownBy: party)
            isOfSDK = parts.isOfSDK
        case .ios:
            guard let read = try? ApplePayload(payload) else { return nil }
            parts = Parts(read, fcm: Self.sharedBlock(of: payload.view, .ios))
            isOfSDK = false
        case .web:
            guard let read = try? WebPayload(payload) else { return nil }
            parts = Parts(read, message: V1Message.message(in: payload.view, platform: .web))
            isOfSDK = false
        }
        // The parts are copies; no view of the payload is used from here on.
        withExtendedLifetime(payload) {}
        let body = Self.shown(parts.body, max: Self.bodyMax)
        var title = Self.shown(parts.title, max: Self.titleMax)
        if let subtitle = parts.subtitle, !title.isEmpty {
            title = Self.shown("\(title): \(subtitle)", max: Self.titleMax)
        }
        guard !title.isEmpty || !body.isEmpty else { return nil }
        // A service always shows the title, so a body alone becomes the title.
        self.title = title.isEmpty ? Self.shown(body, max: Self.titleMax) : title
        self.body = title.isEmpty ? "" : body
        icon = Self.name(parts.icon)
        image = Self.name(parts.image)
        tag = Self.name(parts.tag)
        urgency = parts.urgency
        isSilent = parts.isSilent
        stays = parts.stays
        buttons = []
        for button in parts.buttons where buttons.count < Self.buttonsMax {
            let shown = Button(id: button.id, title: Self.shown(button.title, max: Self.titleMax))
            guard Self.name(shown.id) != nil, !shown.title.isEmpty, !buttons.contains(where: { $0.id == shown.id })
            else { continue }
            buttons.append(shown)
        }
    }

    private static func sharedBlock(of payload: JSONView, _ platform: Platform) -> JSONView? {
        V1Message.message(in: payload, platform: platform)?.member("notification")
    }

    /// Returns a text without control characters, which services do not show; a NUL would end the string on D-Bus.
    private static func shown(_ text: String?, max limit: Int) -> String {
        guard let text else { return "" }
        var shown = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || scalar.value == 0x7F
            guard !isControl else { continue }
            count += UTF8.width(scalar)
            guard count <= limit - 3 else {
                shown.append("…")
                break
            }
            shown.append(scalar)
        }
        let words = String(shown)
        return words.allSatisfy(\.isWhitespace) ? "" : words
    }

    private static func name(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= nameMax else { return nil }
        return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? text : nil
    }
}

/// The parts of the content in the payload's form, before limits apply.
private struct Parts {
    var title: String?
    var subtitle: String?
    var body: String?
    var icon: String?
    var image: String?
    var tag: String?
    var urgency: NotificationContent.Urgency?
    var buttons: [NotificationContent.Button] = []
    var isSilent = false
    var stays = false
    var isOfSDK = false

    /// Takes the notification that an Android app finds in the message; missing parts come from the usual names in the
    /// data, or from Braze's keys.
    init(_ payload: AndroidPayload, shownBy party: NotificationContent.Party?) {
        let hasBlock = payload.notification == .shown && party != .braze
        if hasBlock {
            func field(_ name: String) -> String? {
                NotificationGetter.all.first { $0.name == name }.flatMap { payload.value(of: $0) }
            }
            (title, body, icon, image) = (field("title"), field("body"), field("icon"), field("image"))
            tag = field("tag")
            urgency = Self.urgency(field("notification_priority"))
            stays = field("sticky") == "true" || field("sticky") == "1"
        } else if payload.notification == .suppressed {
            return
        }
        guard party != .system else { return }
        func data(_ key: String) -> String? { payload[key]?.string }
        let isBraze = payload.markedKind != nil
        if !hasBlock, !isBraze, let keys = SDKTextKeys.all.first(where: { data($0.mark) != nil }) {
            isOfSDK = true
            if keys.silent.flatMap(data) == "1" { return }
            let text = data(keys.body).flatMap { $0.isEmpty ? nil : $0 }
            if text != nil || keys.showsTitleAlone {
                (title, body) = (data(keys.title), text)
                // The key body is the sender's data.
                if text == nil { return }
            } else if keys.mark != keys.body {
                // These SDKs show nothing for a push without a body.
                return
            }
        }
        title = title ?? data(isBraze ? "t" : "title")
        body = body ?? data(isBraze ? "a" : "body") ?? (isBraze ? nil : data("message") ?? data("alert"))
        icon = icon ?? data("icon")
        // The system shows a notification block as it is: with no image but its own, and with no buttons.
        let isShownAsItIs = hasBlock && !isBraze
        image = image ?? (isShownAsItIs ? nil : data(isBraze ? "appboy_image_url" : "image"))
        tag = tag ?? data("tag") ?? payload.extra("collapse_key")
        urgency = urgency ?? Self.urgency(data("priority"))
        guard !isShownAsItIs else { return }
        buttons = isBraze ? Self.buttons(payload.brazeActions) : Self.buttons(payload["actions"])
    }

    /// Takes the alert that iOS would show, or FCM's notification block if there is none.
    init(_ payload: ApplePayload, fcm block: JSONView?) {
        if let alert = payload.aps?.member("alert") {
            if alert.isObject {
                (title, subtitle) = (alert.member("title")?.string, alert.member("subtitle")?.string)
                body = alert.member("body")?.string
            } else {
                body = alert.string
            }
        } else {
            (title, body) = (block?.member("title")?.string, block?.member("body")?.string)
        }
        image = payload.isMutable ? payload.image : nil
        tag = payload.header(.collapseID)
        switch payload.aps?.member("interruption-level")?.string {
        case "passive": urgency = .low
        case "critical": urgency = .critical
        case "active", "time-sensitive": urgency = .normal
        default: urgency = nil
        }
        buttons = Self.buttons(payload.brazeActions)
        if buttons.isEmpty { buttons = Self.buttons(payload["actions"]) }
    }

    /// Takes the options of `showNotification` in an FCM body or in the object; missing parts come from the object
    /// itself.
    init(_ payload: WebPayload, message: JSONView?) {
        let own = message?.protobufField("webpush")?.protobufField("notification") ?? payload["notification"]
        let shared = message?.protobufField("notification")
        // Code of the app shows a message that has data alone.
        let data = own == nil && shared == nil ? payload["data"] : nil
        func field(_ name: String) -> JSONView? { own?[name] ?? shared?[name] ?? payload[name] ?? data?[name] }
        (title, body) = (field("title")?.string, field("body")?.string)
        (icon, image, tag) = (field("icon")?.string, field("image")?.string, field("tag")?.string)
        // Source: Braze's service worker 3.5.1 reads t, a, i, img and pab; it shows whatever it gets.
        if title == nil, payload["cid"]?.isString == true || payload["ab_push_fetch_test_triggers_key"] != nil {
            func text(_ key: String) -> String? { payload[key]?.string }
            (title, body, icon, image) = (text("t"), text("a"), text("i"), text("img"))
            stays = payload["ri"]?.bool == true
        }
        if payload.isText { body = payload[WebPushText.key]?.string }
        isSilent = field("silent")?.bool == true
        stays = stays || field("requireInteraction")?.bool == true
        urgency = Self.urgency(message?.protobufField("webpush")?.protobufField("headers")?["Urgency"]?.string)
        buttons = Self.buttons(payload.brazeActions)
        if buttons.isEmpty { buttons = Self.buttons(field("actions")) }
    }

    /// Returns the urgency of an Android notification's priority, by name or number, or of web push (RFC 8030, 5.3).
    /// Only Android's highest priority is critical, because a critical notification stays until the person acts.
    private static func urgency(_ text: String?) -> NotificationContent.Urgency? {
        switch text?.lowercased() {
        case "-2", "-1", "min", "low", "very-low", "priority_min", "priority_low": .low
        case "0", "1", "default", "normal", "high", "priority_default", "priority_high": .normal
        case "2", "max", "critical", "priority_max": .critical
        default: nil
        }
    }

    /// Returns the actions of web notifications: objects with `action` or `id`, and `title`; in a data message as JSON
    /// text.
    private static func buttons(_ value: JSONView?) -> [NotificationContent.Button] {
        guard let value else { return [] }
        if value.isString {
            guard let document = try? JSONDocument(scanning: value.textBytes) else { return [] }
            return document.root.withView { $0.isString ? [] : buttons($0) }
        }
        guard value.kind == .array else { return [] }
        return value.elements.prefix(NotificationContent.buttonsMax).compactMap { button in
            guard button.isObject, let title = button.member("title")?.string,
                let id = (button.member("action") ?? button.member("id"))?.string
            else { return nil }
            return NotificationContent.Button(id: id, title: title)
        }
    }

    /// Returns Braze's buttons that have a title; on iOS the app has the titles.
    private static func buttons(_ actions: [BrazeFacts.Action]) -> [NotificationContent.Button] {
        actions.compactMap { action in
            guard let id = action.id, let title = action.title else { return nil }
            return NotificationContent.Button(id: id, title: title)
        }
    }
}

/// The keys of the data in which the server of an SDK puts the text of a notification, if they are not the usual ones.
///
/// Sources: clevertap-android-sdk, Constants.java (NOTIF_TITLE, NOTIF_MSG); Airship's android-library, PushMessage.kt
/// (EXTRA_TITLE, EXTRA_ALERT); OneSignal-Android-SDK (`custom` has its id), which shows a push whose `alert` is not empty;
/// pushes that MoEngage's and Leanplum's SDKs log (gcm_title, gcm_alert; lp_message); expo-notifications,
/// NotificationData.kt, whose `body` is the sender's data, and ExpoHandlingDelegate.kt, shouldPresent (read 2026-12-01);
/// amplify-android, PushNotificationsConstants.kt (the keys of Pinpoint; what silentPush does is from reports alone).
private struct SDKTextKeys {
    /// The key that all pushes of the SDK have.
    let mark: String
    let title: String
    let body: String
    /// Whether the SDK shows a push without a body.
    var showsTitleAlone = false
    /// The key with which the SDK shows nothing, if it is 1; `nil`: it has none.
    var silent: String?

    static let all = [
        SDKTextKeys(mark: "wzrk_pn", title: "nt", body: "nm"),
        SDKTextKeys(
            mark: "com.urbanairship.push.PUSH_ID", title: "com.urbanairship.title", body: "com.urbanairship.push.ALERT"),
        SDKTextKeys(mark: "gcm_alert", title: "gcm_title", body: "gcm_alert"),
        SDKTextKeys(mark: "lp_message", title: "title", body: "lp_message"),
        SDKTextKeys(mark: "custom", title: "title", body: "alert"),
        SDKTextKeys(
            mark: "pinpoint.notification.title", title: "pinpoint.notification.title",
            body: "pinpoint.notification.body", showsTitleAlone: true, silent: "pinpoint.notification.silentPush"),
        SDKTextKeys(mark: "scopeKey", title: "title", body: "message", showsTitleAlone: true),
    ]
}

/// A getter of FCM's `RemoteMessage.Notification`, and the extras that it reads from an intent.
///
/// Source: firebase-android-sdk a089298ed9, RemoteMessage.java and NotificationParams.java.
struct NotificationGetter: Sendable {
    /// The values that FCM accepts; for any other the getter returns nothing.
    enum Reading: Sendable {
        case text
        /// An integer in the range; the text describes the range in messages.
        case number(ClosedRange<Int64>, String)
        /// A JSON array with this many elements; `nil`: any number.
        case list(count: Int?)
    }

    /// The name of the getter's field in FCM v1.
    let name: String
    /// The names of the extras after `gcm.n.`; the first non-empty one counts.
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

    /// Whether FCM accepts the text of an extra.
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
    /// Returns the value of a notification getter: the field of a notification block, or the first non-empty one of its
    /// extras (FCM: `NotificationParams.getLink` and `getSoundResourceName`).
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

extension WebPayload {
    /// Whether it has a text that a service worker could show.
    var hasText: Bool {
        let parts = Parts(self, message: nil)
        return parts.title?.isEmpty == false || parts.body?.isEmpty == false
    }
}
