public import PushModel

/// A request that an earlier run of the daemon acknowledged and did not finish.
public struct UnfinishedRequest: Sendable {
    /// The request in the ledger.
    public var accepted: AcceptedRequest
    /// The invocations without an outcome, in order.
    public var invocations: [InvocationRecord]
    /// The attempts at them, by the invocation's number in the request.
    public var attempts: [Int: AttemptHistory] = [:]
    /// The parsed request line; `nil` if this version cannot parse it, or it was not read.
    public var request: Request?
    /// Whether the line was not read, because ``RecoveryNeeds/wantsLine(of:_:at:)`` did not ask for it.
    var isLeftInLedger: Bool
    /// The size of the line in bytes.
    public var byteCount: Int
    /// The delivery that an interaction names by number or message id.
    public var past: PastDelivery?

    /// Creates a request whose line was read.
    public init(
        accepted: AcceptedRequest, invocations: [InvocationRecord], request: Request?, past: PastDelivery? = nil
    ) {
        self.accepted = accepted
        self.invocations = invocations
        self.request = request
        isLeftInLedger = false
        byteCount = accepted.body.count
        self.past = past
    }

    /// A request whose line was not read.
    ///
    /// - Parameters:
    ///   - accepted: the request, without its line.
    ///   - byteCount: the size of the line in bytes.
    ///   - invocations: its invocations without an outcome.
    public init(leaving accepted: AcceptedRequest, byteCount: Int, invocations: [InvocationRecord]) {
        self.accepted = accepted
        self.invocations = invocations
        self.byteCount = byteCount
        isLeftInLedger = true
    }
}

extension Router {
    /// Recovers unfinished requests of an earlier run of the daemon: enters the invocations that have budget left, and
    /// gives all others their outcomes.
    ///
    /// Call it before any submit, with the requests in order of their numbers, some at a time, and after every process
    /// of an earlier run has ended. No handler starts before ``endRecovery(at:effects:)``.
    public mutating func recover(_ unfinished: [UnfinishedRequest], at now: Moment, effects: inout Effects) {
        for request in unfinished {
            let context = RecoveryContext(request, table: table)
            for record in request.invocations {
                resumeInvocation(record, stored: record, of: request, context, at: now, &effects)
            }
            // The new invocations' rows and starts follow in `endRecovery`; their payloads are dropped here.
            for record in request.invocations {
                if let invocation = invocations[record.id] { park(invocation) }
            }
        }
    }

    /// Ends the recovery and starts the invocations that may run.
    public mutating func endRecovery(at now: Moment, effects: inout Effects) { endTurn(at: now, &effects) }

    /// The conditions under which recovery needs the line of a request.
    public var recoveryNeeds: RecoveryNeeds { RecoveryNeeds(boot: boot, looksAtKeys: table.looksAtKeys) }

    /// Installs the recovered tracker; call it before any event for the tracker.
    public mutating func adopt(_ tracker: Tracker) { memory.adopt(tracker) }

    /// Returns the router that the next start of the daemon would restore from the records, before the recovery of
    /// unfinished requests.
    ///
    /// Changes of the tracker, the custom data and the devices are recorded as they happen, so a start restores them
    /// exactly.
    ///
    /// - Parameter boot: the machine's boot id at that start.
    public func restarted(boot: UUID128) -> Router {
        Router(boot: boot, epoch: epoch, table: table, memory: memory, lastNumber: lastNumber)
    }

    /// Reserves capacity for further invocations.
    public mutating func reserve(invocations count: Int) {
        invocations.reserve(count)
        usage.reserve(count)
    }

