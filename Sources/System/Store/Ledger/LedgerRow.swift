public import PushModel

/// One line of the report: an invocation and the facts of its request, without the body; or a request that has none.
public struct LedgerRow: Hashable, Sendable {
    /// The request's number.
    public var seq: SequenceNumber
    /// What was asked.
    public var operation: Operation
    /// The producer's own id.
    public var id: String?
    /// The user id of the producer.
    public var uid: UInt32
    /// When the request was accepted.
    public var acceptedAt: WallTime
    /// In whose place the router stood.
    public var mode: DispatchMode
    /// The platform.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device.
    public var device: String?
    /// The payload's own id.
    public var messageID: String?
    /// The transport of a delivery; `nil` unless it is one.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM; `nil` where the payload does not tell.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` where the payload does not tell.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` for what a producer sent.
    public var replayOf: SequenceNumber?
    /// The invocation, without a result while it is in flight; `nil` for a request that led to none.
    public var invocation: InvocationRecord?
}

/// One request and all that came of it.
public struct RequestStory: Hashable, Sendable {
    /// The request with its body.
    public var request: AcceptedRequest
    /// The producer's name, where that is asked for and machines share a log.
    public var producer: String?
    /// Its invocations, in order of `n`.
    public var invocations: [InvocationRecord]
    /// The attempts that the ledger has rows of, in the order in which they ended (see ``AttemptRecord``).
    public var attempts: [AttemptRecord] = []
    /// How many attempts between the first and the last ones have no row any more, by the invocation's number.
    public var attemptsLeftOut: [Int: Int] = [:]
    /// Which of its invocations are dead letters.
    public var deadLetters: [DeadLetter] = []
    /// The requests that are replays of it, in order.
    public var replays: [SequenceNumber] = []
    /// The events it caused, and those of later requests about it, such as its open; in order of `seq`.
    public var events: [AnalyticsEvent]
    /// The entries of custom data that it led to, in order of their numbers.
    public var entries: [EntryRecord]
    /// The progress of a publish; `nil` for any other request.
    public var fanOut: FanOut?
    /// What became of an interaction with one of the tracker's; `nil` while it is held.
    public var verdict: Interaction.Verdict?
}
