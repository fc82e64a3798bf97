public import PushCustomData
import PushDispatch
public import PushModel
public import PushTracking

/// The routing state machine: requests, answers and the clock go in, effects come out.
///
/// A pure value: it reads no clock and has no side effects; the same input gives the same effects. It alone decides
/// lanes, routes, deadlines, outcomes and modes. The shell feeds it from one thread, in order, with times that never
/// step back.
public struct Router: Sendable {
    /// The provider whose payloads the tracker owns.
    static let trackedProvider = ProviderRule.brazeName

    let boot: UUID128
    /// The term of the leader that the router belongs to; `nil` on one machine.
    let epoch: Int64?
    /// The table of the newest configuration.
    private(set) var table: RoutingTable
    /// The table, shared by invocations: each keeps the one that it was accepted under.
    private(set) var sharedTable: Indirect<RoutingTable>
    /// The highest number given so far; 0: none.
    public internal(set) var lastNumber: SequenceNumber
    /// The counts of outcomes since this router began, for metrics.
    public internal(set) var figures = DeliveryFigures()
    private(set) var isDraining = false

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
    ///   - table: the table of the configuration.
    ///   - tracker: the tracker with its memory.
    ///   - customData: the waiting custom data; `nil`: there is none.
    ///   - devices: the known devices, in the order in which they were first seen.
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

    /// Applies a configuration to all later decisions.
    mutating func configure(_ table: RoutingTable) {
        (self.table, sharedTable) = (table, Indirect(table))
        memory.configure(table)
        places.configure(table)
        figures.expect(table.routes)
    }

    /// The time at which the router next needs a `.clock` event; `nil`: nothing is due. The shell needs one timer, set
    /// to it after every turn.
    public var nextDue: Instant? {
        guard let paused = memory.fanOuts.pausedUntil, !isDraining else { return schedule.nextDue }
        return min(paused, schedule.nextDue ?? paused)
    }

    /// Whether work is left that was too much for one turn: the next `.clock`, at any time, continues it.
    public var hasWorkLeft: Bool {
        memory.customData.isRemoving || memory.tracker.isBehind || schedule.hasWorkLeft
            || places.hasWorkLeft(startsNone: isDraining) || memory.fanOuts.hasWorkLeft && !isDraining
    }

    /// Returns the number of a request's invocations without an outcome.
    public func invocationsInFlight(of seq: SequenceNumber) -> Int { usage.invocations(of: seq) }

    /// The number of requests in flight.
    public var requestsInFlight: Int { usage.requests }

    /// The size of the lines of requests in flight, in bytes.
    public var bytesInFlight: Int { usage.bytes }

    /// The part of these bytes that is in memory for waiting invocations.
    public var payloadBytes: Int { usage.payloadBytes }

    /// The memory that invocations in flight take beside these, in bytes, about.
    public var invocationBytes: Int { usage.invocationBytes }

    /// The number of invocations that hold a place to run, observers' included.
    public var handlersRunning: Int { places.running.owners + places.running.observers }

    /// Returns the state of each handler that is not built in; of a removed handler as long as it has invocations.
    public func handlers(at now: Instant) -> [HandlerStatus] {
        places.status(at: now, showsBreakers: table.mode == .relay)
    }

    /// Whether the tracker forgets deliveries by age; false while the civil clock is not trusted.
    public var forgetsByAge: Bool {
        get { memory.forgetsByAge }
        set { memory.forgetsByAge = newValue }
    }

    /// The dispatch mode: `device` or `relay`.
    public var mode: DispatchMode { table.mode }

    /// The number of deliveries that the tracker remembers.
    public var deliveriesTracked: Int { memory.tracker.count }

    /// Handles an event and appends the effects.
    ///
    /// Only `.clock` fires timers, so that the shell decides which of two things at one instant comes first. All other
    /// late events have no effect: the router ignores a late answer and asks for no late start.
    public mutating func handle(_ event: RouterEvent, at now: Moment, effects: inout Effects) {
        switch event {
        // These two only add facts: nothing becomes possible by them.
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
        case .draining: isDraining = true
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
        // An answer counts only before the deadline; at the deadline or later the timer decides.
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

    /// SIGTERM, the same number on every Linux.
    private static let terminationSignal: Int32 = 15
}
