public import PushModel

/// The events and records of the tracker in a turn, in order.
public struct TrackerOutput: Sendable {
    /// New events.
    public var events: [AnalyticsEvent] = []
    /// The changes of the state, to be written in one transaction with the events.
    public var records: [TrackerRecord] = []

    /// Creates an empty output.
    public init() {}
}

/// The result of an interaction.
public struct InteractionResult: Hashable, Sendable {
    /// The verdict; `nil`: the interaction is held for the grace, and a record will have its verdict.
    public var verdict: Interaction.Verdict?
    /// The delivery; for `elsewhere` the one on the other device, for `duplicate` the one that was opened.
    public var delivery: SequenceNumber?
    /// The verdict on a held interaction if no further delivery comes within the grace.
    public var otherwise: Interaction.Verdict?
    /// Whether the delivery was displayed (T9); true without a delivery.
    public var wasDisplayed = true
}

/// The result of a receipt.
public enum ReceiptResult: Hashable, Sendable {
    /// The delivery is new.
    case received
    /// This device had the delivery before (T14): no event, nothing displayed.
    case repeated(of: SequenceNumber)
}

/// The result of a session's start or end.
public enum SessionResult: Hashable, Sendable {
    /// A new session began.
    case started
    /// The start continues an open session, or resumes one that ended within the timeout (T7).
    case continued
    /// The session ended; its event comes when it can no longer be resumed.
    case ended
    /// There was no session to end.
    case noSession
    /// The request names no device, so there is no session.
    case withoutDevice
}
