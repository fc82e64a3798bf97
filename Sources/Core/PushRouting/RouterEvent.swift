public import PushCustomData
public import PushModel

/// What the router is told.
public enum RouterEvent: Sendable {
    /// The handler of this invocation began to run, at this time; `nil`: now. The router may hear of it later.
    case started(InvocationID, at: Instant? = nil)
    /// This was seen of the run of this invocation, which is about to end.
    case observed(InvocationID, RunFacts)
    /// The handler of this invocation ended or answered.
    case finished(InvocationID, HandlerAnswer)
    /// The handler of this invocation could not be started, though perhaps it was said to have; the reason is for people.
    case failedToStart(InvocationID, reason: String)
    /// Time has passed; carries out what is due.
    case clock
    /// The configuration was replaced. Invocations in flight keep the handler that they have.
    case reconfigured(RoutingTable)
    /// Another machine is to go on: what is accepted from now on is not started here, built-in handlers apart.
    case handingOver
    /// The daemon is to end: nothing new is accepted or started.
    case draining
}

/// How a request was accepted.
public struct Acceptance: Sendable {
    /// Its number. It is accepted once the records among the effects are on disk, not before.
    public var seq: SequenceNumber
    /// How many invocations it has.
    public var invocations: Int
    /// The entries of custom data that were rejected: what it logs, or what the tracks make of it.
    public var rejections: [Rejection]
    /// How many entries it flushed that were not sent, although `SendFlushed=yes`: their session has no user.
    public var flushedUnsent = 0
    /// Of a publish, how many devices get it.
    public var members: Int?
    /// Of `op: topic`, what became of each token.
    public var topicResults: [TopicRequest.Result]?
}

/// Why a request is not accepted.
public enum Refusal: Error, Hashable, Sendable {
    /// The payload is not what its platform takes: the field, and what is wrong with it.
    case invalidPayload(field: String, message: String)
    /// An interaction names a delivery by a number that no request has had yet.
    case unknownNumber(SequenceNumber, last: SequenceNumber)
    /// Too much is in flight, in all or of this peer.
    case overloaded(message: String, retryAfter: Duration)
    /// The daemon is ending.
    case draining
    /// A key of the request has a value that cannot be.
    case invalidValue(field: String, message: String)
    /// A request cannot be replayed; the reason is for people.
    case notReplayable(String)
}