    /// Enters an invocation of a request in the ledger into its lane, or gives it its outcome.
    ///
    /// - Parameters:
    ///   - record: the invocation's current row.
    ///   - stored: the ledger's row; `nil`: the ledger has none yet.
    ///   - unfinished: the request.
    ///   - context: the content of the request line.
    mutating func resumeInvocation(
        _ record: InvocationRecord, stored: InvocationRecord?, of unfinished: UnfinishedRequest,
        _ context: RecoveryContext, at now: Moment, _ effects: inout Effects
    ) {
        let accepted = unfinished.accepted
        let isPinned = record.isPinned
        let isBraze = record.isTracked(of: accepted)
        var invocation = Invocation(
            request: Indirect(accepted), byteCount: unfinished.byteCount,
            subject: unfinished.isLeftInLedger ? nil : context.subject, osVersion: context.subject.osVersion,
            record: record, owner: isBraze ? .tracker : .route, keys: context.keys, table: sharedTable,
            isInLane: !record.isObserver)
        if record.id.n == 0 { invocation.receipt = context.receipt }
        invocation.stored = stored.map(Invocation.ChangingFields.init)
        // A handler that declined before the crash is not asked again while its route still exists.
        let position = table.routes.firstIndex { $0.name == record.route }
        invocation.position = position ?? 0
        invocation.isPinned = isPinned
        if let history = unfinished.attempts[record.id.n] {
            // Converts the times to the clock of this boot, even those of an earlier boot.
            let acceptance = now.monotonic + (.zero - age(of: accepted, at: now))
            invocation.attempts = Attempts(history, since: acceptance)
        }
        usage.began(
            record.id, of: accepted.peer.account, bytes: unfinished.byteCount, memory: accepted.memoryInFlight)
        if record.started {
            conclude(
                invocation, .failed, because: epoch == nil ? .daemonCrashed : .leaderLost, at: now, &effects)
        } else if recoveryNeeds.isTooLate(record, of: accepted, at: now) {
            // A Braze payload is never too late: the tracker gets it now.
            if isBraze {
                handOver(invocation, at: now, &effects)
            } else {
                conclude(invocation, .expired, because: .daemonDown, at: now, &effects)
            }
        } else if isPinned, position == nil {
            conclude(invocation, .unrouted, because: .routeGone, at: now, &effects)
        } else {
            // The rest of the budget counts from its original start.
            if let deadline = record.deadline { invocation.clockStart = deadline + (.zero - record.budget) }
            enter(invocation, at: now, &effects)
        }
    }
}

/// The parts of unfinished requests that recovery must read.
public struct RecoveryNeeds: Sendable {
    /// The boot id under which stored deadlines are valid.
    public let boot: UUID128
    let looksAtKeys: Bool

    /// Whether recovery needs the request line of an invocation, the tracker's included. Skipping other lines saves
    /// reading and memory.
    public func wantsLine(of accepted: AcceptedRequest, _ record: InvocationRecord, at now: Moment) -> Bool {
        let isTracked = record.isTracked(of: accepted)
        guard !record.started, isTracked || !isTooLate(record, of: accepted, at: now) else { return false }
        // Only the line has the tracker's receipt, the keys that routes test and, for `willPresent`, the version of iOS,
        // which decides the presentation options.
        return isTracked || looksAtKeys || record.callback == .willPresent
    }

    func isTooLate(_ record: InvocationRecord, of accepted: AcceptedRequest, at now: Moment) -> Bool {
        accepted.boot != boot || record.deadline.map { $0 <= now.monotonic } == true
    }
}

extension InvocationRecord {
    /// Whether the invocation belongs to one fixed route: an observer's copy, or one of a broadcast's invocations.
    var isPinned: Bool { isObserver || callback.isBroadcast && route != nil }

    /// Whether a delivery's invocation is the tracker's: a Braze payload, except copies and broadcasts, which have a
    /// route. An interaction with a Braze notification is never unfinished.
    func isTracked(of accepted: AcceptedRequest) -> Bool {
        accepted.operation == .deliver && provider == Router.trackedProvider && !isPinned
    }
}

/// The content of a request line that the ledger's columns lack.
struct RecoveryContext {
    var subject = InvocationSubject()
    var keys: PayloadKeys?
    var receipt: Receipt?

    init(_ unfinished: UnfinishedRequest, table: RoutingTable) {
        guard let request = unfinished.request else { return }
        let accepted = unfinished.accepted
        subject = InvocationSubject(request, past: unfinished.past)
        switch request.action {
        case .deliver(let deliver):
            let delivery = Delivery(deliver, platform: accepted.platform)
            guard let decision = try? decide(delivery, settings: table.detection) else { return }
            keys = Optional(decision.keys).read(for: table)
            receipt = Receipt(
                decision, of: deliver, completion: table.completion, at: request.at ?? accepted.acceptedAt.wall)
        case .interact(let interact):
            let facts = try? NotificationFacts(
                interact, unfinished.past, platform: accepted.platform, detection: table.detection)
            keys = (facts?.handedBack?.keys).read(for: table)
        case .session, .token, .log, .topic, .publish, .device: break
        }
    }
}
