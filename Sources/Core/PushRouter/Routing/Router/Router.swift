public import PushModel

/// The routing state machine: it takes requests, answers and the clock as input, and produces effects.
///
/// A pure value without a clock or I/O: the same input gives the same effects. It alone decides lanes, routes,
/// deadlines, outcomes and modes. The daemon calls it from one thread, in order, with times that never step back.
public struct Router: Sendable {
    /// The provider whose payloads go to the tracker.
    public static let trackedProvider = ProviderRule.brazeName

    let boot: UUID128
    /// The term of the leading node; `nil` on one machine.
    let epoch: Int64?
    /// The current routing table.
    private(set) var table: RoutingTable
    /// The current table in shared storage: each invocation keeps the table of its acceptance.
    private(set) var sharedTable: Indirect<RoutingTable>
    /// The number of observing routes.
    private(set) var observerCount = 0
    /// The highest number given so far; 0 if there is none.
    public internal(set) var lastNumber: SequenceNumber
    /// Counts of outcomes since this router was created; for metrics.
    public internal(set) var figures = DeliveryFigures()
    /// Whether nothing is accepted any more.
    private(set) var isDraining = false
    /// Whether no handler is started any more.
    private(set) var startsNone = false
    /// Whether a `.clock` event makes deliveries of a publish; off while the rows of earlier ones wait for the disk.
    public var hasRoomForPublishes = true

    // Each of these keeps its own order. The router keeps the order between them.
    var memory: RouterMemory
    var invocations = InvocationsInFlight()
    var usage = Usage()
    var lanes = Lanes()
    var places = HandlerPlaces()
    var schedule = Schedule()

    /// - Parameters:
    ///   - boot: the machine's boot id; stored deadlines are valid within one boot only.
    ///   - epoch: the term of the leading node; `nil` on one machine.
    ///   - table: the routing table.
    ///   - tracker: the tracker with its memory.
    ///   - customData: the waiting custom data; `nil`: none.
    ///   - devices: the last known facts of each device, in order of its first request.
    ///   - recentDeliveries: the last messages that FCM on the devices saw, in order of acceptance.
    ///   - lastNumber: the highest number ever acknowledged; 0 for a new state directory.
    public init(
        boot: UUID128, epoch: Int64? = nil, table: RoutingTable, tracker: Tracker, customData: CustomData? = nil,
        devices: [KnownDevice] = [], recentDeliveries: [RecentDelivery] = [],
        lastNumber: SequenceNumber = SequenceNumber(0)
    ) {
        let memory = RouterMemory(
            tracker, customData ?? CustomData(stateID: tracker.stateID), DeviceMemory(devices, recentDeliveries))
        self.init(boot: boot, epoch: epoch, table: table, memory: memory, lastNumber: lastNumber)
    }

    init(
        boot: UUID128, epoch: Int64?, table: RoutingTable, memory: RouterMemory, lastNumber: SequenceNumber
    ) {
        (self.boot, self.epoch) = (boot, epoch)
        self.memory = memory
        self.lastNumber = lastNumber
        (self.table, sharedTable) = (table, Indirect(table))
        configure(table)
    }

    /// Whether the tracker has a delivery whose message has an id.
    public func tracksDelivery(ofMessage name: String) -> Bool {
        memory.tracker.delivery(for: .message(name), app: nil, device: nil) != nil
    }

    /// Installs a routing table for all later decisions.
    public mutating func configure(_ table: RoutingTable) {
        (self.table, sharedTable) = (table, Indirect(table))
        observerCount = table.routes.count(where: \.observes)
        memory.configure(table)
        places.configure(table)
        figures.expect(table.routes)
    }

    /// The time at which the router next needs a `.clock` event; `nil`: none. The daemon sets one timer to it after
    /// each turn.
    public var nextDue: Instant? {
        guard let paused = memory.fanOuts.nextDue, continuesPublishes else { return schedule.nextDue }
        return min(paused, schedule.nextDue ?? paused)
    }

    /// Whether a turn left work because of its limit: the next `.clock` event continues it, at any time.
    public var hasWorkLeft: Bool {
        memory.customData.isRemoving || memory.tracker.isBehind || schedule.hasWorkLeft
            || places.hasWorkLeft(startsNone: startsNone) || memory.fanOuts.hasWorkLeft && continuesPublishes
    }

    /// Returns ``hasWorkLeft`` in place: a getter of a class's property copies the whole router first, which costs 6,700
    /// instructions.
    public mutating func checkWorkLeft() -> Bool { hasWorkLeft }

    /// Returns ``nextDue`` in place, as ``checkWorkLeft()``.
    public mutating func checkNextDue() -> Instant? { nextDue }

    /// Whether a publish has deliveries left to make.
    public var hasPublishes: Bool { !memory.fanOuts.open.isEmpty }

