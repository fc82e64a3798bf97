public import PushModel

/// What is known of a delivery from the payload that the platform hands back when the user acts on it.
public struct HandedBackPayload: Sendable {
    /// Whose it is; `nil` when no provider's rule matches.
    public let provider: String?
    /// The campaign, if it is Braze's and has one.
    public let campaignID: String?
    /// The payload's own id, if it has one.
    public let messageID: String?
    /// The payload's keys, for routes to match; `nil` on the web, where what comes back is not what was delivered.
    public let keys: PayloadKeys?
    /// The category on iOS, which says what buttons there are and whether the app hears of a dismissal.
    public let category: String?
    /// Whether `actions` are all the buttons that the notification has.
    let hasAllActions: Bool
    private let braze: Source

    /// Where the facts of Braze's are read from.
    private enum Source: Sendable {
        /// It is not Braze's.
        case none
        /// What was delivered.
        case payload(any PlatformPayload)
        /// What Braze's service worker left in the notification.
        case webNotification(JSONNode)
    }

    /// Reads the payload: what was delivered on Android and iOS, the notification's `data` on the web.
    public init(
        _ payload: JSONNode, platform: Platform, settings: DetectionSettings = DetectionSettings()
    ) throws(PayloadError) {
        switch platform {
        case .android:
            self.init(try AndroidPayload(payload), platform, settings, category: nil) { _ in true }
        case .ios:
            let payload = try ApplePayload(payload)
            // Buttons of a category of the app's own need no word in the payload.
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

    /// What a click on the web brings: the notification's data.
    private init(clicked data: JSONNode, _ settings: DetectionSettings) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: data, platform: .web)
        keys = nil
        category = nil
        hasAllActions = false
        // The service worker leaves its ids under `ab_ids`; a click without them is somebody else's.
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

    /// The buttons, if it is Braze's. Read when asked for.
    public var actions: [BrazeFacts.Action] {
        switch braze {
        case .none: []
        case .payload(let payload): payload.brazeActions
        case .webNotification(let data): data.withView { $0.webButtons { _ in true } }
        }
    }

    /// The first of the buttons with this id.
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

    /// A digest that is the delivered payload's as well (rule T15); `nil` where nothing tells. Read when asked for.
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
    /// The buttons of a notification of Braze's on the web, of those that are wanted, by what the worker leaves in its
    /// data: `actionTargets` has the address of every button that opens one. A button of the type `ab_none` has none.
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
