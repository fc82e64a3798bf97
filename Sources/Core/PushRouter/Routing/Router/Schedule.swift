import PushModel

/// The router's timers, the lanes whose head may begin, and the work that this turn may still do.
///
/// A turn does a bounded amount of work. Later turns do the rest.
struct Schedule: Sendable {
    /// The most invocations that one turn begins, starts, or sends past a handler.
    private static let actsAtOnce = 128
    /// The most invocations that one turn reads, ended ones included.
    private static let readsAtOnce = 2048
    /// The most stale timers that one turn removes.
    private static let staleAtOnce = 256

    private var acts = Self.actsAtOnce
    private var reads = Self.readsAtOnce
    private var timers = Heap<DueTimer>()
    /// Heads of lanes that may begin; a queue, so that a long lane needs no deep recursion.
    private var turns = Queue<InvocationID>()
    /// Lanes with ended invocations at the front, whose next head is not known yet.
    private var lanesLeft = Queue<DeviceKey>()
    /// Handlers whose queues have ended invocations at the front.
    private var handlersLeft: Set<String> = []
    /// Invocations whose rows may change before the turn ends.
    private(set) var touched: [InvocationID] = []
    /// The time at which the router next needs `.clock`; `nil`: none. Stored, because every turn reads it.
    private(set) var nextDue: Instant?

    /// Whether no timer and no work is left.
    var isEmpty: Bool { timers.first == nil && !hasWorkLeft && touched.isEmpty }

    /// Whether the last turn left work.
    var hasWorkLeft: Bool { !turns.isEmpty || !lanesLeft.isEmpty || !handlersLeft.isEmpty }

    // MARK: The turn

    /// Whether this turn has used up its limits.
    var isSpent: Bool { acts <= 0 || reads <= 0 }

    /// Whether this turn may read another invocation.
    var mayRead: Bool { reads > 0 }

    /// Counts an invocation that begins, starts, or passes over a handler.
    mutating func countAct() { acts -= 1 }

    /// Counts an invocation that the turn reads.
    mutating func countRead() { reads -= 1 }

    /// Marks an invocation whose row may change before the turn ends.
    mutating func touch(_ id: InvocationID) { touched.append(id) }

    /// Ends the turn and resets its limits.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - due: the time at which the tracker next needs the clock.
    ///   - invocations: the invocations, for finding stale timers.
    mutating func endTurn(at now: Moment, tracker due: WallTime?, _ invocations: InvocationsInFlight) {
        (acts, reads) = (Self.actsAtOnce, Self.readsAtOnce)
        touched.removeAll(keepingCapacity: true)
        // Removes stale timers so that none wakes the loop. Stale timers beyond the limit do no harm.
        var left = Self.staleAtOnce
        while left > 0, let timer = timers.first, !invocations.waits(for: timer) {
            left -= 1
            _ = timers.popFirst()
        }
        let timer = timers.first?.due
        let tracker = due.map { now.monotonic + .milliseconds($0.milliseconds - now.wall.milliseconds) }
        nextDue = tracker.map { min(timer ?? $0, $0) } ?? timer
    }

    // MARK: Timers

    /// Adds a timer of an invocation.
    mutating func add(_ timer: DueTimer) { timers.insert(timer) }

    /// Removes and returns the next due timer.
    mutating func takeDue(at now: Instant) -> DueTimer? {
        timers.first.map { $0.due <= now } == true ? timers.popFirst() : nil
    }

    // MARK: Turns of lanes, and work that is left

    /// Notes that the head of a lane may begin.
    mutating func giveTurn(to id: InvocationID) { turns.append(id) }

    /// Whether the head of a lane may begin in this turn.
    var mayTakeTurn: Bool { acts > 0 && !turns.isEmpty }

    /// Removes and returns the next head that may begin now.
    mutating func takeTurn() -> InvocationID? {
        guard acts > 0, let id = turns.popFirst() else { return nil }
        acts -= 1
        return id
    }

    /// Leaves finding the head of a lane to later turns.
    mutating func leave(_ lane: DeviceKey) { lanesLeft.append(lane) }

    /// Leaves finding the next invocation in a handler's queue to later turns.
    mutating func leave(_ handler: String) { handlersLeft.insert(handler) }

    /// Removes and returns a lane that an earlier turn left, if this turn may read invocations.
    mutating func takeLane() -> DeviceKey? { mayRead ? lanesLeft.popFirst() : nil }

    /// Removes and returns the handlers that earlier turns left.
    mutating func takeHandlers() -> [String] { exchange(&handlersLeft, with: []).sorted() }
}

