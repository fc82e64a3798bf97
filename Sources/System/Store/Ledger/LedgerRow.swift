public import PushModel

/// One line of the report: an invocation and the facts of its request, without the body; or a request that has none.
public struct LedgerRow: Hashable, Sendable {
    /// The request's number.
    public var seq: SequenceNumber
    /// The operation of the request.
    public var operation: Operation
    /// The producer's own id.
    public var id: String?
    /// The user id of the producer.
    public var uid: UInt32
    /// The time of acceptance.
    public var acceptedAt: WallTime
    /// The mode of the request: device or relay.
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
    /// The priority with which a delivery was sent over FCM; `nil` if the payload does not have it.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` if the payload does not have it.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` if a producer sent it.
    public var replayOf: SequenceNumber?
    /// The invocation, without a result while it is in flight; `nil` if the request led to none.
    public var invocation: InvocationRecord?
}
