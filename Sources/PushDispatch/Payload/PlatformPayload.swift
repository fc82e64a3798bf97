import PushModel

/// A payload, read as the platform's code would read it, whichever form it came in.
protocol PlatformPayload: Sendable {
    /// Reads any of the accepted forms.
    init(_ payload: JSONNode) throws(PayloadError)

    /// The payload's own id.
    var messageID: String? { get }
    /// The app that the payload names.
    var app: String? { get }
    /// Whether it is a send body that FCM is only to check.
    var validateOnly: Bool { get }

    /// The value under a key that the app can see.
    subscript(key: String) -> JSONNode? { get }
    /// The value of a key-value pair of the provider's dashboard.
    func dashboardValue(_ key: String) -> JSONNode?
    /// All key-value pairs of the provider's dashboard, in their order.
    var dashboardPairs: [(key: String, value: JSONNode)] { get }

    /// The id that the platform's own list of recent messages goes by; `nil` when it keeps none, or for no id.
    var duplicateID: String? { get }
    /// What the getters of FCM's `RemoteMessage` give; `nil` where there is none.
    var remoteMessage: RemoteMessage? { get }

    /// A digest of what the platform hands back when the notification is tapped; equal for equal payloads, in every run
    /// (tracker, T15). `nil` where nothing comes back that would tell.
    var digest: UInt64? { get }

    /// The top-level keys, in a form that tells fast what is not among them; others may seem to be.
    var keySketch: KeySketch { get }
    /// Whether there is a top-level key that the app can see and that begins with `prefix`.
    func hasKey(beginningWith prefix: String) -> Bool
    /// How many top-level keys the app can see.
    var keyCount: Int { get }

    /// What a Braze payload is; appends of what kind.
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts
    /// Why Braze's rule, as shipped, does not match; `nil` for what is nobody's payload.
    var reasonAgainstBraze: Reason? { get }
    /// What the platform does with it; appends why.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate
    /// Whether the user sees a Braze payload that has met `fate`, where notifications are allowed.
    func shows(_ braze: BrazeFacts, under fate: Fate) -> Bool
    /// What a reviewer would say about it.
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning]
}

extension PlatformPayload {
    var duplicateID: String? { nil }
    var remoteMessage: RemoteMessage? { nil }
}

/// The keys of a payload, for routes to match: values as text, whatever their type.
public struct PayloadKeys: Sendable {
    let payload: any PlatformPayload

    /// The value under one of the payload's own keys: the data map on Android, the top level on iOS, the object on the
    /// web. `nil` when absent; a value that is no string is its JSON without white space.
    public func data(_ key: String) -> String? { payload[key]?.text }

    /// The value of one of the dashboard's key-values: on Android in the JSON text `extra`, or beside the other keys
    /// where there is none (ADM); on iOS at the top level; on the web in `e`. `nil` when absent.
    public func keyValue(_ key: String) -> String? { payload.dashboardValue(key)?.text }

    /// All of the dashboard's key-values, in their order, as text.
    public var keyValues: [(key: String, value: String)] {
        payload.dashboardPairs.map { ($0.key, $0.value.text) }
    }
}
