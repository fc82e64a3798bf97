package import PushModel

/// A Braze delivery that the tracker takes over.
package struct TrackedDelivery: Hashable, Sendable {
    /// A button of a notification.
    package struct Button: Hashable, Sendable {
        /// Its id; at most 255 bytes.
        package var id: String
        /// What it does.
        package var action: ButtonAction

        /// Joins the two.
        package init(id: String, action: ButtonAction) {
            self.id = id
            self.action = action
        }
    }

    /// Its number.
    package var seq: SequenceNumber
    /// The platform.
    package var platform: Platform
    /// The app.
    package var app: String?
    /// The device.
    package var device: String?
    /// The user at the time.
    package var externalID: String?
    /// The payload's own id, or the request's that stands in for it.
    package var messageID: String?
    /// Whether the message id is the payload's own. Only such an id tells a repeat (T14): the request's is unique for
    /// its producer alone.
    package var hasOwnID: Bool
    /// The id by which the provider's SDK drops a second receipt (`br_p_id`).
    package var uniqueID: String?
    /// The campaign; without one an open is not attributable.
    package var campaignID: String?
    /// Whether it was displayed (T9).
    package var isDisplayed: Bool
    /// Whether the app was in the foreground (T11).
    package var inForeground: Bool
    /// A digest of what the platform hands back when the notification is tapped; equal for equal payloads, and the same
    /// in every run. Remembered only where there is no id of its own (T15).
    package var digest: UInt64?
    /// Its buttons.
    package var buttons: ButtonList
    /// When it was received.
    package var receivedAt: WallTime

    /// Joins the parts. No text may have more than 65,535 bytes, all of a delivery's together.
    package init(
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
