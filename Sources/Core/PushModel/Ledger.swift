/// Who sent a request, as the kernel says (`SO_PEERCRED`).
public struct Peer: Hashable, Sendable {
    /// Whose its requests are.
    public var account: Account
    /// Group id.
    public var gid: UInt32
    /// Process id at the time of connecting; for people, nothing is decided by it.
    public var pid: Int32

    /// Joins the parts.
    public init(account: Account, gid: UInt32, pid: Int32) {
        (self.account, self.gid, self.pid) = (account, gid, pid)
    }

    /// The same of a user who is known by an id alone.
    public init(uid: UInt32, gid: UInt32, pid: Int32) { self.init(account: Account(uid: uid), gid: gid, pid: pid) }

    /// The user's id, or the producer's number.
    public var uid: UInt32 { account.uid }
}

/// One accepted request, as the ledger keeps it.
public struct AcceptedRequest: Hashable, Sendable {
    /// Its number.
    public var seq: SequenceNumber
    /// What was asked.
    public var operation: Operation
    /// The producer's own id, its idempotency key within its account.
    public var id: String?
    /// Who asked.
    public var peer: Peer
    /// When it was accepted. The monotonic part counts within `boot` only.
    public var acceptedAt: Moment
    /// The boot in which it was accepted.
    public var boot: UUID128
    /// In whose place the router stood.
    public var mode: DispatchMode
    /// Resolved: given, or the device's last known.
    public var platform: Platform
    /// Package name or bundle id.
    public var app: String?
    /// The device, as the producer names it.
    public var device: String?
    /// The user, given or the device's last known.
    public var externalID: String?
    /// The payload's own id.
    public var messageID: String?
    /// What the app was doing; `nil` unless it is a delivery.
    public var state: AppState?
    /// The id under which FCM's list of recent messages has it; `nil` when it does not get there.
    public var duplicateID: String?
    /// Whether the tracker remembers it: then nobody asks the ledger what a tap on it is about.
    public var isTracked: Bool
    /// The transport that brought a delivery to the device; `nil` unless it is a delivery.
    public var transport: Transport?
    /// The priority with which a delivery was sent over FCM; `nil` where the payload does not tell.
    public var originalPriority: MessagePriority?
    /// The priority with which FCM delivered it, which may be lower; `nil` where the payload does not tell.
    public var deliveredPriority: MessagePriority?
    /// The request of which this one is a replay; `nil` for what a producer sent.
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

/// How a callback was completed: by whom, how often, with what.
public struct Completion: Hashable, Sendable {
    /// Who called the completion handler.
    public enum Caller: String, Sendable {
        /// The handler's answer did.
        case handler
        /// Braze's own code did.
        case tracker
        /// Nobody did; the router did for them.
        case `default`
    }

    /// Who called it.
    public var by: Caller
    /// How often it was called: 1 unless a handler answered more than once.
    public var times: Int
    /// What it was called with.
    public var result: FetchResult
    /// Presentation options of `willPresent`, by Apple's names; empty elsewhere.
    public var options: [String]

    public init(by: Caller, times: Int = 1, result: FetchResult, options: [String] = []) {
        (self.by, self.times, self.result, self.options) = (by, times, result, options)
    }
}

/// What an invocation waited for in its lane: of those before it, the one that took longest.
public struct Predecessor: Hashable, Sendable {
    /// Which invocation.
    public var id: InvocationID
    /// Its handler; `nil` for the tracker.
    public var handler: String?
    /// How long it had its turn; `nil` where the ledger does not have it.
    public var took: Duration?

    public init(id: InvocationID, handler: String?, took: Duration? = nil) {
        (self.id, self.handler, self.took) = (id, handler, took)
    }
}

/// The end of an invocation.
public struct InvocationResult: Hashable, Sendable {
    /// How it ended.
    public var outcome: Outcome
    /// Why, for people: a sentence, and remarks behind it. Nothing is decided by it.
    public var reason: String?
    /// Why, of a closed set; `nil` where there is no reason.
    public var reasonCode: ReasonCode?
    /// From acceptance to the start of the handler; to the end when none started.
    public var queue: Duration
    /// From the start of the handler to its end; zero when none started.
    public var exec: Duration
    /// From acceptance to the end.
    public var total: Duration
    /// How the callback was completed; `nil` where no callback ran.
    public var completion: Completion?
    /// What it waited for in its lane; `nil` if it did not wait there.
    public var waitedFor: Predecessor?
    /// How many were ahead of it in its lane when it came; `nil` if none was.
    public var ahead: Int?
    /// When it ended.
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

/// One invocation, as the ledger keeps it.
public struct InvocationRecord: Hashable, Sendable {
    /// Which one.
    public var id: InvocationID
    /// The platform callback it stands for.
    public var callback: Callback
    /// Whether it is the copy of an observing route: it never changes what becomes of the owner's invocations.
    public var isObserver: Bool
    /// Whose payload it is; `nil` when no provider's rule matches.
    public var provider: String?
    /// The route that picked the handler; `nil` before one did, and for the tracker.
    public var route: String?
    /// The handler; `nil` before one was picked, and for the tracker.
    public var handler: String?
    /// The time it has from the invocation on.
    public var budget: Duration
    /// When its time is up, within the request's boot; `nil` while it waits in its lane in `device` mode.
    public var deadline: Instant?
    /// Whether a handler may be running: true from before its start until its answer is known, unless it is idempotent.
    public var started: Bool
    /// How it ended; `nil` while in flight.
    @inlinable public var result: InvocationResult? {
        get { sharedResult?.value }
        set { sharedResult = newValue.map { Indirect($0) } }
    }
    /// The same behind a reference: most rows in memory have none, and it takes more room than all the rest.
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

/// One thing to write. Records of one turn of the loop are committed together, in order.
///
/// Indirect: rows are large, and are handed on several times on their way to the disk.
public indirect enum LedgerRecord: Sendable {
    /// A new request; its invocations follow in the same transaction.
    case request(AcceptedRequest)
    /// A new invocation, decided or in flight.
    case invocation(InvocationRecord)
    /// An invocation in flight changed: route, handler, deadline, started or result. The whole row as it is now.
    case update(InvocationRecord)
    /// An attempt of a handler ended.
    case attempt(AttemptRecord)
    /// What the handler of the last attempt wrote to standard error before it was stopped.
    case output(InvocationID, ErrorOutput)
    /// An invocation became a dead letter.
    case deadLetter(DeadLetter)
    /// The dead letters of a request are none any more: they were replayed or purged.
    case noDeadLetters(SequenceNumber)
    /// An analytics event.
    case event(AnalyticsEvent)
    /// A change of what the tracker remembers.
    case tracker(TrackerRecord)
    /// A change of what is known of custom data.
    case customData(CustomDataRecord)
    /// What is last known of a device; replaces what was known under its number.
    case device(KnownDevice)
    /// A device that is no longer remembered, by its number.
    case forgottenDevice(SequenceNumber)
    /// A publish, and the devices that get it.
    case fanOut(FanOut)
    /// The progress of a publish.
    case fanOutProgress(SequenceNumber, FanOut.Progress)
    /// A gap is over.
    case gap(DaemonGap)
    /// The daemon is alive; replaces the sign before it.
    case lifeSign(LifeSign)
    /// A producer has a number now.
    case producer(Producer)
    /// Rows are taken out; alone in its batch.
    case order(ChainOrder)
}
