public import PushModel

/// A Braze delivery that the tracker takes over.
public struct TrackedDelivery: Hashable, Sendable {
    /// A button of a notification.
    public struct Button: Hashable, Sendable {
        /// Its id; at most 255 bytes.
        public var id: String
        /// What it does.
        public var action: ButtonAction

        public init(id: String, action: ButtonAction) {
            (self.id, self.action) = (id, action)
        }
    }

    /// Its number.
    public var seq: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user at the time.
    public var externalID: String?
    /// The payload's own id, or the request's that stands in for it.
    public var messageID: String?
    /// Whether the message id is the payload's own. Only such an id tells a repeat (T14): the request's is unique for
    /// its producer alone.
    public var hasOwnID: Bool
    /// The id by which the provider's SDK drops a second receipt (`br_p_id`).
    public var uniqueID: String?
    /// The campaign; without one an open is not attributable.
    public var campaignID: String?
    /// Whether it was displayed (T9).
    public var isDisplayed: Bool
    /// Whether the app was in the foreground (T11).
    public var inForeground: Bool
    /// A digest of what the platform hands back when the notification is tapped; equal for equal payloads, and the same
    /// in every run. Remembered only where there is no id of its own (T15).
    public var digest: UInt64?
    /// Its buttons.
    public var buttons: ButtonList
    /// When it was received.
    public var receivedAt: WallTime

    /// Joins the parts. No text may have more than 65,535 bytes, all of a delivery's together.
    public init(
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
