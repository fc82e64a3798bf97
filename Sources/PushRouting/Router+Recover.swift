import PushDispatch
public import PushModel

/// A request that an earlier run of the daemon acknowledged and did not finish.
public struct UnfinishedRequest: Sendable {
    /// The request as the ledger has it.
    public var accepted: AcceptedRequest
    /// Its invocations without an outcome, in order.
    public var invocations: [InvocationRecord]
    /// The request line, read again; `nil` if this version cannot read it any more.
    public var request: Request?
    /// The delivery that an interaction names by its number or message id.
    public var past: PastDelivery?

    /// Joins the parts.
    public init(
        accepted: AcceptedRequest, invocations: [InvocationRecord], request: Request?, past: PastDelivery? = nil
    ) {
        self.accepted = accepted
        self.invocations = invocations
        self.request = request
        self.past = past
    }
}

extension Router {
    /// Fixed words in `reason`: scripts look for them.
    static let daemonDown = "daemon_down"
    static let daemonCrashed = "daemon_crashed"

    /// Takes up what an earlier run of the daemon left: runs what has budget left, and gives everything else its outcome.
    ///
    /// Call it once, before anything is submitted, with the requests in order of their numbers, and when nothing of
    /// an earlier run is alive any more.
    public mutating func recover(_ unfinished: [UnfinishedRequest], at now: Moment, effects: inout Effects) {
        for request in unfinished {
            let context = RecoveryContext(request, detection: table.detection)
            for record in request.invocations { recover(record, of: request.accepted, context, at: now, &effects) }
        }
        endTurn(at: now, &effects)
    }

    private mutating func recover(
        _ record: InvocationRecord, of accepted: AcceptedRequest, _ context: RecoveryContext, at now: Moment,
        _ effects: inout Effects
    ) {
        // Among deliveries, Braze's are the tracker's, but for copies and broadcasts, which are given a route at once; a
        // tap on a Braze notification is never unfinished.
        let isPinned = record.isObserver || record.callback.isBroadcast && record.route != nil
        let isBraze = accepted.operation == .deliver && record.provider == Self.trackedProvider && !isPinned
        let facts = RouteFacts(
            provider: record.provider, platform: accepted.platform, callback: record.callback, app: accepted.app,
            keys: context.keys)
        var invocation = Invocation(
            request: accepted, subject: context.subject, record: record, owner: isBraze ? .tracker : .route,
            facts: facts, table: table, lane: record.isObserver ? nil : lane(of: accepted),
            receipt: record.id.n == 0 ? context.receipt : nil, stored: record)
        // Who declined before the crash is not asked again, as long as the routes are the same.
        let position = table.routes.firstIndex { $0.name == record.route }
        invocation.position = position ?? 0
        invocation.isPinned = isPinned
        usage.began(record.id, of: accepted.peer)
        if record.started {
            conclude(invocation, .failed, reason: Self.daemonCrashed, at: now, &effects)
        } else if accepted.boot != boot || record.deadline.map({ $0 <= now.monotonic }) == true {
            // A tracker's payload is never too late: what waited for its turn is handed over.
            if isBraze {
                handOver(invocation, at: now, &effects)
            } else {
                conclude(invocation, .expired, reason: Self.daemonDown, at: now, &effects)
            }
        } else if isPinned, position == nil {
            conclude(invocation, .unrouted, reason: "its route is gone", at: now, &effects)
        } else {
            // The time that is left counts on from where it began.
            if let deadline = record.deadline { invocation.clockStart = deadline + (.zero - record.budget) }
            enter(invocation, at: now, &effects)
        }
    }
}

/// What the request line says beside what the ledger's rows say.
private struct RecoveryContext {
    var subject = InvocationSubject()
    var keys: PayloadKeys?
    var receipt: Receipt?

    init(_ unfinished: UnfinishedRequest, detection: DetectionSettings) {
        guard let request = unfinished.request else { return }
        let accepted = unfinished.accepted
        subject = InvocationSubject(request, past: unfinished.past)
        guard case .deliver(let deliver) = request.action else {
            guard let payload = subject.payload else { return }
            keys = (try? HandedBackPayload(payload, platform: accepted.platform, settings: detection))?.keys
            return
        }
        let delivery = Delivery(deliver, platform: accepted.platform)
        guard let decision = try? decide(delivery, settings: detection) else { return }
        keys = decision.keys
        receipt = Receipt(
            decision, inForeground: deliver.state == .foreground, at: request.at ?? accepted.acceptedAt.wall)
    }
}
