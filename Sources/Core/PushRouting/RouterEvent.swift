public import PushCustomData
public import PushModel

/// An event for the router.
public enum RouterEvent: Sendable {
    /// The handler of this invocation began to run at this time; `nil`: now. The report may be late.
    case started(InvocationID, at: Instant? = nil)
    /// The facts of this invocation's run, which is about to end.
    case observed(InvocationID, RunFacts)
    /// The handler of this invocation ended or answered.
    case finished(InvocationID, HandlerAnswer)
    /// The handler of this invocation could not be started, perhaps after a `started`; the reason is for people.
    case failedToStart(InvocationID, reason: String)
    /// Time has passed; fires the timers that are due.
    case clock
    /// The configuration was replaced. Invocations in flight keep the handler that they have.
    case reconfigured(RoutingTable)
    /// The daemon is shutting down: it accepts and starts nothing more.
    case draining
}

/// The acceptance of a request.
public struct Acceptance: Sendable {
    /// The number of the request. The acceptance holds once the records among the effects are on disk.
    public var seq: SequenceNumber
    /// The number of its invocations.
    public var invocations: Int
    /// The rejected entries of custom data, from the log request or from the tracks.
    public var rejections: [Rejection]
    /// The number of entries that it flushed without sending despite `SendFlushed=yes`: their session has no user.
    public var flushedUnsent = 0
    /// The number of devices of a publish.
    public var members: Int?
    /// The result of each token of an `op: topic`.
    public var topicResults: [TopicRequest.Result]?
}

/// The reason why a request is not accepted.
public enum Refusal: Error, Hashable, Sendable {
    /// The payload is invalid for its platform: the field and the fault.
    case invalidPayload(field: String, message: String)
    /// An interaction names a delivery by a number that no request has yet.
    case unknownNumber(SequenceNumber, last: SequenceNumber)
    /// A limit of requests in flight is reached, in all or for this peer.
    case overloaded(message: String, retryAfter: Duration)
    /// The daemon is ending.
    case draining
    /// A key of the request has an invalid value.
    case invalidValue(field: String, message: String)
    /// A request cannot be replayed; the reason is for people.
    case notReplayable(String)
}
