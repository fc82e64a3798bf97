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

    /// A request of which nothing more is known.
    public init(
        request: AcceptedRequest, invocations: [InvocationRecord] = [], events: [AnalyticsEvent] = [],
        entries: [EntryRecord] = []
    ) {
        (self.request, self.invocations, self.events, self.entries) = (request, invocations, events, entries)
    }
}

extension AcceptedRequest {
    /// Whether an erasure took out what it said: a request that came has an op.
    public var isErased: Bool { body.elementsEqual("{}".utf8) }
}
