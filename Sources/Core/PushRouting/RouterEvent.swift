public import PushCustomData
public import PushModel

/// An input event of the router.
public enum RouterEvent: Sendable {
    /// The handler of this invocation began to run at this time; `nil`: now. The event may come later than the start.
    case started(InvocationID, at: Instant? = nil)
    /// Facts about the run of this invocation, which is about to end.
    case observed(InvocationID, RunFacts)
    /// The handler of this invocation answered or ended.
    case finished(InvocationID, HandlerAnswer)
    /// The handler of this invocation could not be started, even if `started` came before; the reason is for people.
    case failedToStart(InvocationID, reason: String)
    /// Time has passed: due timers fire.
    case clock
    /// The configuration was replaced. Invocations in flight keep their handlers.
    case reconfigured(RoutingTable)
    /// Another machine takes over: this machine starts no handler for later requests, built-in handlers apart.
    case handingOver
    /// The daemon is to end: nothing new is accepted or started.
    case draining
}

/// The result of accepting a request.
public struct Acceptance: Sendable {
    /// The request's number. The request counts as accepted once the records among the effects are on disk.
    public var seq: SequenceNumber
    /// The number of its invocations.
    public var invocations: Int
    /// The rejected entries of custom data, from a log request or from tracks.
    public var rejections: [Rejection]
    /// The number of entries that it flushed but could not send despite `SendFlushed=yes`, because their session has no
    /// user.
    public var flushedUnsent = 0
    /// The number of devices that a publish reaches; `nil` for other requests.
    public var members: Int?
    /// The result of each token of `op: topic`; `nil` for other requests.
    public var topicResults: [TopicRequest.Result]?
}

extension Acceptance {
    /// The acceptance of a request in the ledger, for the reply to a repetition. Every fact that a reply has is in the
    /// ledger, except the results of `op: topic`, which has no `id`.
    public init(_ story: RequestStory) {
        // The entries of a handler's answer came after the first reply.
        let rejected = story.entries.filter { entry in
            entry.wasRejectedOnArrival && entry.entry.savedAt == story.request.acceptedAt.wall
        }
        self.init(
            seq: story.request.seq, invocations: story.invocations.count,
            rejections: rejected.map { Rejection(of: $0) }, members: story.fanOut?.members)
    }
}

/// The reason why a request is not accepted.
public enum Refusal: Error, Hashable, Sendable {
    /// The platform would not accept the payload: the field, and the fault.
    case invalidPayload(field: String, message: String)
    /// An interaction names a delivery by a number that no request has yet.
    case unknownNumber(SequenceNumber, last: SequenceNumber)
    /// Too many requests are in flight, in all or of this peer.
    case overloaded(message: String, retryAfter: Duration)
    /// The rows of the request would be longer than a batch of the log may be.
    case tooLong(message: String)
    /// The daemon is about to end.
    case draining
    /// A key of the request has an invalid value.
    case invalidValue(field: String, message: String)
    /// A request cannot be replayed; the reason is for people.
    case notReplayable(String)
}
