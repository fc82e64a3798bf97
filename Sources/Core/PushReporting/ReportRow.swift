public import PushModel

/// One row of the ledger as a report reads it: an invocation and the facts of its request.
public struct ReportRow: Hashable, Sendable {
    /// The invocation, decided or in flight.
    public var invocation: InvocationRecord
    /// In whose place the router stood when the request was accepted.
    public var mode: DispatchMode
    /// The platform of the request.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String?
    /// The producer's own id of the request.
    public var id: String?
    /// The payload's own id.
    public var messageID: String?
    /// When the request was accepted.
    public var acceptedAt: WallTime
    /// The transport of a delivery; `nil` unless it is one.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM; `nil` where the payload does not tell.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` where the payload does not tell.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` for what a producer sent.
    public var replayOf: SequenceNumber?

    /// Joins the parts.
    public init(
        invocation: InvocationRecord, mode: DispatchMode, platform: Platform, app: String?, device: String?,
        id: String?, messageID: String?, acceptedAt: WallTime, transport: Transport? = nil,
        originalPriority: MessagePriority? = nil, deliveredPriority: MessagePriority? = nil,
        replayOf: SequenceNumber? = nil
    ) {
        self.invocation = invocation
        self.mode = mode
        self.platform = platform
        self.app = app
        self.device = device
        self.id = id
        self.messageID = messageID
        self.acceptedAt = acceptedAt
        self.transport = transport
        self.originalPriority = originalPriority
        self.deliveredPriority = deliveredPriority
        self.replayOf = replayOf
    }
}
