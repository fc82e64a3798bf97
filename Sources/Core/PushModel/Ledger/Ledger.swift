/// The sender of a request, as the kernel reports it (`SO_PEERCRED`).
public struct Peer: Hashable, Sendable {
    /// The account that owns its requests.
    public var account: Account
    /// The group id.
    public var gid: UInt32
    /// The process id at the time of connecting; for people, decides nothing.
    public var pid: Int32

    /// Joins the parts.
    public init(account: Account, gid: UInt32, pid: Int32) {
        (self.account, self.gid, self.pid) = (account, gid, pid)
    }

    /// Creates the peer of a user who is known by a uid alone.
    public init(uid: UInt32, gid: UInt32, pid: Int32) { self.init(account: Account(uid: uid), gid: gid, pid: pid) }

    /// The uid, or the producer's number.
    public var uid: UInt32 { account.uid }
}

/// One accepted request, as the ledger stores it.
public struct AcceptedRequest: Hashable, Sendable {
    /// Its number.
    public var seq: SequenceNumber
    /// The operation.
    public var operation: Operation
    /// The producer's own id for the request: the idempotency key within its account.
    public var id: String?
    /// The sender.
    public var peer: Peer
    /// The time of acceptance. Its monotonic part is valid within `boot` only.
    public var acceptedAt: Moment
    /// The boot in which it was accepted.
    public var boot: UUID128
    /// The mode of the router.
    public var mode: DispatchMode
    /// The platform: the request's, or the last known one of the device.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String?
    /// The user: the request's, or the last known one of the device.
    public var externalID: String?
    /// The payload's own id.
    public var messageID: String?
    /// The state of the app; `nil` unless the request is a delivery.
    public var state: AppState?
    /// The id that FCM's list of recent messages has for it; `nil` if it does not enter the list.
    public var duplicateID: String?
    /// Whether the tracker remembers the delivery: then no tap on it needs a read of the ledger.
    public var isTracked: Bool
    /// The transport that brought a delivery to the device; `nil` unless the request is a delivery.
    public var transport: Transport?
    /// The priority of a delivery when it was sent over FCM; `nil` if the payload does not tell.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it, which may be lower; `nil` if the payload does not tell.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` for a producer's request.
    public var replayOf: SequenceNumber?
    /// The request line as it came, without the line feed.
    public var body: [UInt8]

    public init(
        seq: SequenceNumber, operation: Operation, id: String?, peer: Peer, acceptedAt: Moment, boot: UUID128,
        mode: DispatchMode, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, state: AppState? = nil, duplicateID: String? = nil, isTracked: Bool = false,
        transport: Transport? = nil, originalPriority: MessagePriority? = nil,
        deliveredPriority: MessagePriority? = nil, replayOf: SequenceNumber? = nil, body: [UInt8]
    ) {
        self.seq = seq
        self.operation = operation
        self.id = id
        self.peer = peer
        self.acceptedAt = acceptedAt
        self.boot = boot
        self.mode = mode
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.messageID = messageID
        self.state = state
        self.duplicateID = duplicateID
        self.isTracked = isTracked
        self.transport = transport
        self.originalPriority = originalPriority
        self.deliveredPriority = deliveredPriority
        self.replayOf = replayOf
        self.body = body
    }
}

/// The completion of a callback: the caller, the number of calls, and the arguments.
public struct Completion: Hashable, Sendable {
    /// The caller of the completion handler.
    public enum Caller: String, Sendable {
        /// The handler's answer.
        case handler
        /// Braze's own code.
        case tracker
        /// The router, because nobody else called it.
        case `default`
    }

    /// The caller.
    public var by: Caller
    /// The number of calls: 1 unless a handler answered more than once.
    public var times: Int
    /// The result that it was called with.
    public var result: FetchResult
    /// Presentation options of `willPresent`, by Apple's names; empty elsewhere.
    public var options: [String]

    public init(by: Caller, times: Int = 1, result: FetchResult, options: [String] = []) {
        (self.by, self.times, self.result, self.options) = (by, times, result, options)
    }

    /// The result, for people and programs; `nil` at a callback whose completion handler takes no argument.
    ///
    /// Source: Apple's documentation of `userNotificationCenter(_:didReceive:withCompletionHandler:)`.
    public func result(at callback: Callback) -> FetchResult? { callback == .didReceiveResponse ? nil : result }
}

/// The invocation that another one waited for in its lane: of those ahead of it, the one that took longest.
public struct Predecessor: Hashable, Sendable {
    /// The invocation.
    public var id: InvocationID
    /// Its handler; `nil` for the tracker.
    public var handler: String?
    /// The time that it had its turn; `nil` if the ledger does not have it.
    public var took: Duration?

    public init(id: InvocationID, handler: String?, took: Duration? = nil) {
        (self.id, self.handler, self.took) = (id, handler, took)
    }
}