    /// The number of publishes with deliveries left to make, and the number of these deliveries.
    public var publishes: (open: Int, left: Int) { (memory.fanOuts.open.count, memory.fanOuts.membersLeft) }

    private var continuesPublishes: Bool { hasRoomForPublishes && !startsNone }

    /// Returns the number of a request's invocations without an outcome.
    public func invocationsInFlight(of seq: SequenceNumber) -> Int { usage.invocations(of: seq) }

    /// The number of requests in flight.
    public var requestsInFlight: Int { usage.requests }

    /// The size of the lines of requests in flight, in bytes.
    public var bytesInFlight: Int { usage.bytes }

    /// The part of `bytesInFlight` that stays in memory for waiting invocations, in bytes.
    public var payloadBytes: Int { usage.payloadBytes }

    /// The approximate memory of invocations in flight without `payloadBytes`, in bytes.
    public var invocationBytes: Int { usage.invocationBytes }

    /// The number of handlers that hold a place, observers' included.
    public var handlersRunning: Int { places.running.owners + places.running.observers }

    /// Returns the state of each handler that is not built in; a removed handler stays until its invocations end.
    public func handlers(at now: Instant) -> [HandlerStatus] {
        places.status(at: now, showsBreakers: table.mode == .relay)
    }

    /// Whether the tracker forgets by age; off while the wall clock is not trusted.
    public var forgetsByAge: Bool {
        get { memory.forgetsByAge }
        set { memory.forgetsByAge = newValue }
    }

    /// The mode, `device` or `relay`.
    public var mode: DispatchMode { table.mode }

    /// The number of deliveries that the tracker remembers.
    public var deliveriesTracked: Int { memory.tracker.count }

    /// Handles an event, and appends the effects.
    ///
    /// Timers fire only with `.clock`, so the daemon decides the order of two events at one instant. Every other late
    /// event has no effect: the router ignores a late answer and requests no late start.
    public mutating func handle(_ event: RouterEvent, at now: Moment, effects: inout Effects) {
        switch event {
        // These two events only store facts; they make no invocation ready.
        case .started(let id, let start): return started(id, at: start ?? now.monotonic)
        case .observed(let id, let facts): return observed(id, facts)
        case .finished(let id, let answer): finished(id, answer, at: now, &effects)
        case .failedToStart(let id, let reason):
            finished(id, .rejected(reason: reason), wasStarted: false, at: now, &effects)
        case .clock:
            takeDue(at: now, &effects)
            memory.track(at: now, &effects) { $0.takeDue(now: now.wall, into: &$1) }
            memory.keep(&effects) { $0.continueRemoval(now: now.wall, into: &$1) }
            if continuesPublishes { continueFanOuts(at: now, &effects) }
        case .reconfigured(let table):
            configure(table)
            places.grantAllPlaces(invocations, &schedule)
        case .handingOver: startsNone = true
        case .draining: (isDraining, startsNone) = (true, true)
        }
        endTurn(at: now, &effects)
    }

    private mutating func started(_ id: InvocationID, at start: Instant) {
        invocations.change(id) { invocation in
            guard invocation.stage == .starting else { return }
            invocation.stage = .running
            invocation.attempts.start(at: start)
        }
    }

    private mutating func observed(_ id: InvocationID, _ facts: RunFacts) {
        invocations.change(id) { if $0.holdsPlace { $0.attempts.facts = facts } }
    }

    private mutating func finished(
        _ id: InvocationID, _ answer: HandlerAnswer, wasStarted: Bool = true, at now: Moment, _ effects: inout Effects
    ) {
        guard var invocation = invocations[id], invocation.holdsPlace, let deadline = invocation.record.deadline
        else { return }
        // In time means before the deadline; the `.clock` event handles an answer at or after it.
        guard now.monotonic < deadline else { return }
        if !wasStarted { invocation.attempts.withdrawStart() }
        places.leave(invocation, invocations, &schedule)
        if let answered = wasStarted ? answer.isAnswer : false {
            note(answered: answered, of: invocation, at: now, &effects)
        }
        switch answer {
        case .handled(let reply):
            endAttempt(&invocation, .handled, at: now, &effects)
            let remarks = [
                invocation.completions.remark(on: reply, of: invocation.record.handler ?? "the handler"),
                keep(reply.log, of: invocation.request, at: now, &effects),
            ].compactMap(\.self)
            let completion = invocation.completions.byHandler(reply)
            conclude(invocation, .handled, remarks: remarks, completion: completion, at: now, &effects)
        case .retry(let after, let reason) where invocation.table.mode == .relay:
            retry(&invocation, after: after, because: reason, at: now, &effects)
        case .retry(_, let reason):
            endAttempt(&invocation, .retry, reason: reason, at: now, &effects)
            conclude(invocation, .failed, because: .retryInDeviceMode(reason), at: now, &effects)
        case .unavailable(let text, let after) where invocation.table.mode == .relay:
            retry(&invocation, after: after, notAsked: text, at: now, &effects)
        case .unavailable(let text, _):
            endAttempt(&invocation, .notStarted, reason: text, at: now, &effects)
            conclude(invocation, .failed, because: .handlerNotStarted(text), at: now, &effects)
        case .declined:
            endAttempt(&invocation, .declined, at: now, &effects)
            tryNextRoute(&invocation, at: now, &effects)
        case .rejected(let text):
            fail(&invocation, text, because: .handlerRejected(text), wasStarted: wasStarted, at: now, &effects)
        case .lost(let text):
            fail(&invocation, text, because: .handlerLost(text), wasStarted: wasStarted, at: now, &effects)
        case .signaled(let signal) where signal == Self.terminationSignal && invocation.stage == .terminating:
            endAttempt(&invocation, .timedOut, signal: signal, at: now, &effects)
            conclude(invocation, .timedOut, because: .endedInGrace, at: now, &effects)
        case .signaled(let signal):
            endAttempt(&invocation, .killed, signal: signal, at: now, &effects)
            conclude(invocation, .failed, because: .endedBySignal(signal), at: now, &effects)
        }
    }

