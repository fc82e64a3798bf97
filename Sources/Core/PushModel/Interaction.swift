/// What a person did with a notification, as the tracker takes it.
public struct Interaction: Hashable, Sendable {
    /// How an interaction names its delivery.
    public enum Subject: Hashable, Sendable {
        /// By its number.
        case delivery(SequenceNumber)
        /// By the payload's own id; the latest on that device.
        case message(String)
        /// By the digest of the payload, when it carries no id; the latest unopened one on that device.
        case payload(UInt64)
    }

    /// What was done.
    public enum Act: Hashable, Sendable {
        /// The body was tapped.
        case opened
        /// The button with this id was pressed.
        case button(String)
        /// The notification was swept away.
        case dismissed
    }

    /// What became of it. The raw values are kept in ledgers.
    public enum Verdict: String, Sendable, CaseIterable {
        /// A direct open (T1).
        case opened
        /// A close button, for the first time: a click, no direct open (T1).
        case closed
        /// Opened or closed before; counts nothing (T2).
        case duplicate
        /// A tap on a delivery without a campaign: nobody's (T3).
        case unattributed
        /// Swept away (T12).
        case dismissed
        /// The delivery has no such button; counts nothing.
        case unknownAction = "unknown_action"
        /// The delivery went to another device or app; counts nothing.
        case elsewhere
        /// No delivery of it is remembered, and none came within the grace (T15).
        case unmatched
    }

    /// The request that told of it.
    public var cause: SequenceNumber
    /// Which delivery.
    public var subject: Subject
    /// What was done.
    public var act: Act
    /// The platform.
    public var platform: Platform
    /// The app, if it is known.
    public var app: String?
    /// The device, if it is known; without one the latest delivery on any is meant.
    public var device: String?
    /// Who did it; `nil`: whoever received the delivery.
    public var externalID: String?
    /// When it was done.
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
