import PushModel

/// When the circuit breaker of a handler opens, and for how long: `Breaker=` and `BreakerPause=` of its file.
public struct BreakerRules: Hashable, Sendable {
    /// After how many failures without an answer in between.
    public var failures: Int
    /// Within what time.
    public var window: Duration
    /// How long the handler then gets nothing.
    public var pause: Duration

    /// Joins the parts; the default is the shipped one.
    public init(failures: Int, window: Duration, pause: Duration = .seconds(10)) {
        self.failures = failures
        self.window = window
        self.pause = pause
    }
}

/// The circuit breaker of one handler: keeps invocations from a handler that does not answer.
///
/// A pure value, without a timer of its own: the first invocation that comes after the pause is let through as a probe.
struct Breaker: Sendable {
    /// Where it stands.
    enum State: Hashable, Sendable {
        /// Everything is let through. Goes to `open`.
        case closed
        /// Nothing is let through before this time. Goes to `probing` with the first invocation that comes after it.
        case open(until: Instant)
        /// Only this invocation is let through. Goes to `closed` or `open`.
        case probing(InvocationID)
    }

    let rules: BreakerRules
    private(set) var state = State.closed
    /// When the handler failed since its last answer; no more than open it.
    private var failures = Queue<Instant>()
    private var failureCount = 0

    init(_ rules: BreakerRules) { self.rules = rules }

    /// Whether it lets an invocation through.
    func admits(_ invocation: InvocationID, at now: Instant) -> Bool {
        switch state {
        case .closed: true
        case .open(let until): now >= until
        case .probing(let probe): probe == invocation
        }
    }

    /// An invocation that it admits goes to the handler: after the pause as the probe.
    mutating func letThrough(_ invocation: InvocationID) {
        if case .open = state { state = .probing(invocation) }
    }

    /// The handler answered, whatever it said.
    ///
    /// - Returns: whether this closes the breaker. What was sent before it opened does not.
    mutating func answered(_ invocation: InvocationID) -> Bool {
        switch state {
        case .closed:
            forgetFailures()
            return false
        case .open: return false
        case .probing(let probe):
            guard probe == invocation else { return false }
            state = .closed
            return true
        }
    }

    /// The handler did not answer: it missed the deadline, died or could not be reached.
    ///
    /// - Returns: whether this opens the breaker that was closed.
    mutating func failed(_ invocation: InvocationID, at now: Instant) -> Bool {
        switch state {
        case .closed:
            failures.append(now)
            failureCount += 1
            while let first = failures.first, now - first > rules.window {
                _ = failures.popFirst()
                failureCount -= 1
            }
            guard failureCount >= rules.failures else { return false }
            forgetFailures()
            state = .open(until: now + rules.pause)
            return true
        case .open: return false
        case .probing(let probe):
            if probe == invocation { state = .open(until: now + rules.pause) }
            return false
        }
    }

    /// The invocation will not reach the handler, or ended without showing anything: another may be the probe.
    mutating func withdrew(_ invocation: InvocationID, at now: Instant) {
        if state == .probing(invocation) { state = .open(until: now) }
    }

    private mutating func forgetFailures() {
        guard failureCount > 0 else { return }
        failures = Queue()
        failureCount = 0
    }
}

/// The breaker of a handler opened or closed; for the journal.
public struct BreakerChange: Hashable, Sendable {
    /// The handler's name.
    public var handler: String
    /// Whether it is open now.
    public var isOpen: Bool
    /// What it goes by.
    public var rules: BreakerRules

    /// The same for people, without its end.
    public var text: String {
        isOpen
            ? "\(handler) failed to answer \(rules.failures) times in a row: its breaker is open, and other routes have "
                + "what is its; tried again in \(rules.pause.milliseconds) ms"
            : "\(handler) answers again: its breaker is closed"
    }
}
