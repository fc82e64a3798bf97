import PushModel

/// A payload in any form, read as the platform's code would read it.
///
/// A class whose facts are read once and never change. It keeps its document alive; its views are valid as long as the
/// caller keeps the payload alive.
protocol PlatformPayload: AnyObject, ConditionSubject, Sendable {
    /// The transport.
    var transport: Transport { get }
    /// FCM's priorities of the message, as sent and as delivered; `nil`: there is none.
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { get }
    /// The payload's own id.
    var messageID: String? { get }
    /// The app that the payload names.
    var app: String? { get }
    /// Whether it is a send body that FCM checks without sending.
    var validateOnly: Bool { get }

    /// The place of the dashboard's key-values. Parses the text that holds them, if there is one.
    var dashboardPairs: DashboardPairs { get }

    /// The id for the platform's list of recent messages; `nil`: the platform has no list, or the payload no id.
    var duplicateID: String? { get }
    /// The values of the getters of FCM's `RemoteMessage`; `nil`: there is no such object.
    var remoteMessage: RemoteMessage? { get }

    /// The change of the push token, if the payload is an intent about it; `nil` for a message.
    var tokenChange: TokenChange? { get }

    /// A digest of the payload that the platform hands back on a tap; equal for equal payloads, in every run (rule
    /// T15). `nil`: nothing comes back that would identify it.
    var digest: UInt64? { get }

    /// The objects with the top-level keys, including keys that the app does not see.
    var keyHolders: (JSONObject?, JSONObject?) { get }

    /// Classifies a Braze payload; appends the reasons.
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts
    /// Calls a closure for each button of a Braze notification in order, until `isEnough` returns true.
    func forEachButton(until isEnough: (BrazeButton) -> Bool)
    /// The link that a tap on a Braze notification opens; `nil`: the app.
    var brazeLink: String? { get }
    /// The reason why Braze's shipped rule does not match; `nil` for a payload without a provider, such as a token.
    var reasonAgainstBraze: Reason? { get }
    /// Returns the platform's treatment; appends the reasons.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate
    /// Whether the user sees a Braze payload of this kind after this fate, if notifications are allowed.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool
    /// Returns the warnings about the payload.
    func warnings(braze: BrazeFacts?) -> [Warning]
}

extension PlatformPayload {
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { (nil, nil) }
    var duplicateID: String? { nil }
    var tokenChange: TokenChange? { nil }
    var remoteMessage: RemoteMessage? { nil }
}

/// The place of the dashboard's key-values. Indirect, because it is passed on with the keys and seldom read.
indirect enum DashboardPairs: Sendable {
    /// There are no key-values.
    case none
    /// The payload's own keys. A list has only the keys of the object that are not the provider's.
    case ownKeys(of: JSONView, isProviders: @Sendable (JSONView) -> Bool)
    /// The members of an object in the payload.
    case object(JSONView)
    /// The members of the object that a string in the payload holds as JSON.
    case text(JSONDocument)
}
