public import PushModel

/// An invocation in flight: its ledger row, and the state that only the router needs.
struct Invocation: Sendable {
    /// The stage of an invocation. An outcome may end any stage.
    enum Stage: Hashable, Sendable, CaseIterable {
        /// Behind others in its lane. Goes to `ready` when it becomes the head.
        case waiting
        /// At the head of the lane, without a place to run. Goes to `starting`.
        case ready
        /// The router has asked for a start that nobody has reported yet. Goes to `running`.
        case starting
        /// The handler runs. Goes to `terminating`, to `pausing`, or to the next route's `ready`.
        case running
        /// The daemon has sent SIGTERM to the handler, whose grace period runs. Goes where `running` goes.
        case terminating
        /// The handler asked for another attempt later. Goes to `ready`.
        case pausing
    }

    /// The request; its line is empty after ``releaseContent()``.
    var request: AcceptedRequest { _read { yield sharedRequest.value } }
    private(set) var sharedRequest: Indirect<AcceptedRequest>
    /// The content of the request; `nil` after ``releaseContent()``.
    var subject: InvocationSubject? { content?.value.subject }
    private var content: Indirect<Content>?
    /// The size of the request line in bytes.
    let byteCount: Int
    /// The memory of line and payload in bytes, with the payload of the delivery that an interaction is about.
    let memorySize: Int
    var record: InvocationRecord
    /// The positions of the matching routes; `nil` while the payload is in memory to match against.
    private var matches: [Int]?
    /// The routing table at acceptance: a reload does not change it.
    var table: RoutingTable { _read { yield sharedTable.value } }
    private let sharedTable: Indirect<RoutingTable>
    /// The position of its route in `table`.
    var position = 0
    /// The current handler, in shared storage because it is large.
    var handler: Indirect<Handler>?
    /// The lane of the request's device; `nil` if the invocation waits in no lane.
    var lane: DeviceKey? { isInLane ? request.lane : nil }
    /// The invocation ahead in the lane that took the longest time.
    var waitedFor: Predecessor? {
        get { sharedWaitedFor?.value }
        set { sharedWaitedFor = newValue.map { Indirect($0) } }
    }
    private var sharedWaitedFor: Indirect<Predecessor>?
    /// The attempts so far.
    var attempts: Attempts {
        _read { yield sharedAttempts.value }
        _modify { yield &sharedAttempts.value }
    }
    /// Invocations without an attempt share this value.
    private var sharedAttempts = Invocation.noAttempts
    private static let noAttempts = Indirect(Attempts())
    /// The receipt that the tracker gets at the invocation's turn.
    var receipt: Receipt? {
        get { sharedReceipt?.value }
        set { sharedReceipt = newValue.map { Indirect($0) } }
    }
    private var sharedReceipt: Indirect<Receipt>?
    /// The handlers that the invocation passed over.
    var bypassed: BypassedHandlers {
        _read { yield sharedBypassed.value }
        _modify { yield &sharedBypassed.value }
    }
    private var sharedBypassed = Invocation.noneBypassed
    private static let noneBypassed = Indirect(BypassedHandlers())
    /// The changing fields that the ledger has; `nil` before the first write.
    var stored: ChangingFields?
    // The small fields are adjacent, so that they share eight bytes instead of taking eight each.
    let osVersion: OSVersion?
    let owner: PlannedInvocation.Owner
    /// Whether `usage` counts `memorySize` among the bytes kept in memory.
    var isCounted = false
    /// Whether only the route at `position` may get the invocation: an observing route, or a route that hears a
    /// broadcast.
    var isPinned = false
    private let isInLane: Bool
    var stage = Stage.waiting
    /// The time from which the budget counts; `nil` while the invocation waits in its lane in `device` mode.
    var clockStart: Instant?
    /// The number of invocations ahead in the lane at acceptance.
    var ahead: Int32?

    /// The memory of a request's objects in bytes, without line and payload: about the measured value.
    static let memorySizeOfContent = 304

    /// The parts that ``releaseContent()`` drops while other invocations are ahead.
    private struct Content: Sendable {
        var subject: InvocationSubject
        var keys: PayloadKeys?
    }

    /// The fields of a row that change while the invocation is in flight.
    struct ChangingFields: Hashable, Sendable {
        private let route: String?
        private let handler: String?
        private let budget: Duration
        private let deadline: Instant?
        private let started: Bool
        private let isDecided: Bool

