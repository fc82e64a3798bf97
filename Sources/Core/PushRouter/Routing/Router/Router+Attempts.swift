public import PushModel

/// The attempts of an invocation so far, as far as the router needs them.
struct Attempts: Sendable {
    /// The number of attempts, those of earlier runs of the daemon included.
    private(set) var count = 0
    /// The number of attempts by the current handler.
    private(set) var countOfHandler = 0
    /// The time at which the router asked for the last start.
    private(set) var asked: Instant?
    /// The time at which the last attempt began to run; `nil` before that.
    var started: Instant? { hasStarted ? latest : nil }
    /// The time at which the first attempt of all began to run.
    private(set) var first: Instant?
    /// The time at which the latest attempt that ran began to run.
    private(set) var latest: Instant?
    private var hasStarted = false
    /// The value of `latest` before the last attempt began to run.
    private var latestBefore: Instant?
    /// Facts about the last run beside its answer.
    var facts = RunFacts()

    /// The reason that the last ended attempt gave for a retry; `nil`: none.
    var lastReason: String?

    init() {}

    /// Continues the attempts of an earlier run of the daemon.
    ///
    /// - Parameter acceptance: the time of acceptance, on the clock of this boot.
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

    /// Corrects ``start(at:)``: the attempt did not run after all.
    mutating func withdrawStart() {
        guard hasStarted else { return }
        hasStarted = false
        latest = latestBefore
        if latest == nil { first = nil }
    }

    /// Resets the counts of the handler: the next attempts are another handler's.
    mutating func advanceToNextHandler() {
        countOfHandler = 0
        lastReason = nil
    }
}

/// Facts about a run beside its answer.
public struct RunFacts: Hashable, Sendable {
    /// The exit status of a program, or the status code of an HTTP response.
    public var status: Int?
    /// The standard error of the run; `nil`: empty.
    public var output: ErrorOutput?

    /// The act of the instance in place of an answer, for people; `nil`: unknown.
    var insteadOfAnswer: String?
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

    /// A remark on the run for people, independent of the outcome.
    var remark: String? { hasLeftProcesses ? "the daemon killed processes that the handler left behind" : nil }

    /// Whether the facts add to the answer; if so, the runner reports them to the router.
    public var isWorthTelling: Bool { output != nil || hasLeftProcesses || status.map { $0 != 0 } ?? false }
}

extension Router {
    /// Writes the row of an ended attempt, unless the row of the invocation already says everything.
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

    /// Schedules another attempt of an invocation; concludes it as failed if the deadline comes first or the retries
    /// are used up.
    ///
    /// - Parameters:
    ///   - wished: the delay that the handler asked for; `nil`: none. Zero counts as none, because it would retry as
    ///     fast as the handler answers.
    ///   - said: the handler's reason; `nil`: none.
    ///   - failure: the reason why the handler could not be reached; `nil`: the handler itself asked for the retry.
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
                // The handler is broken, not late: the router begins no attempt that the deadline would cut off.
                failure.map { .handlerNotStarted($0) } ?? .noTimeForRetry(attempts: attempts.count, last: said)
            }
        endAttempt(
            &invocation, failure == nil ? .retry : .notStarted, retryAfter: reason == nil ? wait : nil,
            reason: failure ?? said, at: now, &effects)
        if reason != nil, failure == nil { note(answered: false, of: invocation, at: now, &effects) }
        if let reason { return conclude(invocation, .failed, because: reason, at: now, &effects) }
        invocation.attempts.lastReason = failure ?? said
        invocation.stage = .pausing
        // The attempt has ended: if the daemon stops or crashes now, it interrupts nothing.
        invocation.record.started = false
        invocations.put(invocation)
        schedule.touch(id)
        schedule.add(DueTimer(due: now.monotonic + wait, purpose: .retry, invocation: id))
    }
}
