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
    var buttons: BrazeButtons?

    /// Reads the payload: what was delivered on Android and iOS, the notification's `data` on the web.
    public init(
        _ payload: JSONNode, platform: Platform, settings: DetectionSettings = DetectionSettings()
    ) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: platform)
        switch platform {
        case .android:
            let payload = try AndroidPayload(payload)
            if read(payload, settings) { buttons = BrazeButtons(payload) }
        case .ios:
            let payload = try ApplePayload(payload)
            category = payload.category
            if read(payload, settings) { buttons = BrazeButtons(payload) }
        case .web:
            // The service worker leaves its ids under `ab_ids`; a click without them is somebody else's.
            guard let ids = payload["ab_ids"] else { return }
            provider = "braze"
            campaignID = ids["cid"]?.string
            buttons = BrazeButtons(ofWebNotification: payload)
        }
    }

    /// Reads what all platforms share; returns whether it is Braze's.
    private mutating func read(_ payload: some PlatformPayload, _ settings: DetectionSettings) -> Bool {
        keys = PayloadKeys(payload: payload)
        var reasons: [Reason] = []
        guard let facts = payload.brazeFacts(settings, because: &reasons) else { return false }
        provider = "braze"
        campaignID = facts.campaignID
        return true
    }
}