        init(_ record: InvocationRecord) {
            (route, handler, budget, deadline) = (record.route, record.handler, record.budget, record.deadline)
            (started, isDecided) = (record.started, record.sharedResult != nil)
        }
    }

    /// - Parameters:
    ///   - request: the request.
    ///   - byteCount: the size of the request line in bytes.
    ///   - subject: the content of the request; `nil`: only the ledger has it, and no route matches on the payload.
    ///   - record: the ledger row.
    ///   - owner: the owner.
    ///   - keys: the payload's keys, for matching routes.
    ///   - table: the routing table at acceptance.
    ///   - isInLane: whether it waits in the lane of the request's device.
    init(
        request: Indirect<AcceptedRequest>, byteCount: Int, subject: InvocationSubject?, osVersion: OSVersion?,
        record: InvocationRecord, owner: PlannedInvocation.Owner, keys: PayloadKeys?, table: Indirect<RoutingTable>,
        isInLane: Bool
    ) {
        sharedRequest = request
        self.byteCount = byteCount
        content = subject.map { Indirect(Content(subject: $0, keys: keys)) }
        memorySize =
            byteCount + (subject?.payload?.document.memorySize ?? 0) + (keys?.memorySizeOfKeyValues ?? 0)
            + (subject == nil ? 0 : Self.memorySizeOfContent)
        self.osVersion = osVersion
        self.record = record
        self.owner = owner
        sharedTable = table
        self.isInLane = isInLane
        if subject == nil {
            matches = table.value.positions(for: facts(keys), observing: false)
            sharedRequest.value.body = []
        }
    }

    /// Makes an invocation of a request that is being accepted.
    init(
        of arrival: Arrival, record: InvocationRecord, owner: PlannedInvocation.Owner, table: Indirect<RoutingTable>,
        isInLane: Bool
    ) {
        self.init(
            request: arrival.sharedRequest, byteCount: arrival.request.body.count, subject: arrival.subject,
            osVersion: arrival.subject.osVersion, record: record, owner: owner, keys: arrival.keys, table: table,
            isInLane: isInLane)
    }

    /// Returns the facts that routes match on.
    private func facts(_ keys: PayloadKeys?) -> RouteFacts {
        RouteFacts(
            provider: record.provider, platform: request.platform, callback: record.callback, app: request.app,
            keys: keys)
    }

    /// The completion rules of the callback; an observer's invocation completes nothing.
    var completions: Completions {
        Completions(
            record.isObserver ? .none : record.callback, rules: table.completion, osVersion: osVersion)
    }

    /// The position of the first matching route at or after its own that does not observe.
    var nextOwner: Int? {
        guard let matches else { return table.owner(of: facts(content?.value.keys), from: position) }
        return matches.first { $0 >= position }
    }

    /// Drops the request line and the payload, which the ledger has. Matches the routes first.
    mutating func releaseContent() {
        if matches == nil {
            matches = isPinned ? [] : table.positions(for: facts(content?.value.keys), observing: false)
        }
        sharedRequest.value.body = []
        content = nil
    }

    /// Prepares for a wait: keeps the payload if `room` bytes are enough, and drops it otherwise.
    ///
    /// - Returns: the number of bytes that it now keeps and that `usage` does not count yet.
    mutating func park(_ room: Int) -> Int {
        guard content != nil, !isCounted else { return 0 }
        guard memorySize <= room else {
            releaseContent()
            return 0
        }
        isCounted = true
        return memorySize
    }

    /// Whether the invocation holds a place to run.
    var holdsPlace: Bool {
        switch stage {
        case .starting, .running, .terminating: true
        case .waiting, .ready, .pausing: false
        }
    }

    /// Whether missing the deadline now is the handler's failure. A program that has not started is not at fault. A
    /// handler with instances was ready to answer, and a handler that asked for a retry had its attempt.
    var hasFailedAtDeadline: Bool {
        switch stage {
        case .running, .terminating, .pausing: true
        case .starting: attempts.countOfHandler > 1 || handler?.value.kind.instanceRules != nil
        case .ready: attempts.countOfHandler > 0
        case .waiting: false
        }
    }

    /// The time of SIGTERM for the handler; `nil`: none.
    var terminationDue: Instant? {
        guard let deadline = record.deadline, let grace = handler?.value.grace, grace < record.budget else {
            return nil
        }
        return deadline + (.zero - grace)
    }

    /// The outcome of a missed deadline.
    var missed: Outcome { attempts.first == nil ? .expired : .timedOut }
}

