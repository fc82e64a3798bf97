import PushModel

/// The pending work of the router: its timers, the lanes whose turn has come, and the rest of this turn's quota.
///
/// A turn does a bounded amount of work; the next turns continue with the rest.
struct Schedule: Sendable {
    /// The most invocations that begin, start, or bypass a handler in one turn.
    private static let actsAtOnce = 128
    /// The most invocations that one turn checks, ended ones included.
    private static let looksAtOnce = 2048
    /// The most stale timers that one turn removes.
    private static let staleAtOnce = 256

    private var acts = Self.actsAtOnce
    private var looks = Self.looksAtOnce
    private var timers = Heap<DueTimer>()
    /// The heads of lanes whose turn has come. The queue avoids recursion along a long lane.
    private var turns = Queue<InvocationID>()
    /// The lanes whose next head is not found yet, because their first invocations have ended.
    private var lanesLeft = Queue<DeviceKey>()
    /// The handlers whose queues are not checked yet, because their first invocations have ended.
    private var handlersLeft: Set<String> = []
    /// The invocations whose rows may have changed in this turn.
    private(set) var touched: [InvocationID] = []
    /// The time of the router's or the tracker's next timer; `nil`: nothing is due. Stored, because every turn reads it.
    private(set) var nextDue: Instant?

    /// Whether there are no timers and no work.
    var isEmpty: Bool { timers.first == nil && !hasWorkLeft && touched.isEmpty }

    /// Whether the last turn left work.
    var hasWorkLeft: Bool { !turns.isEmpty || !lanesLeft.isEmpty || !handlersLeft.isEmpty }

    // MARK: The turn

    /// Whether the quota of this turn is used up.
    var isSpent: Bool { acts <= 0 || looks <= 0 }

    /// Whether this turn may check another invocation.
    var mayLook: Bool { looks > 0 }

    /// Counts an invocation that begins, starts, or bypasses a handler.
    mutating func countAct() { acts -= 1 }

    /// Counts an invocation that is checked.
    mutating func countLook() { looks -= 1 }

    /// Notes that the row of an invocation may have changed in this turn.
    mutating func touch(_ id: InvocationID) { touched.append(id) }

    /// Ends the turn: resets the quota and computes ``nextDue``.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - due: the time at which the tracker needs the civil clock.
    ///   - invocations: the invocations, by which stale timers are found.
    mutating func endTurn(at now: Moment, tracker due: WallTime?, _ invocations: InvocationsInFlight) {
        (acts, looks) = (Self.actsAtOnce, Self.looksAtOnce)
        touched.removeAll(keepingCapacity: true)
        // The loop must not wake for a stale timer. If there are too many for one turn, the rest costs a wake-up only.
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

    /// Adds a timer for an invocation.
    mutating func add(_ timer: DueTimer) { timers.insert(timer) }

    /// Removes and returns the next timer that is due.
    mutating func takeDue(at now: Instant) -> DueTimer? {
        timers.first.map { $0.due <= now } == true ? timers.popFirst() : nil
    }

    // MARK: Turns of lanes, and work that is left

    /// Adds the head of a lane whose turn has come.
    mutating func giveTurn(to id: InvocationID) { turns.append(id) }

    /// Whether the head of a lane may begin in this turn.
    var mayTakeTurn: Bool { acts > 0 && !turns.isEmpty }

    /// Removes and returns the head of a lane that begins now.
    mutating func takeTurn() -> InvocationID? {
        guard acts > 0, let id = turns.popFirst() else { return nil }
        acts -= 1
        return id
    }

    /// Leaves the search for the head of a lane to the next turns.
    mutating func leave(_ lane: DeviceKey) { lanesLeft.append(lane) }

    /// Leaves the check of a handler's queue to the next turns.
    mutating func leave(_ handler: String) { handlersLeft.insert(handler) }

    /// Removes and returns a lane that a turn left, if the quota allows a check.
    mutating func takeLane() -> DeviceKey? { mayLook ? lanesLeft.popFirst() : nil }

    /// Removes and returns the handlers that turns left.
    mutating func takeHandlers() -> [String] { exchange(&handlersLeft, with: []).sorted() }
}

/// A timer of an invocation.
struct DueTimer: Comparable, Sendable {
    /// The purpose of a timer. At the same instant a deadline comes first: an answer at the deadline is too late.
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
    /// Whether a timer is still valid: its invocation has neither ended nor gone on to another route.
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
