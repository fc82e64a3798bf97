public import PushModel

/// What the tracker decided in a turn; appended to in order.
public struct TrackerOutput: Sendable {
    /// New events.
    public var events: [AnalyticsEvent] = []
    /// Changes of the state, to be written in one transaction with the events.
    public var records: [TrackerRecord] = []

    /// Nothing.
    public init() {}
}

/// What became of an interaction.
public struct InteractionResult: Hashable, Sendable {
    /// What became of it; `nil`: it is held for the grace, and a record will say.
    public var verdict: Interaction.Verdict?
    /// The delivery it is about; for `elsewhere` the one on the other device, for `duplicate` the one that was opened.
    public var delivery: SequenceNumber?
    /// Of an interaction that is held: the verdict unless one more delivery comes within the grace.
    public var otherwise: Interaction.Verdict?
    /// Whether the delivery it is about was displayed (T9). Without a delivery nobody says that it was not.
    public var wasDisplayed = true
}

/// What became of a receipt.
public enum ReceiptResult: Hashable, Sendable {
    /// It is new.
    case received
    /// This device had it before (T14): no event, nothing displayed.
    case repeated(of: SequenceNumber)
}

/// What became of a session's start or end.
public enum SessionResult: Hashable, Sendable {
    /// A new session began.
    case started
    /// The start continues an open session, or resumes one that ended within the timeout (T7).
    case continued
    /// The session ended; its event comes when it can no longer be resumed.
    case ended
    /// There was no session to end.
    case noSession
    /// Without a device there is no session to know of.
    case withoutDevice
}