/// The content of an invocation's request line that the ledger's columns lack.
public struct InvocationSubject: Sendable {
    /// The action; `nil` if another version of the daemon accepted a line that this one cannot read.
    public var action: Request.Action?
    /// The payload: of a delivery as it came, of an interaction as the platform handed it back or as it was delivered;
    /// `nil` if it is unknown.
    public var payload: JSONNode?
    /// The version of the operating system.
    public var osVersion: OSVersion?

    /// Joins the parts.
    init(action: Request.Action? = nil, payload: JSONNode? = nil, osVersion: OSVersion? = nil) {
        self.action = action
        self.payload = payload
        self.osVersion = osVersion
    }

    /// Takes the content of a request.
    ///
    /// - Parameter past: the delivery that an interaction is about, if the ledger has it.
    init(_ request: Request, past: PastDelivery? = nil) {
        action = request.action
        switch request.action {
        case .deliver(let deliver):
            payload = deliver.payload
            osVersion = deliver.osVersion.flatMap(OSVersion.init)
        case .interact(let interact):
            if case .payload(let handedBack) = interact.subject {
                payload = handedBack
            } else {
                payload = past?.request?.payload
            }
            osVersion = past?.request?.osVersion.flatMap(OSVersion.init)
        case .session, .token, .log, .topic, .publish, .device: break
        }
    }
}

/// The facts of a Braze delivery that the tracker takes.
struct Receipt: Sendable {
    var campaignID: String?
    /// Whether the message id is the payload's own, not the request's.
    var hasOwnID: Bool
    var uniqueID: String?
    var isDisplayed: Bool
    var inForeground: Bool
    /// The digest of a payload without a message id; `nil` if the payload has its own id.
    var digest: UInt64?
    var buttons: ButtonList
    var at: WallTime
}

extension AcceptedRequest {
    /// The memory in bytes of one invocation in flight, without line and payload: about the measured value, plus the
    /// texts.
    var memoryInFlight: Int {
        func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }
        return 900 + length(id) + length(app) + length(device) + length(externalID) + length(messageID)
    }
}

/// The handlers that an invocation passed over, for the reason of its outcome.
struct BypassedHandlers: Sendable {
    /// The handlers that declined the invocation, each with the time that it took.
    var declined = NamedHandlers()
    /// The handlers whose breakers were open.
    var passedOver = NamedHandlers()
}

/// A count of handlers with the names of the first few: an invocation may pass over hundreds of routes.
struct NamedHandlers: Sendable {
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a handler.
    mutating func append(_ name: @autoclosure () -> String) {
        count += 1
        if names.count < Self.namesMax { names.append(name()) }
    }

    /// Returns the names for people; `nil` if the list is empty.
    ///
    /// - Parameter and: the text before the number of unnamed handlers.
    func text(and: String) -> String? {
        guard count > 0 else { return nil }
        return names.joined(separator: ", ") + (count > names.count ? "\(and) \(count - names.count) more" : "")
    }
}

/// The invocations in flight by id. The table holds references, because an invocation is large.
struct InvocationsInFlight: Sendable {
    private var byID = ShardedDictionary<InvocationID, Indirect<Invocation>>()

    /// Returns a copy; ``read(_:_:)`` and ``change(_:_:)`` make none.
    subscript(id: InvocationID) -> Invocation? { byID[id]?.value }

    /// Stores an invocation, replacing its previous value.
    mutating func put(_ invocation: consuming Invocation) {
        let id = invocation.record.id
        byID[id] = Indirect(invocation)
    }

    /// Calls `body` with an invocation in place; does nothing if there is none.
    func read<Result>(_ id: InvocationID, _ body: (Invocation) -> Result) -> Result? {
        byID[id].map { body($0.value) }
    }

    /// Changes an invocation in place; does nothing if there is none.
    @discardableResult
    mutating func change<Result>(_ id: InvocationID, _ body: (inout Invocation) -> Result) -> Result? {
        byID.change(id) { body(&$0.value) }
    }

    mutating func remove(_ id: InvocationID) { byID[id] = nil }

    mutating func reserve(_ count: Int) { byID.reserveCapacity(count) }

    var isEmpty: Bool { byID.isEmpty }

    /// The ids, in no order.
    var ids: some Sequence<InvocationID> { byID.keys }

    func contains(_ id: InvocationID) -> Bool { byID[id] != nil }
}

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
