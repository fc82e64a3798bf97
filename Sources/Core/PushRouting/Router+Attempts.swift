public import PushModel

/// What handlers made of an invocation so far, as far as the router has to know of it.
struct Attempts: Sendable {
    /// How many attempts there were, those of earlier runs of the daemon among them.
    private(set) var count = 0
    /// How many of them the handler has had that it has now.
    private(set) var countOfHandler = 0
    /// When the start of the last one was asked for.
    private(set) var asked: Instant?
    /// When it began to run; `nil` before it does.
    var started: Instant? { hasStarted ? latest : nil }
    /// When the first one of all began to run.
    private(set) var first: Instant?
    /// When the latest one that did began to run.
    private(set) var latest: Instant?
    private var hasStarted = false
    /// What `latest` was before it began.
    private var latestBefore: Instant?
    /// What was seen of it from outside.
    var facts = RunFacts()

    /// Why the last one that ended wants another; `nil`: it did not say.
    var lastReason: String?

    init() {}

    /// Goes on with those of an earlier run of the daemon.
    ///
    /// - Parameter acceptance: when the request was accepted, by the clock of this boot.
    init(_ history: AttemptHistory, since acceptance: Instant) {
        (count, countOfHandler, lastReason) = (history.count, history.countOfHandler, history.lastReason)
        first = history.firstStarted.map { acceptance + $0 }
        latest = history.lastStarted.map { acceptance + $0 }
    }

    /// Another one begins.
    mutating func begin(at now: Instant) {
        count += 1
        countOfHandler += 1
        asked = now
        hasStarted = false
        facts = RunFacts()
    }

    /// It runs.
    mutating func start(at now: Instant) {
        if !hasStarted { latestBefore = latest }
        hasStarted = true
        latest = now
        if first == nil { first = now }
    }

    /// It did not run, though it was thought to.
    mutating func withdrawStart() {
        guard hasStarted else { return }
        hasStarted = false
        latest = latestBefore
        if latest == nil { first = nil }
    }

    /// The next ones are those of another handler.
    mutating func goOnToNextHandler() {
        countOfHandler = 0
        lastReason = nil
    }
}

/// What is seen of a run from outside, beside its answer.
public struct RunFacts: Hashable, Sendable {
    /// The exit status of a program, or the status of an HTTP answer.
    public var status: Int?
    /// What it wrote to standard error; `nil`: nothing.
    public var output: ErrorOutput?

    /// The act of its instance instead of an answer, for people; `nil`: none is known.
    public var insteadOfAnswer: String?
    /// Whether processes that the program had left behind were killed at its end.
    public var hasLeftProcesses: Bool

    /// Joins the parts; an output without anything in it is none.
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

    /// Whether the answer does not say all of it: then the router is told.
    public var isWorthTelling: Bool { output != nil || hasLeftProcesses || status.map { $0 != 0 } ?? false }
}

extension Router {
    /// Writes how an attempt ended, unless the row of the invocation says all of it.
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

    /// Has an invocation wait until its handler is tried again; where that would be at its deadline or later it has failed.
    ///
    /// - Parameters:
    ///   - wished: how long the handler wants to be left alone; `nil`: it did not say. Zero is taken for that, or the
    ///     handler would be tried as fast as it answers.
    ///   - said: why the handler wants it; `nil`: it did not say.
    ///   - failure: why it could not be asked; `nil`: it asked for this itself.
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
                // It is broken, not late: no attempt begins that cannot end.
                failure.map { .handlerNotStarted($0) } ?? .noTimeForRetry(attempts: attempts.count, last: said)
            }
        endAttempt(
            &invocation, failure == nil ? .retry : .notStarted, retryAfter: reason == nil ? wait : nil,
            reason: failure ?? said, at: now, &effects)
        if reason != nil, failure == nil { note(answered: false, of: invocation, at: now, &effects) }
        if let reason { return conclude(invocation, .failed, because: reason, at: now, &effects) }
        invocation.attempts.lastReason = failure ?? said
        invocation.stage = .pausing
        // It has ended: a daemon that stops or dies now has not broken it off.
        invocation.record.started = false
        invocations.put(invocation)
        schedule.touch(id)
        schedule.add(DueTimer(due: now.monotonic + wait, purpose: .retry, invocation: id))
    }
}
