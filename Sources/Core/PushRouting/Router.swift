public import PushCustomData
import PushDispatch
public import PushModel
public import PushTracking

/// The routing state machine: requests, answers and the clock go in, effects come out.
///
/// A pure value: it reads no clock, touches nothing outside, and the same input gives the same effects. Lanes,
/// routes, deadlines, outcomes and modes are decided here and nowhere else. The shell feeds it from one thread, in
/// order, with times that never step back.
public struct Router: Sendable {
    /// Whose payloads are the tracker's.
    static let trackedProvider = ProviderRule.brazeName

    let boot: UUID128
    /// The term of the leader that it is a part of; `nil` on one machine.
    let epoch: Int64?
    /// What it decides by.
    private(set) var table: RoutingTable
    /// The same, for invocations: each keeps what it was accepted under.
    private(set) var sharedTable: Indirect<RoutingTable>
    /// The highest number given so far; 0 when there is none.
    public internal(set) var lastNumber: SequenceNumber
    /// What ended how since this router began; for metrics.
    public internal(set) var figures = DeliveryFigures()
    /// Whether nothing is accepted any more.
    private(set) var isDraining = false
    /// Whether no handler is started any more.
    private(set) var startsNone = false

    // Each of these keeps its own order. The router keeps the order between them.
    var memory: RouterMemory
    var invocations = InvocationsInFlight()
    var usage = Usage()
    var lanes = Lanes()
    var places = Places()
    var schedule = Schedule()

    /// - Parameters:
    ///   - boot: the machine's boot id; stored deadlines count within one boot only.
    ///   - epoch: the term of the leader; `nil` on one machine.
    ///   - table: what to decide by.
    ///   - tracker: the tracker, with what it remembers.
    ///   - customData: the custom data that waits; without it there is none.
    ///   - devices: what is last known of each device, those first that were first heard of.
    ///   - recentDeliveries: what FCM on the devices saw last, in order of acceptance.
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

    /// What is decided from now on is decided by this.
    mutating func configure(_ table: RoutingTable) {
        (self.table, sharedTable) = (table, Indirect(table))
        memory.configure(table)
        places.configure(table)
        figures.expect(table.routes)
    }

    /// When the router next needs the clock; `nil` when nothing is due. One timer, set to it after every turn, is enough.
    public var nextDue: Instant? {
        guard let paused = memory.fanOuts.pausedUntil, !startsNone else { return schedule.nextDue }
        return min(paused, schedule.nextDue ?? paused)
    }

    /// Whether something has begun that is too much for one turn: the next `.clock` goes on with it, at any time.
    public var hasWorkLeft: Bool {
        memory.customData.isRemoving || memory.tracker.isBehind || schedule.hasWorkLeft
            || places.hasWorkLeft(startsNone: startsNone) || memory.fanOuts.hasWorkLeft && !startsNone
    }

    /// How many outcomes of a request are still to come.
    public func invocationsInFlight(of seq: SequenceNumber) -> Int { usage.invocations(of: seq) }

    /// How many requests are in flight.
    public var requestsInFlight: Int { usage.requests }

    /// Bytes of the lines of requests in flight.
    public var bytesInFlight: Int { usage.bytes }

    /// Bytes of them that are kept in memory for invocations that wait.
    public var payloadBytes: Int { usage.payloadBytes }

    /// Bytes of memory that invocations in flight take beside these, about.
    public var invocationBytes: Int { usage.invocationBytes }

    /// How many handlers hold a place to run, observers' among them.
    public var handlersRunning: Int { places.running.owners + places.running.observers }

    /// What each handler that is not built in is doing; those that the configuration has no more as long as they run.
    public func handlers(at now: Instant) -> [HandlerStatus] {
        places.status(at: now, showsBreakers: table.mode == .relay)
    }

    /// Whether the tracker forgets by age: not by a clock that is not believed.
    public var forgetsByAge: Bool {
        get { memory.forgetsByAge }
        set { memory.forgetsByAge = newValue }
    }

    /// In whose place the router stands.
    public var mode: DispatchMode { table.mode }

    /// How many deliveries the tracker remembers.
    public var deliveriesTracked: Int { memory.tracker.count }

    /// Takes in what happened; appends what is to be done.
    ///
    /// Only `.clock` lets what is due happen, so that of two things at one instant the shell says which comes first.
    /// Nothing else that comes too late is let pass: an answer is ignored, a start is not asked for.
    public mutating func handle(_ event: RouterEvent, at now: Moment, effects: inout Effects) {
        switch event {
        // These two are notes alone: nothing becomes possible by them.
        case .started(let id, let start): return started(id, at: start ?? now.monotonic)
        case .observed(let id, let facts): return observed(id, facts)
        case .finished(let id, let answer): finished(id, answer, at: now, &effects)
        case .failedToStart(let id, let reason):
            finished(id, .rejected(reason: reason), wasStarted: false, at: now, &effects)
        case .clock:
            takeDue(at: now, &effects)
            memory.track(at: now, &effects) { $0.takeDue(now: now.wall, into: &$1) }
            memory.keep(&effects) { $0.continueRemoval(now: now.wall, into: &$1) }
            continueFanOuts(at: now, &effects)
        case .reconfigured(let table):
            configure(table)
            places.passOnAll(invocations, &schedule)
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
        // In time means before the deadline; what comes at that instant or later is the clock's to judge.
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

    /// SIGTERM, on every Linux.
    private static let terminationSignal: Int32 = 15
}
