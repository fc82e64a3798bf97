/// A person's action on a notification, as the tracker receives it.
public struct Interaction: Hashable, Sendable {
    /// The interaction's reference to its delivery.
    public enum Subject: Hashable, Sendable {
        /// The delivery's number.
        case delivery(SequenceNumber)
        /// The payload's own id; the latest delivery with it on that device.
        case message(String)
        /// The digest of a payload without an id; the latest unopened delivery with it on that device.
        case payload(UInt64)
    }

    /// The action.
    public enum Act: Hashable, Sendable {
        /// The body was tapped.
        case opened
        /// The button with this id was pressed.
        case button(String)
        /// The notification was swept away.
        case dismissed
    }

    /// The tracker's verdict on an interaction. Ledgers store the raw values.
    public enum Verdict: String, Sendable, CaseIterable {
        /// A direct open (T1).
        case opened
        /// A close button, for the first time: a click, no direct open (T1).
        case closed
        /// The delivery was opened or closed before; counts nothing (T2).
        case duplicate
        /// A tap on a delivery without a campaign: causes no campaign event (T3).
        case unattributed
        /// The notification was dismissed (T12).
        case dismissed
        /// The delivery does not have the button; the tracker counts nothing.
        case unknownAction = "unknown_action"
        /// The delivery went to another device or app; the tracker counts nothing.
        case elsewhere
        /// The tracker remembers no such delivery, and none came within the grace (T15).
        case unmatched
    }

    /// The request that reported the interaction.
    public var cause: SequenceNumber
    /// The reference to the delivery.
    public var subject: Subject
    /// The action.
    public var act: Act
    /// The platform.
    public var platform: Platform
    /// The app; `nil` if unknown.
    public var app: String?
    /// The device; `nil` if unknown: then the latest delivery on any device matches.
    public var device: String?
    /// The user who acted; `nil`: the user who received the delivery.
    public var externalID: String?
    /// The time of the interaction.
    public var at: WallTime

    public init(
        cause: SequenceNumber, subject: Subject, act: Act, platform: Platform, app: String? = nil,
        device: String? = nil, externalID: String? = nil, at: WallTime
    ) {
        self.cause = cause
        self.subject = subject
        self.act = act
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.at = at
    }
}
