import PushDispatch
public import PushModel
public import PushTracking

/// A request that an earlier run of the daemon acknowledged and did not finish.
public struct UnfinishedRequest: Sendable {
    /// The request as in the ledger.
    public var accepted: AcceptedRequest
    /// Its invocations without an outcome, in order.
    public var invocations: [InvocationRecord]
    /// The histories of attempts, by the numbers of the invocations.
    public var attempts: [Int: AttemptHistory] = [:]
    /// The request line, read again; `nil`: this version cannot read it, or nothing has read it.
    public var request: Request?
    /// Whether the line stays in the ledger: ``RecoveryNeeds/wantsLine(of:_:at:)`` returned false.
    public var isLeftInLedger: Bool
    /// The size of the line in bytes.
    public var byteCount: Int
    /// The delivery that an interaction names by its number or message id.
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

    /// Creates a request whose line stays in the ledger.
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
    /// Recovers requests of an earlier run: runs invocations with budget left, and gives the others an outcome.
    ///
    /// Call it before the first `submit`, with the requests in order of their numbers, in any number of parts, once no
    /// process of an earlier run is alive. No handler starts before ``endRecovery(at:effects:)``.
    public mutating func recover(_ unfinished: [UnfinishedRequest], at now: Moment, effects: inout Effects) {
        for request in unfinished {
            let context = RecoveryContext(request, table: table)
            for record in request.invocations {
                takeUp(record, stored: record, of: request, context, at: now, &effects)
            }
            // `endRecovery` writes and starts the invocations; their payloads are freed now.
            for record in request.invocations {
                if let invocation = invocations[record.id] { park(invocation) }
            }
        }
    }

    /// Ends the recovery: starts the invocations that may run.
    public mutating func endRecovery(at now: Moment, effects: inout Effects) { endTurn(at: now, &effects) }

    /// The facts by which the loader decides what to read of the requests of an earlier run.
    public var recoveryNeeds: RecoveryNeeds { RecoveryNeeds(boot: boot, looksAtKeys: table.looksAtKeys) }

    /// Takes the tracker's memory, before any event for the tracker.
    public mutating func adopt(_ tracker: Tracker) { memory.adopt(tracker) }

    /// Returns the router that the next start of the daemon creates from the records, before it recovers requests.
    ///
    /// Tracker, custom data and devices record every change, so a start has them as they were.
    ///
    /// - Parameter boot: the machine's boot id at that start.
    func restarted(boot: UUID128) -> Router {
        Router(boot: boot, epoch: epoch, table: table, memory: memory, lastNumber: lastNumber)
    }

    /// Reserves memory for a number of invocations.
    public mutating func reserve(invocations count: Int) {
        invocations.reserve(count)
        usage.reserve(count)
    }

    /// Enters an invocation of a request that the ledger has, or gives it its outcome.
    ///
    /// - Parameters:
    ///   - record: the current row of the invocation.
    ///   - stored: the row in the ledger; `nil`: it has none yet.
    ///   - unfinished: its request.
    ///   - context: the facts from the request line.
    mutating func takeUp(
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
        // While the routes are the same, handlers that declined before the crash are not asked again.
        let position = table.routes.firstIndex { $0.name == record.route }
        invocation.position = position ?? 0
        invocation.isPinned = isPinned
        if let history = unfinished.attempts[record.id.n] {
            // The clock of this boot counts earlier times, whichever boot they are of.
            let acceptance = now.monotonic + (.zero - age(of: accepted, at: now))
            invocation.attempts = Attempts(history, since: acceptance)
        }
        usage.began(
            record.id, of: accepted.peer.account, bytes: unfinished.byteCount, memory: accepted.memoryInFlight)
        if record.started {
            conclude(
                invocation, .failed, because: epoch == nil ? .daemonCrashed : .leaderLost, at: now, &effects)
        } else if recoveryNeeds.isTooLate(record, of: accepted, at: now) {
            // A tracker's payload has no deadline: the tracker gets it.
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

/// The facts by which the loader decides what to read of the requests of an earlier run.
public struct RecoveryNeeds: Sendable {
    /// The boot id; deadlines count within one boot.
    public let boot: UUID128
    let looksAtKeys: Bool

    /// Whether the recovery of an invocation needs the request line. Without the line it reads and keeps less. The
    /// tracker's invocations need it too.
    public func wantsLine(of accepted: AcceptedRequest, _ record: InvocationRecord, at now: Moment) -> Bool {
        let isTracked = record.isTracked(of: accepted)
        guard !record.started, isTracked || !isTooLate(record, of: accepted, at: now) else { return false }
        // The line has the receipt, the keys for routes, and the version of iOS for the presentation options.
        return isTracked || looksAtKeys || record.callback == .willPresent
    }

    func isTooLate(_ record: InvocationRecord, of accepted: AcceptedRequest, at now: Moment) -> Bool {
        accepted.boot != boot || record.deadline.map { $0 <= now.monotonic } == true
    }
}

extension InvocationRecord {
    /// Whether it has a fixed route: a copy, or one invocation of a broadcast.
    var isPinned: Bool { isObserver || callback.isBroadcast && route != nil }

    /// Whether the tracker owns it: a Braze delivery, except copies and broadcasts, which get a route at once. A tap on
    /// a Braze notification ends on acceptance.
    func isTracked(of accepted: AcceptedRequest) -> Bool {
        accepted.operation == .deliver && provider == Router.trackedProvider && !isPinned
    }
}

/// The facts from the request line that the ledger has no columns for.
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
