import PushModel

/// The thresholds of a handler's circuit breaker: `Breaker=` and `BreakerPause=` of its file.
public struct BreakerRules: Hashable, Sendable {
    /// The number of failures, without an answer between them, that open the breaker.
    public var failures: Int
    /// The span of time within which the failures count.
    public var window: Duration
    /// How long an open breaker keeps invocations from the handler.
    public var pause: Duration

    /// Joins the parts; the default pause is the shipped one.
    public init(failures: Int, window: Duration, pause: Duration = .seconds(10)) {
        self.failures = failures
        self.window = window
        self.pause = pause
    }
}

/// The circuit breaker of one handler: keeps invocations from a handler that does not answer.
///
/// A pure value without a timer: the first invocation after the pause goes to the handler as a probe.
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
    /// The times of the failures that count: since the handler's last answer and, as of the last failure, within the
    /// window.
    private var failures = Queue<Instant>()

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
    mutating func noteSent(_ invocation: InvocationID) {
        if case .open = state { state = .probing(invocation) }
    }

    /// Notes that the handler answered, with any answer.
    ///
    /// - Returns: whether the answer closes the breaker. An answer to an invocation sent before the breaker opened does
    ///   not.
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

    /// Notes that the handler did not answer: it missed the deadline, died or was unreachable.
    ///
    /// - Returns: whether the failure opens a closed breaker.
    mutating func failed(_ invocation: InvocationID, at now: Instant) -> Bool {
        switch state {
        case .closed:
            failures.append(now)
            while let first = failures.first, now - first > rules.window { _ = failures.popFirst() }
            guard failures.count >= rules.failures else { return false }
            forgetFailures()
            state = .open(until: now + rules.pause)
            return true
        case .open: return false
        case .probing(let probe):
            if probe == invocation { state = .open(until: now + rules.pause) }
            return false
        }
    }

    /// Notes that the invocation will not reach the handler, or ended without a sign of the handler's health. If it was
    /// the probe, the next invocation may be the probe.
    mutating func noteWithdrawn(_ invocation: InvocationID, at now: Instant) {
        if state == .probing(invocation) { state = .open(until: now) }
    }

    private mutating func forgetFailures() {
        if !failures.isEmpty { failures = Queue() }
    }
}

/// A journal entry: the breaker of a handler opened or closed.
public struct BreakerChange: Hashable, Sendable {
    /// The handler's name.
    public var handler: String
    /// Whether it is open now.
    public var isOpen: Bool
    /// The thresholds of the breaker.
    public var rules: BreakerRules

    /// The sentence for the journal, without a full stop.
    public var text: String {
        isOpen
            ? "\(handler) failed to answer \(rules.failures) times in a row: its breaker is open, its callbacks go to "
                + "other routes, and the next try is in \(rules.pause.milliseconds) ms"
            : "\(handler) answers again: its breaker is closed"
    }
}

/// The delay before a retry if the handler gave none.
public struct RetryRules: Hashable, Sendable {
    /// The longest delay after the first attempt; it doubles with each attempt.
    public var delay: Duration = .milliseconds(200)
    /// The upper limit of the delay.
    public var delayMax: Duration = .seconds(2)

    /// Returns the delay: between half of the back-off and all of it, so that invocations that failed together are not
    /// retried together. The invocation's id is the seed: the same input gives the same delays.
    ///
    /// - Parameter attempt: the number of the attempt that asked for a retry, from 1.
    func wait(afterAttempt attempt: Int, of id: InvocationID) -> Duration {
        let doublings = Swift.min(max(attempt, 1) - 1, 20)
        let longest = max(1, Swift.min(delay * (1 << doublings), max(delay, delayMax)).milliseconds)
        let half = longest / 2
        let seed = UInt64(bitPattern: id.seq.value) << 24 ^ UInt64(UInt32(bitPattern: Int32(id.n))) << 8
        let spread = UInt64(longest - half + 1)
        return .milliseconds(half + Int64(Self.mixed(seed ^ UInt64(clamping: attempt)) % spread))
    }

    /// SplitMix64, by Steele, Lea and Flood: adjacent inputs give unrelated outputs.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
