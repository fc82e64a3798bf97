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
