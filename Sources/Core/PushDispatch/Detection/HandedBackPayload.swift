public import PushModel

/// The facts of a delivery from the payload that the platform hands back when the user acts on it.
public struct HandedBackPayload: Sendable {
    /// The provider; `nil`: no provider's rule matches.
    public let provider: String?
    /// The campaign of a Braze payload; `nil`: none.
    public let campaignID: String?
    /// The payload's own id; `nil`: it has none.
    public let messageID: String?
    /// The payload's keys, for the conditions of routes; `nil` on the web, which hands back other data.
    public let keys: PayloadKeys?
    /// The category on iOS, which determines the buttons and whether the app learns of a dismissal.
    public let category: String?
    /// Whether `actions` has all buttons of the notification.
    let hasAllActions: Bool
    private let braze: Source

    /// The source of the Braze facts.
    private enum Source: Sendable {
        /// The payload is not Braze's.
        case none
        /// The delivered payload.
        case payload(any PlatformPayload)
        /// The data of the notification from Braze's service worker.
        case webNotification(JSONNode)
    }

    /// Reads the payload: on Android and iOS as delivered, on the web the notification's `data`.
    public init(
        _ payload: JSONNode, platform: Platform, settings: DetectionSettings = DetectionSettings()
    ) throws(PayloadError) {
        switch platform {
        case .android:
            self.init(try AndroidPayload(payload), platform, settings, category: nil) { _ in true }
        case .ios:
            let payload = try ApplePayload(payload)
            // Buttons of the app's own category need not appear in the payload.
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

    /// Reads the notification's data, which a click on the web brings.
    private init(clicked data: JSONNode, _ settings: DetectionSettings) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: data, platform: .web)
        keys = nil
        category = nil
        hasAllActions = false
        // Braze's service worker puts its ids under `ab_ids`; a click without them belongs to another provider.
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

    /// The buttons of a Braze notification. Computed on each read.
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
            return payload.brazeButton(id)?.told
        case .webNotification(let data):
            return data.withView { $0.webButtons { $0.equals(id) } }.first
        }
    }

    /// A digest that equals the delivered payload's (rule T15); `nil`: there is none. Computed on each read.
    public var digest: UInt64? {
        switch braze {
        case .none: nil
        case .payload(let payload): payload.digest
        case .webNotification: stableDigest((campaignID ?? "").utf8)
        }
    }
}

extension PlatformPayload {
    /// Whether a Braze notification has any button.
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
    /// Returns the wanted buttons of a Braze notification on the web, from the worker's data in it: `actionTargets` has
    /// the address of every button that opens one. A button of the type `ab_none` has no address.
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
