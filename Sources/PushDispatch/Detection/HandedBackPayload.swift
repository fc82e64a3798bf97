public import PushModel

/// What is known of a delivery from the payload that the platform hands back when the user acts on it.
public struct HandedBackPayload: Sendable {
    /// Whose it is; `nil` when no provider's rule matches.
    public var provider: String?
    /// The campaign, if it is Braze's and has one.
    public var campaignID: String?
    /// The payload's own id, if it has one.
    public var messageID: String?
    /// The payload's keys, for routes to match; `nil` on the web, where what comes back is not what was delivered.
    public var keys: PayloadKeys?
    /// The category on iOS, which says what buttons there are and whether the app hears of a dismissal.
    public var category: String?
    /// The buttons, if it is Braze's.
    public var actions: [BrazeFacts.Action] = []
    /// A digest that is the delivered payload's as well (tracker, T15); `nil` where nothing tells.
    public var digest: UInt64?
    /// Whether `actions` are all the buttons that the notification has.
    var hasAllActions = false

    /// Reads the payload: what was delivered on Android and iOS, the notification's `data` on the web.
    public init(
        _ payload: JSONNode, platform: Platform, settings: DetectionSettings = DetectionSettings()
    ) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: platform)
        switch platform {
        case .android:
            read(try AndroidPayload(payload), platform, settings)
            hasAllActions = true
        case .ios:
            let payload = try ApplePayload(payload)
            read(payload, platform, settings)
            category = payload.category
            // Buttons of a category of the app's own need no word in the payload.
            hasAllActions = !actions.isEmpty
        case .web:
            // The service worker leaves its ids under `ab_ids`; a click without them is somebody else's.
            guard let ids = payload["ab_ids"] else {
                provider =
                    settings.matches(try WebPayload(payload), on: .web)
                    .first { $0.provider.name != ProviderRule.brazeName }?.provider.name
                return
            }
            provider = ProviderRule.brazeName
            campaignID = ids["cid"]?.string
            digest = campaignID.map { stableDigest($0.utf8) }
            actions = BrazeFacts.Action.inWebNotification(payload)
        }
    }

    private mutating func read(
        _ payload: some PlatformPayload, _ platform: Platform, _ settings: DetectionSettings
    ) {
        keys = PayloadKeys(payload: payload)
        provider = settings.matches(payload, on: platform).first?.provider.name
        guard provider == ProviderRule.brazeName else { return }
        var reasons: [Reason] = []
        let facts = payload.brazeFacts(settings, because: &reasons)
        digest = payload.digest
        campaignID = facts.campaignID
        actions = facts.actions
    }
}
