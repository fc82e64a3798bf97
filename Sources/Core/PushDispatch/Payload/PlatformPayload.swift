import PushModel

/// A payload, read as the platform's code would read it, whichever form it came in.
///
/// A reference to what is read once and never changes: it holds on to the document, and the views that it gives are for
/// whoever holds on to it.
protocol PlatformPayload: AnyObject, ConditionSubject, Sendable {
    /// What brought it.
    var transport: Transport { get }
    /// FCM's priorities of the message, as it was sent and as it was delivered; `nil` where there is none.
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { get }
    /// The payload's own id.
    var messageID: String? { get }
    /// The app that the payload names.
    var app: String? { get }
    /// Whether it is a send body that FCM is only to check.
    var validateOnly: Bool { get }

    /// Where the key-value pairs of the provider's dashboard are. Reads the text that holds them, where one does.
    var dashboardPairs: DashboardPairs { get }

    /// The id that the platform's own list of recent messages goes by; `nil` when it keeps none, or for no id.
    var duplicateID: String? { get }
    /// What the getters of FCM's `RemoteMessage` give; `nil` where there is none.
    var remoteMessage: RemoteMessage? { get }

    /// What it says of the push token, where it is no message but an intent about one; `nil` otherwise.
    var tokenChange: TokenChange? { get }

    /// A digest of what the platform hands back when the notification is tapped; equal for equal payloads, in every run
    /// (rule T15). `nil` where nothing comes back that would tell.
    var digest: UInt64? { get }

    /// The objects that have the top-level keys, also those that the app does not see.
    var keyHolders: (JSONObject?, JSONObject?) { get }

    /// What a Braze payload is; appends of what kind.
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts
    /// Shows the buttons of a Braze notification in their order, until `isEnough` says so.
    func forEachButton(until isEnough: (BrazeButton) -> Bool)
    /// Where a tap on a Braze notification leads; `nil`: into the app.
    var brazeLink: String? { get }
    /// Why Braze's rule, as shipped, does not match; `nil` for what is nobody's payload.
    var reasonAgainstBraze: Reason? { get }
    /// What the platform does with it; appends why.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate
    /// Whether the user sees a Braze payload of a kind that has met `fate`, where notifications are allowed.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool
    /// What a reviewer would say about it.
    func warnings(braze: BrazeFacts?) -> [Warning]
}

extension PlatformPayload {
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { (nil, nil) }
    var duplicateID: String? { nil }
    var tokenChange: TokenChange? { nil }
    var remoteMessage: RemoteMessage? { nil }
}

/// Where the key-value pairs of the provider's dashboard are. Indirect: it is handed on with the keys, and seldom read.
indirect enum DashboardPairs: Sendable {
    /// There are none.
    case none
    /// They are the payload's own keys. Listed are only those of an object whose key is not the provider's.
    case ownKeys(of: JSONView, isProviders: @Sendable (JSONView) -> Bool)
    /// The members of an object in the payload.
    case object(JSONView)
    /// The members of the object that a text in the payload is.
    case text(JSONDocument)
}
