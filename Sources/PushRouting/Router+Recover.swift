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

    /// Joins the parts.
    public init(accepted: AcceptedRequest, invocations: [InvocationRecord], request: Request?) {
        self.accepted = accepted
        self.invocations = invocations
        self.request = request
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
    public mutating func recover(_ unfinished: [UnfinishedRequest], at now: Moment, effects: inout [Effect]) {
        for request in unfinished {
            let context = RecoveryContext(request, detection: table.detection)
            for record in request.invocations { recover(record, of: request.accepted, context, at: now, &effects) }
        }
        endTurn(at: now, &effects)
    }

    private mutating func recover(
        _ record: InvocationRecord, of accepted: AcceptedRequest, _ context: RecoveryContext, at now: Moment,
        _ effects: inout [Effect]
    ) {
        // Among deliveries, Braze's are the tracker's; a tap on a Braze notification is never unfinished.
        let isBraze = accepted.operation == .deliver && record.provider == Self.trackedProvider
        let facts = RouteFacts(
            provider: record.provider, platform: accepted.platform, callback: record.callback, app: accepted.app,
            keys: context.keys)
        var invocation = Invocation(
            request: accepted, payload: context.payload, record: record, owner: isBraze ? .tracker : .route,
            facts: facts, table: table,
            lane: accepted.operation == .deliver ? lane(of: accepted) : nil,
            receipt: record.id.n == 0 ? context.receipt : nil, stored: record)
        // Who declined before the crash is not asked again, as long as the routes are the same.
        invocation.position = table.routes.firstIndex { $0.name == record.route } ?? 0
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
        } else {
            // The time that is left counts on from where it began.
            if let deadline = record.deadline { invocation.clockStart = deadline + (.zero - record.budget) }
            enter(invocation, at: now, &effects)
        }
    }
}

/// What the request line says beside what the ledger's rows say.
private struct RecoveryContext {
    var payload: JSONNode?
    var keys: PayloadKeys?
    var receipt: Receipt?

    init(_ unfinished: UnfinishedRequest, detection: DetectionSettings) {
        guard let request = unfinished.request else { return }
        guard case .deliver(let deliver) = request.action else {
            if case .interact(let interact) = request.action, case .payload(let handedBack) = interact.subject {
                payload = handedBack
                let platform = unfinished.accepted.platform
                keys = (try? HandedBackPayload(handedBack, platform: platform, settings: detection))?.keys
            }
            return
        }
        payload = deliver.payload
        let accepted = unfinished.accepted
        let delivery = Delivery(deliver, platform: accepted.platform)
        guard let decision = try? decide(delivery, settings: detection) else { return }
        keys = decision.keys
        receipt = Receipt(decision, at: request.at ?? accepted.acceptedAt.wall)
    }
}
