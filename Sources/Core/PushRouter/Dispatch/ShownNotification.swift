public import PushModel

/// The notification as a person sees it, and the party that shows it: one answer for page, API, `show` and `explain`.
public struct ShownNotification: Hashable, Sendable {
    /// The party that shows it. The raw values are those of the API.
    public enum Shower: String, Sendable, CaseIterable {
        /// Android, iOS or the browser.
        case system
        /// The provider's SDK.
        case sdk
        /// The app's own code, if it does.
        case app
        case nobody

        /// The words above a picture, or before the text.
        public var words: String {
            switch self {
            case .system: "the system shows it"
            case .sdk: "the SDK shows it"
            case .app: "if your code shows it"
            case .nobody: "nothing is shown"
            }
        }
    }

    /// The party that shows it.
    public let by: Shower
    /// The reason, for people: the beginning of a sentence without its full stop.
    public let reason: String
    /// The text, the image and the buttons; `nil` if the payload has none.
    public let content: NotificationContent?
    /// The words that follow the party in ``text`` if the payload has neither title nor body.
    private let withoutText: String
    /// The keys of a title and of a text in the app's own resources.
    private let titleKey, bodyKey: String?
    /// Whether the browser decides who shows it.
    private let isDeclarative: Bool

    /// - Parameters:
    ///   - decision: the platform's decision on the push.
    ///   - payload: its payload.
    ///   - notifications: whether the user allows notifications.
    public init(_ decision: Decision, _ payload: JSONNode, notifications: NotificationPermission) {
        func content(shownBy party: NotificationContent.Party?) -> NotificationContent? {
            NotificationContent(
                payload, platform: decision.platform, transport: decision.transport, shownBy: party)
        }
        let everything = content(shownBy: nil)
        isDeclarative = decision.reasons.contains { $0.code == .declarativeWebPush }
        (titleKey, bodyKey) = Self.keys(payload, decision.platform)
        withoutText = Self.withoutText(payload, [titleKey, bodyKey].compactMap(\.self))
        (by, reason) = Self.shower(decision, everything, notifications)
        self.content =
            switch by {
            case .system: content(shownBy: .system)
            case .sdk where decision.braze != nil: content(shownBy: .braze)
            case .sdk, .app, .nobody: everything
            }
    }

    private static func withoutText(_ payload: JSONNode, _ keys: [String]) -> String {
        if !keys.isEmpty { return ", with \(Self.words(of: keys.joined(separator: " and ")))" }
        let aps = payload["aps"]
        return aps != nil && aps?["alert"] == nil ? ": the badge or the sound alone" : ", without title and text"
    }

    private static func words(of key: String) -> String { "the text that the app has for \(key)" }

    /// The keys of a title and of a text in the app's own resources, where the payload gives no text itself.
    ///
    /// Source: firebase-android-sdk, NotificationParams.getPossiblyLocalizedString; Apple, "Generating a remote
    /// notification".
    private static func keys(_ payload: JSONNode, _ platform: Platform) -> (title: String?, body: String?) {
        let message = payload["message"] ?? payload
        let aps = payload["aps"] ?? message["apns"]?["payload"]?["aps"]
        let blocks =
            platform.showsAlerts ? [aps?["alert"]] : [message["android"]?["notification"], message["notification"]]
        func value(_ name: String) -> String? {
            blocks.lazy.compactMap { $0?[name]?.string }.first
                ?? (platform.showsAlerts ? nil : payload["extras"]?["gcm.n.\(name)"]?.string)
        }
        let ofApple = platform.showsAlerts
        return (
            value("title") == nil ? value(ofApple ? "title-loc-key" : "title_loc_key") : nil,
            value("body") == nil ? value(ofApple ? "loc-key" : "body_loc_key") : nil
        )
    }

    private static func shower(
        _ decision: Decision, _ content: NotificationContent?, _ notifications: NotificationPermission
    ) -> (Shower, String) {
        let codes = Set(decision.reasons.map(\.code))
        let last = decision.reasons.last?.description ?? ""
        if codes.contains(.unreadableMessage) { return (.nobody, last) }
        if codes.contains(.refusedSend) { return (.nobody, "the gateway refused the send") }
        if decision.outcome == .notWoken { return (.nobody, "the app was not woken") }
        let isDenied =
            notifications == .denied || codes.contains(.notificationsDenied) || codes.contains(.alertDenied)
        // Android shows a block with no text, or with the key of one, as well.
        if decision.outcome == .shownBySystem, !isDenied { return (.system, last) }
        guard content != nil else {
            if codes.contains(.liveActivity) { return (.nobody, "it changes a Live Activity, without an alert") }
            return (.nobody, decision.braze == nil ? "it has no text to show" : "it is silent, without a text to show")
        }
        if isDenied { return (.nobody, "the user does not allow notifications") }
        if decision.outcome == .ownReceiver {
            return (.sdk, "\(decision.providers.first?.provider.title ?? "the provider")'s SDK takes it")
        }
        if decision.outcome == .swallowed { return (.nobody, last) }
        if let title = decision.providers.first?.provider.title, decision.braze != nil {
            guard decision.displayed else { return (.nobody, "it is silent to \(title)'s SDK") }
            return decision.platform.showsAlerts ? (.system, "iOS shows the alert") : (.sdk, "\(title)'s SDK shows it")
        }
        guard decision.platform.showsAlerts else {
            if codes.contains(.declarativeWebPush) {
                return (
                    .system,
                    "a browser with declarative web push shows it itself; in any other your worker has to show it"
                )
            }
            if codes.contains(.webNotification) { return (.sdk, "FCM's worker shows it unless a page is visible") }
            if content?.isOfSDK == true, let title = decision.providers.first?.provider.title {
                return (.sdk, "\(title)'s SDK shows it, once it gets the message")
            }
            return (.app, "the system shows nothing by itself: this text is in the data")
        }
        if codes.contains(.alertInForeground) || codes.contains(.mutableContentInForeground) {
            return (.app, "the app is in the foreground: it decides in willPresent")
        }
        let alerts: Set<ReasonCode> = [.alertShownBySystem, .alertShownToo, .mutableContent]
        return alerts.isDisjoint(with: codes)
            ? (.app, "iOS shows nothing by itself: this text is in the payload") : (.system, "iOS shows the alert")
    }

    /// The party and the text, on one line for people: `the system shows it: "Sale", "20 % off", an image, 2 buttons`.
    public var text: String {
        guard by != .nobody else { return "\(by.words): \(reason)" }
        guard let content else { return by.words + withoutText }
        let parts = [
            content.title.isEmpty ? titleKey.map(Self.words) ?? "\"\"" : "\"\(content.title)\"",
            content.body.isEmpty ? bodyKey.map(Self.words) : "\"\(content.body)\"",
            content.image == nil ? nil : "an image",
            content.buttons.isEmpty ? nil : counted(content.buttons.count, "button"),
        ]
        let words =
            isDeclarative ? "a browser with declarative web push shows it, any other leaves it to the worker" : by.words
        return "\(words): \(parts.compactMap(\.self).joined(separator: ", "))"
    }

    /// Writes it as an object.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("by", by.rawValue)
            writer.member("reason", reason)
            writer.member("title", content?.title)
            writer.member("body", content?.body)
            writer.member("image", content?.image)
            writer.member(
                "buttons",
                array: { list in
                    for button in content?.buttons ?? [] {
                        list.object {
                            $0.member("id", button.id)
                            $0.member("title", button.title)
                        }
                    }
                })
        }
    }
}