    private mutating func fail(
        _ invocation: inout Invocation, _ text: String, because reason: RouterReason, wasStarted: Bool, at now: Moment,
        _ effects: inout Effects
    ) {
        endAttempt(&invocation, wasStarted ? .rejected : .notStarted, reason: text, at: now, &effects)
        conclude(invocation, .failed, because: wasStarted ? reason : .handlerNotStarted(text), at: now, &effects)
    }

    /// SIGTERM's number on Linux.
    private static let terminationSignal: Int32 = 15
}

/// The router's memory of finished requests: the tracker, the custom data, and the devices. Each change is written in
/// the turn that makes it.
struct RouterMemory: Sendable {
    private(set) var tracker: Tracker
    private(set) var customData: CustomData
    var devices: DeviceMemory
    var fanOuts = FanOuts()
    var warnings = WarningCounts()
    /// Whether the tracker forgets by age; off while the wall clock is not trusted.
    var forgetsByAge = true

    init(_ tracker: Tracker, _ customData: CustomData, _ devices: DeviceMemory) {
        self.tracker = tracker
        self.customData = customData
        self.devices = devices
    }

    /// Applies the settings of a table.
    mutating func configure(_ table: RoutingTable) {
        tracker.rules = table.tracking
        customData.rules = table.customData
        devices.byteLimit = table.limits.deviceMemory
    }

    /// Installs the recovered tracker.
    mutating func adopt(_ tracker: Tracker) { self.tracker = tracker }

    /// Calls the tracker and records its output. A session that begins flushes its waiting entries, the first of them
    /// in the same transaction.
    @discardableResult
    mutating func track<Result>(
        at now: Moment, _ effects: inout Effects, _ act: (inout Tracker, inout TrackerOutput) -> Result
    ) -> Result {
        var output = TrackerOutput()
        tracker.forgetsByAge = forgetsByAge
        let result = act(&tracker, &output)
        for event in output.events { effects.record(event) }
        for record in output.records { effects.record(record) }
        for session in output.sessionStarts { keep(&effects) { $0.flush(session, now: now.wall, into: &$1) } }
        return result
    }

    /// Calls the custom data and records its output.
    @discardableResult
    mutating func keep<Result>(
        _ effects: inout Effects, _ act: (inout CustomData, inout CustomDataOutput) -> Result
    ) -> Result {
        var output = CustomDataOutput()
        let result = act(&customData, &output)
        for event in output.events { effects.record(event) }
        for record in output.records { effects.record(.customData(record)) }
        return result
    }

    /// Forgets a person up to a bound. Writes nothing; the caller deletes the rows.
    mutating func forget(_ person: Person, through bound: ErasureBound) {
        devices.forget(person, through: bound.request)
        tracker.forget(person, through: bound.request)
        customData.forget(person, through: bound.entry)
    }
}

extension TrackerOutput {
    /// The sessions that began; each has one event.
    fileprivate var sessionStarts: [SessionStart] {
        events.lazy.filter { $0.kind == .sessionStart }.map { event in
            // An event's time has whole seconds; the row of its session has the exact time.
            let start = records.lazy.compactMap { record in
                if case .session(let row) = record, row.number == event.seq { row.startedAt } else { nil }
            }.first
            return SessionStart(
                cause: event.seq, platform: event.platform, app: event.appID, device: event.deviceID,
                externalID: event.externalUserID, at: start ?? WallTime(milliseconds: event.time * 1000))
        }
    }
}