/// A timer of an invocation.
struct DueTimer: Comparable, Sendable {
    /// The purpose of a timer. At one instant a deadline fires first: an event at that very instant is too late.
    enum Purpose: Int, Comparable, Sendable {
        case deadline, terminate, retry

        static func < (left: Purpose, right: Purpose) -> Bool { left.rawValue < right.rawValue }
    }

    var due: Instant
    var purpose: Purpose
    var invocation: InvocationID

    static func < (left: DueTimer, right: DueTimer) -> Bool {
        (left.due, left.purpose, left.invocation) < (right.due, right.purpose, right.invocation)
    }
}

extension InvocationsInFlight {
    /// Whether a timer is still valid: its invocation may have ended, or moved to another route.
    func waits(for timer: DueTimer) -> Bool {
        read(timer.invocation) { invocation in
            switch timer.purpose {
            case .deadline: invocation.record.deadline == timer.due
            case .terminate: invocation.terminationDue == timer.due
            case .retry: invocation.stage == .pausing
            }
        } ?? false
    }
}

extension Router {
    /// The most due timers in one turn: after a suspend of the machine very many may be due at once.
    private static let dueAtOnce = 64

    /// Handles due timers in order of time. Timers beyond the limit stay due for the next turn.
    mutating func takeDue(at now: Moment, _ effects: inout Effects) {
        var left = Self.dueAtOnce
        while left > 0, let timer = schedule.takeDue(at: now.monotonic) {
            left -= 1
            guard invocations.waits(for: timer), var invocation = invocations[timer.invocation] else { continue }
            switch timer.purpose {
            case .deadline:
                miss(invocation, at: now, &effects)
            case .terminate:
                // An invocation that does not run yet has less than its grace left when it starts. A timer after the
                // deadline leads to a stop instead.
                guard invocation.stage == .running, let deadline = invocation.record.deadline,
                    now.monotonic < deadline
                else { continue }
                invocation.stage = .terminating
                invocations.put(invocation)
                effects.append(.terminate(timer.invocation))
            case .retry: run(&invocation, at: now, &effects)
            }
        }
    }

    /// Sets the timer for the invocation's deadline.
    mutating func watch(_ invocation: Invocation) {
        guard let deadline = invocation.record.deadline else { preconditionFailure("watched before it had a deadline") }
        schedule.add(DueTimer(due: deadline, purpose: .deadline, invocation: invocation.record.id))
    }

    /// Sets the timer for SIGTERM to the handler of an invocation that is about to start, if the handler has a grace
    /// period.
    mutating func watchTermination(of invocation: Invocation, at now: Moment) {
        guard let due = invocation.terminationDue, now.monotonic < due else { return }
        schedule.add(DueTimer(due: due, purpose: .terminate, invocation: invocation.record.id))
    }

    private mutating func miss(_ missed: Invocation, at now: Moment, _ effects: inout Effects) {
        var invocation = missed
        if invocation.stage == .waiting, let lane = invocation.lane.flatMap({ lanes[$0] }), let head = lane.head {
            invocation.waitedFor = Predecessor(
                id: head, handler: invocations[head]?.handler?.value.name, took: lane.headAge(at: now.monotonic))
        }
        let isBlockedByHandler =
            invocation.stage == .ready && invocation.attempts.countOfHandler == 0
            && invocation.handler.map { places.isBlockedByHandler(invocation.record.id, of: $0.value) } == true
        if invocation.holdsPlace { places.leave(invocation, invocations, &schedule) }
        if invocation.hasFailedAtDeadline { note(answered: false, of: invocation, at: now, &effects) }
        if invocation.holdsPlace {
            endAttempt(&invocation, .timedOut, at: now, &effects)
            effects.append(.stop(invocation.record.id))
        }
        let reason: RouterReason =
            switch invocation.stage {
            case .waiting: .waitingInLane
            case .running, .terminating: .notFinishedAtDeadline(invocation.attempts.facts.insteadOfAnswer)
            case .ready where isBlockedByHandler: .queueFull
            case .ready, .starting, .pausing:
                invocation.attempts.first == nil
                    ? .noHandlerStartedInTime
                    : .notDoneAfterRetries(
                        attempts: invocation.attempts.count, last: invocation.attempts.lastReason)
            }
        // The program has not begun, as the router knows by now; `started` was set in case of a crash.
        if invocation.stage == .starting { invocation.record.started = false }
        // An invocation that waited in this handler's queue never reached it, even if an earlier handler had it.
        conclude(invocation, isBlockedByHandler ? .expired : invocation.missed, because: reason, at: now, &effects)
    }
}
