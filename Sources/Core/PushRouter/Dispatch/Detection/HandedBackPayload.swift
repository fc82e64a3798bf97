public import PushModel

/// The facts about a delivery in the payload that the platform hands back on a user's act.
public struct HandedBackPayload: Sendable {
    /// The provider; `nil` if no rule matches.
    public let provider: String?
    /// The campaign id of a Braze payload; `nil` if it has none.
    public let campaignID: String?
    /// The payload's own message id; `nil` if it has none.
    public let messageID: String?
    /// The payload's keys, for matching routes; `nil` on the web, which does not hand back the delivered payload.
    public let keys: PayloadKeys?
    /// The category on iOS, which decides the buttons and whether the app receives a dismissal.
    let category: String?
    /// Whether `actions` has all buttons of the notification.
    let hasAllActions: Bool
    private let braze: Source

    /// The source of the Braze facts.
    private enum Source: Sendable {
        /// None: the payload is not Braze's.
        case none
        /// The delivered payload.
        case payload(any PlatformPayload)
        /// The data that Braze's service worker left in the notification.
        case webNotification(JSONNode)
    }

    /// Parses the payload: the delivered one on Android and iOS, the notification's `data` on the web.
    public init(
        _ payload: JSONNode, platform: Platform, settings: DetectionSettings = DetectionSettings()
    ) throws(PayloadError) {
        switch platform {
        case .android:
            self.init(try AndroidPayload(payload), platform, settings, category: nil) { _ in true }
        case .ios:
            let payload = try ApplePayload(payload)
            // A category of the app has buttons that the payload does not mention.
            self.init(payload, platform, settings, category: payload.category) { $0.hasButtons }
        case .web: try self.init(clicked: payload, settings)
        }
    }

    private init<Payload: PlatformPayload>(
        _ payload: Payload, _ platform: Platform, _ settings: DetectionSettings, category: String?,
        hasAllActions: (Payload) -> Bool
    ) {
        messageID = payload.messageID
        keys = PayloadKeys(payload: payload)
        self.category = category
        provider = settings.matches(payload, on: platform).first?.provider.name
        let isBraze = provider == ProviderRule.brazeName
        var reasons: [Reason] = []
        campaignID = isBraze ? payload.brazeFacts(settings, because: &reasons).campaignID : nil
        braze = isBraze ? .payload(payload) : .none
        self.hasAllActions =
            switch platform {
            case .android: true
            case .ios, .web: isBraze && hasAllActions(payload)
            }
    }

    /// Parses the notification's data that a click on the web hands back.
    private init(clicked data: JSONNode, _ settings: DetectionSettings) throws(PayloadError) {
        messageID = PushRouter.messageID(of: data, platform: .web)
        keys = nil
        category = nil
        hasAllActions = false
        // The service worker stores its ids under `ab_ids`; without them the click is on another provider's
        // notification.
        if let ids = data["ab_ids"] {
            provider = ProviderRule.brazeName
            campaignID = ids["cid"]?.string
            braze = .webNotification(data)
        } else {
            let matches = settings.matches(try WebPayload(data), on: .web)
            provider = matches.first { !$0.isBraze }?.provider.name
            campaignID = nil
            braze = .none
        }
    }

    /// The buttons of a Braze notification. Parsed on each access.
    public var actions: [BrazeFacts.Action] {
        switch braze {
        case .none: []
        case .payload(let payload): payload.brazeActions
        case .webNotification(let data): data.withView { $0.webButtons { _ in true } }
        }
    }

    /// Returns the first button with this id.
    public func action(_ id: String) -> BrazeFacts.Action? {
        switch braze {
        case .none: return nil
        case .payload(let payload):
            defer { withExtendedLifetime(payload) {} }
            return payload.brazeButton(id)?.decoded
        case .webNotification(let data):
            return data.withView { $0.webButtons { $0.equals(id) } }.first
        }
    }

    /// A digest that equals the delivered payload's (rule T15); `nil` if the payload is not Braze's. Computed on each
    /// access.
    public var digest: UInt64? {
        switch braze {
        case .none: nil
        case .payload(let payload): payload.digest
        case .webNotification: stableDigest((campaignID ?? "").utf8)
        }
    }
}

extension PlatformPayload {
    /// Whether a Braze notification has a button.
    fileprivate var hasButtons: Bool {
        var hasButtons = false
        forEachButton { _ in
            hasButtons = true
            return true
        }
        return hasButtons
    }
}

extension JSONView {
    /// Returns the wanted buttons of a Braze notification on the web, from the data that the service worker left:
    /// `actionTargets` has the link of each button that opens one. A button of the type `ab_none` has an empty one.
    fileprivate func webButtons(where isWanted: (BrazeButton.Name) -> Bool) -> [BrazeFacts.Action] {
        guard let targets = member("actionTargets") else { return [] }
        var buttons: [BrazeFacts.Action] = []
        for (id, target) in targets.members where isWanted(.text(id)) {
            let address = target.nonEmptyString
            buttons.append(
                BrazeFacts.Action(
                    id: id.text, kind: address.map(BrazeFacts.Action.Kind.init(webTarget:)) ?? .close, uri: address))
        }
        return buttons
    }
}
