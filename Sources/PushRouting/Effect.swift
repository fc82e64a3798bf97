public import PushModel

/// What the router wants done. The shell carries the effects of one turn out in their order.
///
/// Records come first: an effect that follows a record is carried out once that record is on disk, so nothing is
/// seen outside that a crash could take back. Only `terminate` and `stop` need no disk and are carried out at once.
public enum Effect: Sendable {
    /// Write this.
    case record(LedgerRecord)
    /// Run a handler and report `started`, then `finished`; or `failedToStart`.
    case start(HandlerRun)
    /// Send the handler SIGTERM: its grace begins.
    case terminate(InvocationID)
    /// End the handler and whatever it started, now; nothing it says counts any more.
    case stop(InvocationID)
    /// An invocation ended: tell the journal and whoever waits.
    case decided(InvocationEnd)
}

/// One run of a handler.
public struct HandlerRun: Sendable {
    /// The invocation it is for.
    public var invocation: InvocationRecord
    /// The request that led to it.
    public var request: AcceptedRequest
    /// What the request asks for, and its payload.
    public var subject: InvocationSubject
    /// The handler.
    public var handler: Handler
    /// When its time is up.
    public var deadline: Instant
}

/// The end of an invocation, with what a report of it needs. A reference: it is large, and goes from the router over
/// the commit to the journal's thread.
public final class InvocationEnd: Sendable {
    /// The request that led to it.
    public let request: AcceptedRequest
    /// The invocation; its `result` is set.
    public let invocation: InvocationRecord
    /// The result.
    public let result: InvocationResult

    init(request: AcceptedRequest, invocation: InvocationRecord, result: InvocationResult) {
        self.request = request
        self.invocation = invocation
        self.result = result
    }
}

/// What the router is told.
public enum Event: Sendable {
    /// The handler of this invocation began to run.
    case started(InvocationID)
    /// The handler of this invocation ended or answered.
    case finished(InvocationID, HandlerAnswer)
    /// The handler of this invocation could not be started; the reason is for people.
    case failedToStart(InvocationID, reason: String)
    /// Time has passed; carries out what is due.
    case clock
    /// The configuration was replaced. Invocations in flight keep the handler that they have.
    case reconfigured(RoutingTable)
    /// The daemon is to end: nothing new is accepted or started.
    case draining
}

/// Why a request is not accepted.
public enum Refusal: Error, Hashable, Sendable {
    /// The payload is not what its platform takes: the field, and what is wrong with it.
    case invalidPayload(field: String, message: String)
    /// Too much is in flight, in all or of this peer.
    case overloaded(message: String, retryAfter: Duration)
    /// The daemon is ending.
    case draining
}
