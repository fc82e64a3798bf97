public import PushModel

/// A Braze delivery that the tracker took over and that may still be opened.
public struct TrackedDelivery: Hashable, Sendable {
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
    /// The payload's own id.
    public var messageID: String?
    /// The campaign; without one an open is not attributable.
    public var campaignID: String?
    /// When it was received.
    public var receivedAt: WallTime

    /// Joins the parts.
    public init(
        seq: SequenceNumber, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, campaignID: String?, receivedAt: WallTime
    ) {
        self.seq = seq
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.messageID = messageID
        self.campaignID = campaignID
        self.receivedAt = receivedAt
    }
}
