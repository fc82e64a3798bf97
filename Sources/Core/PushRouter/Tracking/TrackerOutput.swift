public import PushModel

/// The tracker's decisions in a turn, in order.
public struct TrackerOutput: Sendable {
    /// The new events.
    public var events: [AnalyticsEvent] = []
    /// The changes of the state, to be written in one transaction with the events.
    public var records: [TrackerRecord] = []

    /// No decisions.
    init() {}
}

/// The result of an interaction.
public struct InteractionResult: Hashable, Sendable {
    /// The verdict; `nil`: the interaction is held for the grace, and a later record has the verdict.
    public var verdict: Interaction.Verdict?
    /// The delivery that the interaction is about; for `elsewhere` the one on the other device, for `duplicate` the
    /// opened one.
    public var delivery: SequenceNumber?
    /// The verdict on a held interaction unless another delivery comes within the grace.
    public var otherwise: Interaction.Verdict?
    /// Whether the delivery was displayed (T9); true if there is no delivery.
    var wasDisplayed = true
}

/// The result of a receipt.
public enum ReceiptResult: Hashable, Sendable {
    /// The delivery is new.
    case received
    /// The device had the delivery before (T14): no event, nothing displayed.
    case repeated(of: SequenceNumber)
}

/// The result of a session's start or end.
public enum SessionResult: Hashable, Sendable {
    /// A new session began.
    case started
    /// The start continues an open session, or resumes one that ended within the timeout (T7).
    case continued
    /// The session ended; its event follows when it can no longer be resumed.
    case ended
    /// There was no open session.
    case noSession
    /// The request names no device, so there is no session.
    case withoutDevice
}

/// A Braze delivery for the tracker.
public struct TrackedDelivery: Hashable, Sendable {
    /// A button of a notification.
    public struct Button: Hashable, Sendable {
        /// Its id; at most 255 bytes.
        public var id: String
        /// Its action.
        public var action: ButtonAction
    }

    /// The number of its request.
    public var seq: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user at the time of the delivery.
    public var externalID: String?
    /// The message id: the payload's own, or the request's in place of it.
    public var messageID: String?
    /// Whether the message id is the payload's own. Only such an id identifies a repeat (T14): the request's id is
    /// unique only for its producer.
    var hasOwnID: Bool
    /// The id by which the provider's SDK drops a second receipt (`br_p_id`).
    public var uniqueID: String?
    /// The campaign; without one an open cannot be attributed.
    public var campaignID: String?
    /// Whether the notification was displayed (T9).
    var isDisplayed: Bool
    /// Whether the app was in the foreground (T11).
    var inForeground: Bool
    /// A digest of the payload that the platform hands back on a tap; equal for equal payloads, in every run. Stored
    /// only if the payload has no id of its own (T15).
    public var digest: UInt64?
    /// Its buttons.
    public var buttons: ButtonList
    /// The time of receipt.
    var receivedAt: WallTime

    /// Joins the parts. The texts of a delivery may have at most 65,535 bytes together.
    init(
        seq: SequenceNumber, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, hasOwnID: Bool = true, uniqueID: String? = nil, campaignID: String?,
        isDisplayed: Bool = true, inForeground: Bool = false, digest: UInt64? = nil, buttons: ButtonList = [],
        receivedAt: WallTime
    ) {
        self.seq = seq
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.messageID = messageID
        self.hasOwnID = hasOwnID
        self.uniqueID = uniqueID
        self.campaignID = campaignID
        self.isDisplayed = isDisplayed
        self.inForeground = inForeground
        self.digest = digest
        self.buttons = buttons
        self.receivedAt = receivedAt
    }
}
