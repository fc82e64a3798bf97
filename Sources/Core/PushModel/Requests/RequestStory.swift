/// One request with its invocations, attempts, events and entries.
public struct RequestStory: Hashable, Sendable {
    /// The request with its body.
    public var request: AcceptedRequest
    /// The producer's name, if the caller asked for it and machines share a log.
    public var producer: String?
    /// Its invocations, in order of `n`.
    public var invocations: [InvocationRecord]
    /// The attempts that have rows in the ledger (see ``AttemptRecord``), in the order in which they ended.
    public var attempts: [AttemptRecord] = []
    /// The number of attempts between the first and the last ones that have no row any more, by the invocation's
    /// number.
    public var attemptsLeftOut: [Int: Int] = [:]
    /// The dead letters among its invocations.
    public var deadLetters: [DeadLetter] = []
    /// The requests that are replays of it, in order.
    public var replays: [SequenceNumber] = []
    /// The events that it caused, and those of later requests about it, such as its open; in order of `seq`.
    public var events: [AnalyticsEvent]
    /// The entries of custom data that it led to, in order of their numbers.
    public var entries: [EntryRecord]
    /// The progress of a publish; `nil` for any other request.
    public var fanOut: FanOut?
    /// The tracker's verdict on an interaction with one of its deliveries; `nil` while the interaction is held.
    public var verdict: Interaction.Verdict?

    /// The configuration that decided it, if the caller asked for it; `nil` if it is unknown.
    public var configuration: DecidingConfiguration?

    /// Creates a story of a request without attempts, dead letters and replays.
    public init(
        request: AcceptedRequest, invocations: [InvocationRecord] = [], events: [AnalyticsEvent] = [],
        entries: [EntryRecord] = []
    ) {
        (self.request, self.invocations, self.events, self.entries) = (request, invocations, events, entries)
    }
}

extension AcceptedRequest {
    /// Whether an erasure replaced the body by `{}`; the body of an accepted request always has an `op`.
    public var isErased: Bool { body.elementsEqual("{}".utf8) }
}
