import PushModel

/// A payload in any accepted form, read as the platform's code would read it.
///
/// A class, because it is parsed once and immutable. It keeps its document alive; a caller that uses its views must
/// keep it alive.
protocol PlatformPayload: AnyObject, ConditionSubject, Sendable {
    /// The service that carried the payload.
    var transport: Transport { get }
    /// FCM's priorities of the message, as sent and as delivered; `nil` if not stated.
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { get }
    /// The payload's own id.
    var messageID: String? { get }
    /// The app that the payload names.
    var app: String? { get }
    /// Whether it is a send body that FCM only validates.
    var validateOnly: Bool { get }

    /// The place of the dashboard's key-values. Parses the text that contains them, if any.
    var dashboardPairs: DashboardPairs { get }

    /// The id for the platform's list of recent messages; `nil` if the platform has no such list, or the payload no id.
    var duplicateID: String? { get }
    /// The time for which the service keeps the message; `nil` if not stated.
    var timeToLive: TimeToLive? { get }
    /// The values of the getters of FCM's `RemoteMessage`; `nil` if there is no message.
    var remoteMessage: RemoteMessage? { get }

    /// The change of the push token, if the payload is an intent about one; `nil` otherwise.
    var tokenChange: TokenChange? { get }

    /// A digest of the payload that the platform hands back on a tap; equal for equal payloads, in every run (rule
    /// T15). `nil` if the platform hands back nothing that identifies the payload.
    var digest: UInt64? { get }

    /// The objects with the top-level keys, including keys that the app does not see.
    var keyHolders: (JSONObject?, JSONObject?) { get }

    /// Returns the facts about a Braze payload; appends the reason of its kind.
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts
    /// Calls `isEnough` with each button of a Braze notification in order, until it returns true.
    func forEachButton(until isEnough: (BrazeButton) -> Bool)
    /// The link that a tap on a Braze notification opens; `nil`: a tap opens the app.
    var brazeLink: String? { get }
    /// The reason why Braze's shipped rule does not match; `nil` for an intent about a token.
    var reasonAgainstBraze: Reason? { get }
    /// Returns the platform's treatment of the payload; appends the reasons.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate
    /// Whether the user sees a Braze payload of this kind and fate, if notifications are allowed.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool
    /// Returns warnings about the payload.
    func warnings(braze: BrazeFacts?) -> [Warning]
}

extension PlatformPayload {
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { (nil, nil) }
    var duplicateID: String? { nil }
    var tokenChange: TokenChange? { nil }
    var remoteMessage: RemoteMessage? { nil }
}

/// The place of the dashboard's key-values. Indirect, because it is passed along with the keys and seldom read.
indirect enum DashboardPairs: Sendable {
    /// The payload has none.
    case none
    /// The payload's own keys. A list of them has only the keys of an object that are not the provider's.
    case ownKeys(of: JSONView, isProviders: @Sendable (JSONView) -> Bool)
    /// The members of an object in the payload.
    case object(JSONView)
    /// The members of the JSON object in a text of the payload.
    case text(JSONDocument)
}
