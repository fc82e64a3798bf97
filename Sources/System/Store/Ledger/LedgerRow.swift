package import PushModel

/// One line of the report: an invocation and the facts of its request, without the body; or a request that has none.
package struct LedgerRow: Hashable, Sendable {
    /// The request's number.
    package var seq: SequenceNumber
    /// The invocation, without a result while it is in flight; `nil` for a request that led to none.
    package var invocation: InvocationRecord?
    /// What was asked.
    package var operation: Operation
    /// The producer's own id.
    package var id: String?
    /// The user id of the producer.
    package var uid: UInt32
    /// When the request was accepted.
    package var acceptedAt: WallTime
    /// In whose place the router stood.
    package var mode: DispatchMode
    /// The platform.
    package var platform: Platform
    /// Package name or bundle id.
    package var app: String?
    /// The device.
    package var device: String?
    /// The payload's own id.
    package var messageID: String?
}

/// One request and all that came of it.
package struct RequestStory: Hashable, Sendable {
    /// The request with its body.
    package var request: AcceptedRequest
    /// Its invocations, in order of `n`.
    package var invocations: [InvocationRecord]
    /// The events it caused, and those of later requests about it, such as its open; in order of `seq`.
    package var events: [AnalyticsEvent]
    /// The entries of custom data that it led to, in order of their numbers.
    package var entries: [EntryRecord]
    /// What became of an interaction with one of the tracker's; `nil` while it is held.
    package var verdict: Interaction.Verdict?
}
