import PushModel

/// The rules of a handler's circuit breaker: `Breaker=` and `BreakerPause=` of its file.
public struct BreakerRules: Hashable, Sendable {
    /// The number of failures in a row, without an answer in between, that opens the breaker.
    public var failures: Int
    /// The time within which these failures must occur.
    public var window: Duration
    /// The time for which an open breaker keeps all invocations from the handler.
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
/// A pure value without a timer: the first invocation after the pause is admitted as the probe.
struct Breaker: Sendable {
    /// The state of the breaker.
    enum State: Hashable, Sendable {
        /// Admits every invocation. Goes to `open`.
        case closed
        /// Admits no invocation before this time. Goes to `probing` with the first invocation after it.
        case open(until: Instant)
        /// Admits only this invocation. Goes to `closed` or `open`.
        case probing(InvocationID)
    }

    let rules: BreakerRules
    private(set) var state = State.closed
    /// The times of the failures since the handler's last answer; fewer than open the breaker.
    private var failures = Queue<Instant>()
    private var failureCount = 0

    init(_ rules: BreakerRules) { self.rules = rules }

    /// Whether the breaker admits an invocation.
    func admits(_ invocation: InvocationID, at now: Instant) -> Bool {
        switch state {
        case .closed: true
        case .open(let until): now >= until
        case .probing(let probe): probe == invocation
        }
    }

    /// Notes that an admitted invocation goes to the handler; after the pause it is the probe.
    mutating func letThrough(_ invocation: InvocationID) {
        if case .open = state { state = .probing(invocation) }
    }

    /// Notes that the handler answered, whatever the answer.
    ///
    /// - Returns: whether this closes the breaker. An answer to an invocation from before it opened leaves it open.
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

    /// Notes that the handler failed to answer: it missed the deadline, died or could not be reached.
    ///
    /// - Returns: whether this opens the breaker from `closed`.
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

    /// Notes that the invocation will not reach the handler, or ended without an answer or a failure: the next one may
    /// be the probe.
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
    /// The rules of the breaker.
    public var rules: BreakerRules

    /// The change as a sentence for people, without the full stop.
    public var text: String {
        isOpen
            ? "\(handler) failed to answer \(rules.failures) times in a row: its breaker is open, and other routes have "
                + "what is its; tried again in \(rules.pause.milliseconds) ms"
            : "\(handler) answers again: its breaker is closed"
    }
}
