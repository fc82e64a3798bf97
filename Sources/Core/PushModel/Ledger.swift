/// Who sent a request, as the kernel says (`SO_PEERCRED`).
package struct Peer: Hashable, Sendable {
    /// User id; idempotency keys and limits are per user.
    package var uid: UInt32
    /// Group id.
    package var gid: UInt32
    /// Process id at the time of connecting; for people, nothing is decided by it.
    package var pid: Int32

    /// Joins the three.
    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }
}

/// One accepted request, as the ledger keeps it.
package struct AcceptedRequest: Hashable, Sendable {
    /// Its number.
    package var seq: SequenceNumber
    /// What was asked.
    package var operation: Operation
    /// The producer's own id, its idempotency key within `peer.uid`.
    package var id: String?
    /// Who asked.
    package var peer: Peer
    /// When it was accepted. The monotonic part counts within `boot` only.
    package var acceptedAt: Moment
    /// The boot in which it was accepted.
    package var boot: UUID128
    /// In whose place the router stood.
    package var mode: DispatchMode
    /// Resolved: given, or the device's last known.
    package var platform: Platform
    /// Package name or bundle id.
    package var app: String?
    /// The device, as the producer names it.
    package var device: String?
    /// The user, given or the device's last known.
    package var externalID: String?
    /// The payload's own id.
    package var messageID: String?
    /// What the app was doing; `nil` unless it is a delivery.
    package var state: AppState?
    /// The id under which FCM's list of recent messages has it; `nil` when it does not get there.
    package var duplicateID: String?
    /// Whether the tracker remembers it: then nobody asks the ledger what a tap on it is about.
    package var isTracked: Bool
    /// The request line as it came, without the line feed.
    package var body: [UInt8]

    /// Joins the parts.
    package init(
        seq: SequenceNumber, operation: Operation, id: String?, peer: Peer, acceptedAt: Moment, boot: UUID128,
        mode: DispatchMode, platform: Platform, app: String?, device: String?, externalID: String?,
        messageID: String?, state: AppState? = nil, duplicateID: String? = nil, isTracked: Bool = false, body: [UInt8]
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
        self.body = body
    }
}

/// How a callback was completed: by whom, how often, with what.
package struct Completion: Hashable, Sendable {
    /// Who called the completion handler.
    package enum Caller: String, Sendable {
        /// The handler's answer did.
        case handler
        /// Braze's own code did.
        case tracker
        /// Nobody did; the router did for them.
        case `default`
    }

    /// Who called it.
    package var by: Caller
    /// How often it was called: 1 unless a handler answered more than once.
    package var times: Int
    /// What it was called with.
    package var result: FetchResult
    /// Presentation options of `willPresent`, by Apple's names; empty elsewhere.
    package var options: [String]

    /// Joins the parts.
    package init(by: Caller, times: Int = 1, result: FetchResult, options: [String] = []) {
        self.by = by
        self.times = times
        self.result = result
        self.options = options
    }
}

/// What an invocation waited for in its lane: of those before it, the one that took longest.
package struct Predecessor: Hashable, Sendable {
    /// Which invocation.
    package var id: InvocationID
    /// Its handler; `nil` for the tracker.
    package var handler: String?

    /// Joins the two.
    package init(id: InvocationID, handler: String?) {
        self.id = id
        self.handler = handler
    }
}

/// The end of an invocation.
package struct InvocationResult: Hashable, Sendable {
    /// How it ended.
    package var outcome: Outcome
    /// Why, for people; `daemon_down` and `daemon_crashed` are fixed words.
    package var reason: String?
    /// From acceptance to the start of the handler; to the end when none started.
    package var queue: Duration
    /// From the start of the handler to its end; zero when none started.
    package var exec: Duration
    /// From acceptance to the end.
    package var total: Duration
    /// How the callback was completed; `nil` where no callback ran.
    package var completion: Completion?
    /// What it waited for in its lane; `nil` if it did not wait there.
    package var waitedFor: Predecessor?
    /// When it ended.
    package var decidedAt: WallTime

    /// Joins the parts.
    package init(
        outcome: Outcome, reason: String?, queue: Duration, exec: Duration, total: Duration,
        completion: Completion?, waitedFor: Predecessor? = nil, decidedAt: WallTime
    ) {
        self.outcome = outcome
        self.reason = reason
        self.queue = queue
        self.exec = exec
        self.total = total
        self.completion = completion
        self.waitedFor = waitedFor
        self.decidedAt = decidedAt
    }
}

/// One invocation, as the ledger keeps it.
package struct InvocationRecord: Hashable, Sendable {
    /// Which one.
    package var id: InvocationID
    /// The platform callback it stands for.
    package var callback: Callback
    /// Whether it is the copy of an observing route: it never changes what becomes of the owner's invocations.
    package var isObserver: Bool
    /// Whose payload it is; `nil` when no provider's rule matches.
    package var provider: String?
    /// The route that picked the handler; `nil` before one did, and for the tracker.
    package var route: String?
    /// The handler; `nil` before one was picked, and for the tracker.
    package var handler: String?
    /// The time it has from the invocation on.
    package var budget: Duration
    /// When its time is up, within the request's boot; `nil` while it waits in its lane in `device` mode.
    package var deadline: Instant?
    /// Whether a handler may be running: true from before its start until its answer is known, unless it is idempotent.
    package var started: Bool
    /// How it ended; `nil` while in flight.
    package var result: InvocationResult?

    /// Joins the parts.
    package init(
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
        self.result = result
    }
}

/// One thing to write. Records of one turn of the loop are committed together, in order.
///
/// Indirect: rows are large, and are handed on several times on their way to the disk.
package indirect enum LedgerRecord: Sendable {
    /// A new request; its invocations follow in the same transaction.
    case request(AcceptedRequest)
    /// A new invocation, decided or in flight.
    case invocation(InvocationRecord)
    /// An invocation in flight changed: route, handler, deadline, started or result. The whole row as it is now.
    case update(InvocationRecord)
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
}
