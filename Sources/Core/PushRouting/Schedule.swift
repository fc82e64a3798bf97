import PushModel

/// When the router goes on, and with what: its timers, the lanes whose turn has come, and how much this turn may still do.
///
/// A turn does only so much, however much has become possible at once. What it leaves goes on in the next turns.
struct Schedule: Sendable {
    /// How many invocations begin, are started, or go past a handler in one turn.
    private static let actsAtOnce = 128
    /// How many invocations are looked at in one turn, and may be over.
    private static let looksAtOnce = 2048
    /// How many timers that mean nothing any more are taken out in one turn.
    private static let staleAtOnce = 256

    private var acts = Self.actsAtOnce
    private var looks = Self.looksAtOnce
    private var timers = Heap<DueTimer>()
    /// Heads of lanes whose turn has come; taken one by one, so that a long lane needs no deep stack.
    private var turns = Queue<InvocationID>()
    /// Lanes whose first ones are over: who is the head now is not known yet.
    private var lanesLeft = Queue<DeviceKey>()
    /// Handlers whose places somebody may wait for, behind others that are over.
    private var handlersLeft: Set<String> = []
    /// Invocations whose row may have to be written before the turn ends.
    private(set) var touched: [InvocationID] = []
    /// When the router next needs the clock; `nil` when nothing is due. Kept, not computed: it is asked for in every turn.
    private(set) var nextDue: Instant?

    /// Whether nothing waits for a time or a turn.
    var isEmpty: Bool { timers.first == nil && !hasWorkLeft && touched.isEmpty }

    /// Whether the last turn left something.
    var hasWorkLeft: Bool { !turns.isEmpty || !lanesLeft.isEmpty || !handlersLeft.isEmpty }

    // MARK: The turn

    /// Whether this turn does no more.
    var isSpent: Bool { acts <= 0 || looks <= 0 }

    /// Whether this turn may look at another invocation.
    var mayLook: Bool { looks > 0 }

    /// Counts an invocation that begins, is started, or goes past a handler.
    mutating func countAct() { acts -= 1 }

    /// Counts an invocation that is looked at.
    mutating func countLook() { looks -= 1 }

    /// The row of an invocation may have to be written before the turn ends.
    mutating func touch(_ id: InvocationID) { touched.append(id) }

    /// Ends the turn: the next one has all of its time again.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - due: when the tracker needs the civil clock.
    ///   - invocations: tells which timers still mean something.
    mutating func endTurn(at now: Moment, tracker due: WallTime?, _ invocations: InvocationsInFlight) {
        (acts, looks) = (Self.actsAtOnce, Self.looksAtOnce)
        touched.removeAll(keepingCapacity: true)
        // Nobody wakes for a timer that means nothing. Those that are left when there are very many do no harm.
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

    /// Has the clock do something with an invocation at a time.
    mutating func add(_ timer: DueTimer) { timers.insert(timer) }

    /// The next timer that is due, which is taken out.
    mutating func takeDue(at now: Instant) -> DueTimer? {
        timers.first.map { $0.due <= now } == true ? timers.popFirst() : nil
    }

    // MARK: Turns of lanes, and work that is left

    /// The head of a lane has its turn.
    mutating func giveTurn(to id: InvocationID) { turns.append(id) }

    /// Whether the head of a lane may begin in this turn.
    var mayTakeTurn: Bool { acts > 0 && !turns.isEmpty }

    /// The head of a lane that is to begin now.
    mutating func takeTurn() -> InvocationID? {
        guard acts > 0, let id = turns.popFirst() else { return nil }
        acts -= 1
        return id
    }

    /// Leaves it to the next turns to find the head of a lane.
    mutating func leave(_ lane: DeviceKey) { lanesLeft.append(lane) }

    /// Leaves it to the next turns to find who waits for a handler.
    mutating func leave(_ handler: String) { handlersLeft.insert(handler) }

    /// A lane that was left, if this turn may look at it.
    mutating func takeLane() -> DeviceKey? { mayLook ? lanesLeft.popFirst() : nil }

    /// The handlers that were left.
    mutating func takeHandlers() -> [String] { exchange(&handlersLeft, with: []).sorted() }
}

/// What is to happen to an invocation, and when.
struct DueTimer: Comparable, Sendable {
    /// At one instant a deadline comes before anything else: at the very instant it is missed.
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
    /// Whether a timer still means something: its invocation may have ended, or have gone on to another route.
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
