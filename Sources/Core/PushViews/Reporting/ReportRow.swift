public import PushModel

/// A row of a report: an invocation and the facts of its request.
public struct ReportRow: Hashable, Sendable {
    /// The invocation, decided or in flight.
    public var invocation: InvocationRecord
    /// The dispatch mode in which the request was accepted.
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
    /// The transport of a delivery; `nil` for other requests.
    public var transport: Transport?
    /// The priority with which the sender sent a delivery over FCM; `nil` if the payload does not have it.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it; `nil` if the payload does not have it.
    public var deliveredPriority: MessagePriority?
    /// The request that this one replays; `nil` for a request of a producer.
    public var replayOf: SequenceNumber?

    /// Joins the fields.
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

/// The time that a report covers: requests accepted in `since ..< until`; `nil` means no bound.
public struct ReportWindow: Hashable, Sendable {
    /// The inclusive begin.
    public var since: WallTime?
    /// The exclusive end.
    public var until: WallTime?

    /// Joins the fields; without bounds it covers the whole ledger.
    public init(since: WallTime? = nil, until: WallTime? = nil) {
        self.since = since
        self.until = until
    }
}