/// The end of an invocation.
public struct InvocationResult: Hashable, Sendable {
    /// The outcome.
    public var outcome: Outcome
    /// The reason for people: a sentence, and remarks behind it. Decides nothing.
    public var reason: String?
    /// The reason of a closed set; `nil` if there is none.
    public var reasonCode: ReasonCode?
    /// The time from acceptance to the start of the handler; to the end if none started.
    public var queue: Duration
    /// The time from the start of the handler to its end; zero if none started.
    public var exec: Duration
    /// The time from acceptance to the end.
    public var total: Duration
    /// The completion of the callback; `nil` if no callback ran.
    public var completion: Completion?
    /// The invocation that it waited for in its lane; `nil` if it did not wait there.
    public var waitedFor: Predecessor?
    /// The number of invocations ahead of it in its lane when it came; `nil` if none was.
    public var ahead: Int?
    /// The time of the end.
    public var decidedAt: WallTime

    public init(
        outcome: Outcome, reason: String?, reasonCode: ReasonCode? = nil, queue: Duration, exec: Duration,
        total: Duration, completion: Completion?, waitedFor: Predecessor? = nil, ahead: Int? = nil,
        decidedAt: WallTime
    ) {
        self.outcome = outcome
        self.reason = reason
        self.reasonCode = reasonCode
        self.queue = queue
        self.exec = exec
        self.total = total
        self.completion = completion
        self.waitedFor = waitedFor
        self.ahead = ahead
        self.decidedAt = decidedAt
    }
}

/// One invocation, as the ledger stores it.
public struct InvocationRecord: Hashable, Sendable {
    /// The id.
    public var id: InvocationID
    /// The platform callback that it stands for.
    public var callback: Callback
    /// Whether it is the copy for an observing route: it never changes the outcome of the owner's invocations.
    public var isObserver: Bool
    /// The provider of the payload; `nil` if no provider's rule matches.
    public var provider: String?
    /// The route that picked the handler; `nil` until one did, and for the tracker.
    public var route: String?
    /// The handler; `nil` until one was picked, and for the tracker.
    public var handler: String?
    /// The time from the start of the invocation to its deadline.
    public var budget: Duration
    /// The deadline, within the request's boot; `nil` while it waits in its lane in `device` mode.
    public var deadline: Instant?
    /// Whether a handler may be running: true from before its start until its answer is known, except for an idempotent
    /// one.
    public var started: Bool
    /// The result; `nil` while in flight.
    @inlinable public var result: InvocationResult? {
        get { sharedResult?.value }
        set { sharedResult = newValue.map { Indirect($0) } }
    }
    /// The result behind a reference: most rows in memory have none, and it is larger than all other fields together.
    public var sharedResult: Indirect<InvocationResult>?

    public init(
        id: InvocationID, callback: Callback, isObserver: Bool = false, provider: String?, route: String?,
        handler: String?, budget: Duration, deadline: Instant?, started: Bool, result: InvocationResult?
    ) {
        self.id = id
        self.callback = callback
        self.isObserver = isObserver
        self.provider = provider
        self.route = route
        self.handler = handler
        self.budget = budget
        self.deadline = deadline
        self.started = started
        sharedResult = result.map { Indirect($0) }
    }
}

/// A record to write. Records of one turn of the loop are committed together, in order.
///
/// Indirect: records are large, and several functions hand them on before they reach the disk.
public indirect enum LedgerRecord: Sendable {
    /// A new request; its invocations follow in the same transaction.
    case request(AcceptedRequest)
    /// A new invocation, decided or in flight.
    case invocation(InvocationRecord)
    /// An invocation in flight changed: route, handler, deadline, started or result. The whole row with its new values.
    case update(InvocationRecord)
    /// An attempt of a handler ended.
    case attempt(AttemptRecord)
    /// The standard error of the last attempt's handler before it was stopped.
    case output(InvocationID, ErrorOutput)
    /// An invocation became a dead letter.
    case deadLetter(DeadLetter)
    /// The dead letters of a request were replayed or purged.
    case noDeadLetters(SequenceNumber)
    /// An analytics event.
    case event(AnalyticsEvent)
    /// A change of the tracker's state.
    case tracker(TrackerRecord)
    /// A change of the state of custom data.
    case customData(CustomDataRecord)
    /// The last known facts of a device; replaces the row of its number. Its topics count only where
    /// `Effects.takesSubscriptions` is false.
    case device(KnownDevice)
    /// Devices are subscribed to a topic, or their subscriptions end.
    case subscriptions(SubscriptionChange)
    /// A device that the daemon no longer remembers, by its number.
    case forgottenDevice(SequenceNumber)
    /// A publish, and the devices that get it.
    case fanOut(FanOut)
    /// The progress of a publish.
    case fanOutProgress(SequenceNumber, FanOut.Progress)
    /// A gap ended.
    case gap(DaemonGap)
    /// The daemon is alive; replaces the previous sign of life.
    case lifeSign(LifeSign)
    /// A producer got a number.
    case producer(Producer)
    /// Another configuration decides later requests.
    case configuration(ConfigurationPeriod)
    /// An order to delete rows; alone in its batch.
    case order(ChainOrder)
}
