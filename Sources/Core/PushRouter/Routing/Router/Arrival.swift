import PushModel

/// A request that is being accepted: the facts that its invocations share, and the number of them so far.
struct Arrival {
    var request: AcceptedRequest { _read { yield sharedRequest.value } }
    /// The request in shared storage, for the invocations and their ends.
    let sharedRequest: Indirect<AcceptedRequest>
    let subject: InvocationSubject
    let provider: String?
    let keys: PayloadKeys?
    /// The lane of the request's invocations.
    let lane: DeviceKey?
    private(set) var count = 0

    init(
        _ request: AcceptedRequest, subject: InvocationSubject, provider: String?, keys: PayloadKeys?,
        lane: DeviceKey?
    ) {
        sharedRequest = Indirect(request)
        self.subject = subject
        self.provider = provider
        self.keys = keys
        self.lane = lane
    }

    var isInLane: Bool { lane != nil }

    func facts(_ callback: Callback) -> RouteFacts {
        RouteFacts(
            provider: provider, platform: request.platform, callback: callback, app: request.app, keys: keys)
    }

    func completions(_ callback: Callback, _ table: RoutingTable) -> Completions {
        Completions(callback, rules: table.completion, osVersion: subject.osVersion)
    }

    /// Returns a ledger row for the next invocation of the request.
    mutating func row(_ callback: Callback, budget: Duration, isObserver: Bool = false) -> InvocationRecord {
        defer { count += 1 }
        return InvocationRecord(
            id: InvocationID(seq: request.seq, n: count), callback: callback, isObserver: isObserver,
            provider: provider, route: nil, handler: nil, budget: budget, deadline: nil, started: false, result: nil)
    }
}

extension Router {
    /// Sends a callback to the first route that matches, or a broadcast callback to every route that matches.
    mutating func route(
        _ callback: Callback, _ arrival: inout Arrival, at now: Moment, _ effects: inout Effects
    ) {
        let facts = arrival.facts(callback)
        let listeners = callback.isBroadcast ? table.positions(for: facts, observing: false) : []
        guard listeners.isEmpty else {
            for position in listeners { pin(callback, to: position, &arrival, at: now, &effects) }
            return
        }
        let row = arrival.row(callback, budget: table.budget)
        let invocation = Invocation(
            of: arrival, record: row, owner: .route, table: sharedTable, isInLane: arrival.isInLane)
        admit(invocation, at: now, &effects)
    }

    /// Sends a copy of each callback to every observing route that matches it.
    mutating func copy(
        _ callbacks: [Callback], _ arrival: inout Arrival, at now: Moment, _ effects: inout Effects
    ) {
        // Most tables have no observer, and every delivery takes this path.
        guard table.routes.contains(where: \.observes) else { return }
        for callback in callbacks {
            for position in table.positions(for: arrival.facts(callback), observing: true) {
                pin(callback, to: position, &arrival, at: now, &effects)
            }
        }
    }

    /// Sends a callback to this route only.
    mutating func pin(
        _ callback: Callback, to position: Int, _ arrival: inout Arrival, at now: Moment, _ effects: inout Effects
    ) {
        let route = table.routes[position]
        var row = arrival.row(callback, budget: table.budget, isObserver: route.observes)
        row.route = route.name
        row.handler = route.handler
        var invocation = Invocation(
            of: arrival, record: row, owner: .route, table: sharedTable,
            isInLane: !route.observes && arrival.isInLane)
        invocation.position = position
        invocation.isPinned = true
        admit(invocation, at: now, &effects)
    }
}
