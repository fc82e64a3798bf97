import PushDispatch
public import PushModel
public import PushTracking

/// A request that an earlier run of the daemon acknowledged and did not finish.
public struct UnfinishedRequest: Sendable {
    /// The request as the ledger has it.
    public var accepted: AcceptedRequest
    /// Its invocations without an outcome, in order.
    public var invocations: [InvocationRecord]
    /// The attempts at them, by their numbers.
    public var attempts: [Int: AttemptHistory] = [:]
    /// The request line, read again; `nil` if this version cannot read it any more, or it has not been read.
    public var request: Request?
    /// Whether the line is left where it is: ``RecoveryNeeds/wantsLine(of:_:at:)`` told that it is not needed now.
    public var isLeftInLedger: Bool
    /// How many bytes the line has.
    public var byteCount: Int
    /// The delivery that an interaction names by its number or message id.
    public var past: PastDelivery?

    /// A request whose line was read.
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

    /// A request whose line is left where it is.
    ///
    /// - Parameters:
    ///   - accepted: the request, without its line.
    ///   - byteCount: how many bytes the line has.
    ///   - invocations: its invocations without an outcome.
    public init(leaving accepted: AcceptedRequest, byteCount: Int, invocations: [InvocationRecord]) {
        self.accepted = accepted
        self.invocations = invocations
        self.byteCount = byteCount
        isLeftInLedger = true
    }
}

extension Router {
    /// Takes up what an earlier run of the daemon left: runs what has budget left, and gives everything else its outcome.
    ///
    /// Call it before anything is submitted, with the requests in order of their numbers, some at a time, and when nothing
    /// of an earlier run is alive any more. Nothing runs before ``endRecovery(at:effects:)``.
    public mutating func recover(_ unfinished: [UnfinishedRequest], at now: Moment, effects: inout Effects) {
        for request in unfinished {
            let context = RecoveryContext(request, table: table)
            for record in request.invocations {
                takeUp(record, stored: record, of: request, context, at: now, &effects)
            }
            // What begins is written and started at the end; payloads are let go of now.
            for record in request.invocations {
                if let invocation = invocations[record.id] { park(invocation) }
            }
        }
    }

    /// All that was left is taken up: what may run begins.
    public mutating func endRecovery(at now: Moment, effects: inout Effects) { endTurn(at: now, &effects) }

    /// What an earlier run's requests are looked at for.
    public var recoveryNeeds: RecoveryNeeds { RecoveryNeeds(boot: boot, looksAtKeys: table.looksAtKeys) }

    /// Takes over what the tracker remembers, before anything that is the tracker's.
    public mutating func adopt(_ tracker: Tracker) { memory.adopt(tracker) }

    /// The router as the next start of the daemon makes it from what was recorded, before it takes up what is unfinished.
    ///
    /// What tracker, custom data and devices remember is recorded as it changes, so a start has it as it was.
    ///
    /// - Parameter boot: the machine's boot id at that start.
    func restarted(boot: UUID128) -> Router {
        Router(boot: boot, epoch: epoch, table: table, memory: memory, lastNumber: lastNumber)
    }

    /// Makes room for so many invocations at once.
    public mutating func reserve(invocations count: Int) {
        invocations.reserve(count)
        usage.reserve(count)
    }

    /// Puts an invocation of a request that the ledger has on its way, or gives it its outcome.
    ///
    /// - Parameters:
    ///   - record: the invocation as it is.
    ///   - stored: the invocation as the ledger has it; `nil`: it does not have it yet.
    ///   - unfinished: its request.
    ///   - context: what the request line says.
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
        // Who declined before the crash is not asked again, as long as the routes are the same.
        let position = table.routes.firstIndex { $0.name == record.route }
        invocation.position = position ?? 0
        invocation.isPinned = isPinned
        if let history = unfinished.attempts[record.id.n] {
            // Earlier times are counted by this boot's clock, whichever boot they are of.
            let acceptance = now.monotonic + (.zero - age(of: accepted, at: now))
            invocation.attempts = Attempts(history, since: acceptance)
        }
        usage.began(
            record.id, of: accepted.peer.account, bytes: unfinished.byteCount, memory: accepted.memoryInFlight)
        if record.started {
            conclude(
                invocation, .failed, because: epoch == nil ? .daemonCrashed : .leaderLost, at: now, &effects)
        } else if recoveryNeeds.isTooLate(record, of: accepted, at: now) {
            // A tracker's payload is never too late: what waited for its turn is handed over.
            if isBraze {
                handOver(invocation, at: now, &effects)
            } else {
                conclude(invocation, .expired, because: .daemonDown, at: now, &effects)
            }
        } else if isPinned, position == nil {
            conclude(invocation, .unrouted, because: .routeGone, at: now, &effects)
        } else {
            // The time that is left counts on from where it began.
            if let deadline = record.deadline { invocation.clockStart = deadline + (.zero - record.budget) }
            enter(invocation, at: now, &effects)
        }
    }
}

/// What of an earlier run's requests has to be read to take them up.
public struct RecoveryNeeds: Sendable {
    /// The boot that deadlines count in.
    public let boot: UUID128
    let looksAtKeys: Bool

    /// Whether the request line is needed to take up an invocation. Without it less is read, and less kept in memory. What
    /// needs it may be the tracker's, too.
    public func wantsLine(of accepted: AcceptedRequest, _ record: InvocationRecord, at now: Moment) -> Bool {
        let isTracked = record.isTracked(of: accepted)
        guard !record.started, isTracked || !isTooLate(record, of: accepted, at: now) else { return false }
        // The receipt, the keys that routes look at, and the version of iOS that decides what is presented.
        return isTracked || looksAtKeys || record.callback == .willPresent
    }

    func isTooLate(_ record: InvocationRecord, of accepted: AcceptedRequest, at now: Moment) -> Bool {
        accepted.boot != boot || record.deadline.map { $0 <= now.monotonic } == true
    }
}

extension InvocationRecord {
    /// Whether it has one route, whatever else matches: a copy, or one of those that hear a broadcast.
    var isPinned: Bool { isObserver || callback.isBroadcast && route != nil }

    /// Among deliveries, Braze's are the tracker's, but for copies and broadcasts, which are given a route at once; a tap
    /// on a Braze notification is never unfinished.
    func isTracked(of accepted: AcceptedRequest) -> Bool {
        accepted.operation == .deliver && provider == Router.trackedProvider && !isPinned
    }
}

/// What the request line says beside what the ledger's rows say.
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
