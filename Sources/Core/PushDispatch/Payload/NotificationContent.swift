public import PushModel

/// The content of a payload for a person, in any form: for a notification service other than the phone's.
///
/// The texts are plain, without control characters that a service could not show, and cut to limits.
public struct NotificationContent: Hashable, Sendable {
    /// The urgency. The raw values are those of the desktop notifications specification, 1.2.
    public enum Urgency: UInt8, Sendable { case low, normal, critical }

    /// One button.
    public struct Button: Hashable, Sendable {
        /// The id by which a press is reported.
        public var id: String
        /// The text on it.
        public var title: String
    }

    /// The limit of a title and of a button's text, in bytes.
    static let titleMax = 512
    /// The limit of the body, in bytes.
    static let bodyMax = 4096
    /// The limit of a name, an address or a tag, in bytes; a longer one is left out.
    static let nameMax = 1024
    /// The limit of buttons; the first ones count.
    static let buttonsMax = 8

    /// The first line; never empty.
    public var title: String
    /// The text below; empty: none.
    public var body: String
    /// The icon, a name or an address.
    public var icon: String?
    /// The address of an image.
    public var image: String?
    /// The name by which a later notification of the same app and device replaces this one.
    public var tag: String?
    /// The urgency; `nil`: the payload has none.
    public var urgency: Urgency?
    /// The buttons in order, with distinct ids.
    public var buttons: [Button]
    /// Whether it makes no sound.
    public var isSilent: Bool
    /// Whether it stays until the person acts.
    public var stays: Bool

    /// Reads a payload.
    ///
    /// - Parameters:
    ///   - payload: the payload of an accepted delivery.
    ///   - platform: the platform whose form it has.
    ///   - transport: the transport in the request.
    /// - Returns: `nil` without title and body: there is nothing to show.
    public init?(_ payload: JSONNode, platform: Platform, transport: Transport? = nil) {
        let parts: Parts
        switch platform {
        case .android:
            guard let read = try? AndroidPayload(payload, over: transport) else { return nil }
            parts = Parts(read)
        case .ios:
            guard let read = try? ApplePayload(payload) else { return nil }
            parts = Parts(read, fcm: Self.sharedBlock(of: payload.view, .ios))
        case .web:
            guard let read = try? WebPayload(payload) else { return nil }
            parts = Parts(read, message: V1Message.message(in: payload.view, platform: .web))
        }
        // The parts are copies; the views behind them are no longer used.
        withExtendedLifetime(payload) {}
        let body = Self.shown(parts.body, max: Self.bodyMax)
        var title = Self.shown(parts.title, max: Self.titleMax)
        if let subtitle = parts.subtitle, !title.isEmpty {
            title = Self.shown("\(title): \(subtitle)", max: Self.titleMax)
        }
        guard !title.isEmpty || !body.isEmpty else { return nil }
        // A service always shows the title: a body without a title becomes the title.
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

    /// Returns a text without characters that no service shows: NUL ends a string on the bus.
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

/// The content in the payload's form, before the limits apply.
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

    /// Reads the notification that an Android app finds in the message, then the usual keys of the data, or Braze's.
    init(_ payload: AndroidPayload) {
        if payload.notification == .shown {
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
        func data(_ key: String) -> String? { payload[key]?.string }
        let isBraze = payload.markedKind != nil
        title = title ?? data(isBraze ? "t" : "title")
        body = body ?? data(isBraze ? "a" : "body") ?? (isBraze ? nil : data("message"))
        icon = icon ?? data("icon")
        image = image ?? data(isBraze ? "appboy_image_url" : "image")
        tag = tag ?? data("tag") ?? payload.extra("collapse_key")
        urgency = urgency ?? Self.urgency(data("priority"))
        buttons = isBraze ? Self.buttons(payload.brazeActions) : Self.buttons(payload["actions"])
    }

    /// Reads the alert that iOS would show, or the block of FCM from which it is made.
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
        image = block?.member("image")?.string
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

    /// Reads the options of `showNotification`: in a body of FCM, in the member `notification`, or at the top level.
    init(_ payload: WebPayload, message: JSONView?) {
        let own = message?.protobufField("webpush")?.protobufField("notification") ?? payload["notification"]
        let shared = message?.protobufField("notification")
        func field(_ name: String) -> JSONView? { own?[name] ?? shared?[name] ?? payload[name] }
        (title, body) = (field("title")?.string, field("body")?.string)
        (icon, image, tag) = (field("icon")?.string, field("image")?.string, field("tag")?.string)
        isSilent = field("silent")?.bool == true
        stays = field("requireInteraction")?.bool == true
        urgency = Self.urgency(message?.protobufField("webpush")?.protobufField("headers")?["Urgency"]?.string)
        buttons = Self.buttons(payload.brazeActions)
        if buttons.isEmpty { buttons = Self.buttons(field("actions")) }
    }

    /// Reads the priority of a notification on Android, by name or number, and the urgency of web push (RFC 8030, 5.3).
    /// Only the highest of Android is critical: such a notification stays until the person acts.
    private static func urgency(_ text: String?) -> NotificationContent.Urgency? {
        switch text?.lowercased() {
        case "-2", "-1", "min", "low", "very-low", "priority_min", "priority_low": .low
        case "0", "1", "default", "normal", "high", "priority_default", "priority_high": .normal
        case "2", "max", "critical", "priority_max": .critical
        default: nil
        }
    }

    /// Reads the actions of web notifications: objects with `action` or `id`, and `title`; in data as JSON text.
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

    /// Returns Braze's buttons that have a text: on iOS the app has the texts.
    private static func buttons(_ actions: [BrazeFacts.Action]) -> [NotificationContent.Button] {
        actions.compactMap { action in
            guard let id = action.id, let title = action.title else { return nil }
            return NotificationContent.Button(id: id, title: title)
        }
    }
}
