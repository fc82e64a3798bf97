/// An analytics event, named and shaped as the provider's own message engagement events.
public struct AnalyticsEvent: Hashable, Sendable {
    /// The kinds of event. The raw values are the names on the wire.
    public enum Kind: String, Sendable, CaseIterable {
        case open = "users.messages.pushnotification.Open"
        case received = "local.pushnotification.Received"
        case influencedOpen = "users.messages.pushnotification.InfluencedOpen"
        case iosForeground = "users.messages.pushnotification.IosForeground"
        case sessionStart = "users.behaviors.app.SessionStart"
        case sessionEnd = "users.behaviors.app.SessionEnd"
        case tokenStateChange = "users.behaviors.pushnotification.TokenStateChange"
        case uninstall = "users.behaviors.Uninstall"
        case customEvent = "users.behaviors.CustomEvent"
    }

    /// Fixed when the event is decided; downstream deduplicates by it.
    public var id: UUID128
    /// What happened.
    public var kind: Kind
    /// When, in whole UTC seconds rounded down.
    public var time: Int64
    /// The request that caused it.
    public var seq: SequenceNumber
    /// The delivery it is about: the same as `seq` for a receipt, and for what is about none.
    public var delivery: SequenceNumber
    /// The user.
    public var externalUserID: String?
    /// The device.
    public var deviceID: String?
    /// The app.
    public var appID: String?
    /// The platform.
    public var platform: Platform
    /// The campaign, as the payload names it.
    public var campaignID: String?
    /// The payload's own id.
    public var messageID: String?
    /// For a button: what it does (`uri`, `deep_link`, `none`, `close`); `nil` for the body.
    public var buttonActionType: String?
    /// For a button: its id.
    public var buttonString: String?
    /// For the end of a session: how long it took.
    public var duration: Duration?
    /// For a change of a token: the token.
    public var pushToken: String?
    /// For a change of a token: what happened to it.
    public var tokenChange: TokenRequest.Kind?
    /// Of a custom event: its name.
    public var name: String?
    /// Of a custom event: its properties, a JSON object without white space.
    public var properties: String?

    /// Joins the parts.
    public init(
        id: UUID128, kind: Kind, time: Int64, seq: SequenceNumber, delivery: SequenceNumber, externalUserID: String?,
        deviceID: String?, appID: String?, platform: Platform, campaignID: String?, messageID: String?,
        buttonActionType: String? = nil, buttonString: String? = nil, duration: Duration? = nil,
        pushToken: String? = nil, tokenChange: TokenRequest.Kind? = nil, name: String? = nil, properties: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.seq = seq
        self.delivery = delivery
        self.externalUserID = externalUserID
        self.deviceID = deviceID
        self.appID = appID
        self.platform = platform
        self.campaignID = campaignID
        self.messageID = messageID
        self.buttonActionType = buttonActionType
        self.buttonString = buttonString
        self.duration = duration
        self.pushToken = pushToken
        self.tokenChange = tokenChange
        self.name = name
        self.properties = properties
    }
}
