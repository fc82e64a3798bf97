public import PushModel

/// The attempts of an invocation so far, as far as the router needs them.
struct Attempts: Sendable {
    /// The number of attempts, earlier runs of the daemon included.
    private(set) var count = 0
    /// The number of attempts of the current handler.
    private(set) var countOfHandler = 0
    /// The time at which the router asked for the last start.
    private(set) var asked: Instant?
    /// The time at which the last attempt began to run; `nil` before.
    var started: Instant? { hasStarted ? latest : nil }
    /// The time at which the first attempt of all began to run.
    private(set) var first: Instant?
    /// The time at which an attempt last began to run.
    private(set) var latest: Instant?
    private var hasStarted = false
    /// The value of `latest` before the last attempt began to run.
    private var latestBefore: Instant?
    /// The facts of its run, seen from outside.
    var facts = RunFacts()

    /// The reason of the last attempt that asked for another; `nil`: it gave none.
    var lastReason: String?

    init() {}

    /// Continues the attempts of an earlier run of the daemon.
    ///
    /// - Parameter acceptance: the time of acceptance by the clock of this boot.
    init(_ history: AttemptHistory, since acceptance: Instant) {
        (count, countOfHandler, lastReason) = (history.count, history.countOfHandler, history.lastReason)
        first = history.firstStarted.map { acceptance + $0 }
        latest = history.lastStarted.map { acceptance + $0 }
    }

    /// Begins another attempt.
    mutating func begin(at now: Instant) {
        count += 1
        countOfHandler += 1
        asked = now
        hasStarted = false
        facts = RunFacts()
    }

    /// Notes that the attempt runs.
    mutating func start(at now: Instant) {
        if !hasStarted { latestBefore = latest }
        hasStarted = true
        latest = now
        if first == nil { first = now }
    }

    /// Takes back ``start(at:)``: the attempt did not run after all.
    mutating func withdrawStart() {
        guard hasStarted else { return }
        hasStarted = false
        latest = latestBefore
        if latest == nil { first = nil }
    }

    /// Resets the fields of the handler for the next one.
    mutating func goOnToNextHandler() {
        countOfHandler = 0
        lastReason = nil
    }
}

/// The facts of a run, seen from outside, beside its answer.
public struct RunFacts: Hashable, Sendable {
    /// The exit status of a program, or the status of an HTTP answer.
    public var status: Int?
    /// Its standard error; `nil`: empty.
    public var output: ErrorOutput?

    /// The instance's act in place of an answer, for people; `nil`: none is known.
    public var insteadOfAnswer: String?
    /// Whether the daemon killed processes that the program left behind at its end.
    public var hasLeftProcesses: Bool

    /// Joins the parts; an empty output becomes `nil`.
    public init(
        status: Int? = nil, output: ErrorOutput? = nil, insteadOfAnswer: String? = nil,
        hasLeftProcesses: Bool = false
    ) {
        self.status = status
        self.output = output?.isEmpty == true ? nil : output
        self.insteadOfAnswer = insteadOfAnswer
        self.hasLeftProcesses = hasLeftProcesses
    }

    /// A remark on the run for people, whatever its outcome.
    var remark: String? { hasLeftProcesses ? "processes that it had left behind were killed at its end" : nil }

    /// Whether the run has facts beyond its answer: the runner then reports them to the router.
    public var isWorthTelling: Bool { output != nil || hasLeftProcesses || status.map { $0 != 0 } ?? false }
}

extension Router {
    /// Writes the end of an attempt, unless the row of the invocation has all of it.
    mutating func endAttempt(
        _ invocation: inout Invocation, _ answer: AttemptRecord.Answer, signal: Int32? = nil,
        retryAfter: Duration? = nil, reason: String? = nil, at now: Moment, _ effects: inout Effects
    ) {
        let attempts = invocation.attempts
        guard let asked = attempts.asked, let handler = invocation.handler else { return }
        if answer == .notStarted { figures.countStartFailure(of: handler.value.name) }
        if answer == .handled, attempts.count == 1, attempts.facts.output == nil { return }
        let age = age(of: invocation.request, at: now)
        effects.record(
            .attempt(
                AttemptRecord(
                    id: invocation.record.id, route: invocation.record.route, handler: handler.value.name,
                    asked: age - (now.monotonic - asked),
                    started: attempts.started.map { age - (now.monotonic - $0) }, ended: age, answer: answer,
                    status: attempts.facts.status, signal: signal.map(Int.init), retryAfter: retryAfter,
                    reason: reason, output: attempts.facts.output, number: attempts.count,
                    numberOfHandler: attempts.countOfHandler)))
    }

    /// Makes an invocation wait for another attempt; without time for it before the deadline the invocation fails.
    ///
    /// - Parameters:
    ///   - wished: the wait that the handler asks for; `nil`: it named none. Zero counts as `nil`: otherwise the
    ///     handler would be retried as fast as it answers.
    ///   - said: the handler's reason; `nil`: it gave none.
    ///   - failure: the reason why the daemon could not start or reach it; `nil`: the handler asked for the retry.
    mutating func retry(
        _ invocation: inout Invocation, after wished: Duration?, because said: String? = nil,
        notAsked failure: String? = nil, at now: Moment, _ effects: inout Effects
    ) {
        guard let deadline = invocation.record.deadline else { preconditionFailure("tried before it had a deadline") }
        let (attempts, id) = (invocation.attempts, invocation.record.id)
        let rules = invocation.table.retry
        let asked = wished == .zero ? nil : wished
        let wait = asked ?? rules.wait(afterAttempt: attempts.countOfHandler, of: id)
        let isInTime = now.monotonic + wait < deadline
        let reason: RouterReason? =
            if let most = invocation.handler?.value.retries, attempts.countOfHandler > most {
                failure.map { .handlerNotStarted($0) } ?? .retriesUsedUp(most, last: said)
            } else if isInTime {
                nil
            } else {
                // The outcome is `failed`, not `timed_out`: no attempt begins without time to end.
                failure.map { .handlerNotStarted($0) } ?? .noTimeForRetry(attempts: attempts.count, last: said)
            }
        endAttempt(
            &invocation, failure == nil ? .retry : .notStarted, retryAfter: reason == nil ? wait : nil,
            reason: failure ?? said, at: now, &effects)
        if reason != nil, failure == nil { note(answered: false, of: invocation, at: now, &effects) }
        if let reason { return conclude(invocation, .failed, because: reason, at: now, &effects) }
        invocation.attempts.lastReason = failure ?? said
        invocation.stage = .pausing
        // The attempt has ended: a daemon that stops or dies now interrupts nothing.
        invocation.record.started = false
        invocations.put(invocation)
        schedule.touch(id)
        schedule.add(DueTimer(due: now.monotonic + wait, purpose: .retry, invocation: id))
    }
}
