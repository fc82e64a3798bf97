public import PushModel

extension Router {
    /// Gives an invocation its one outcome and removes it from the invocations in flight.
    mutating func conclude(
        _ invocation: Invocation, _ outcome: Outcome, because reason: RouterReason? = nil, remarks: [String] = [],
        completion: Completion? = nil, at now: Moment, _ effects: inout Effects
    ) {
        var invocation = invocation
        let id = invocation.record.id
        let total = age(of: invocation.request, at: now)
        // The total is too short if the wall clock was set back between two boots: no part may be longer than it.
        let ran = invocation.attempts.first.map { min(max(.zero, now.monotonic - $0), total) }
        // The start time in an earlier run of the daemon is not stored: the whole time counts as running.
        let queue: Duration
        if let ran {
            queue = total - ran
        } else if reason?.isCutOff == true {
            queue = .zero
        } else {
            queue = total
        }
        let exec = total - queue
        let completions = invocation.completions
        var remarks = remarks
        if let remark = completions.remark(onSilenceOf: invocation.handler?.value.name, outcome: outcome) {
            remarks.append(remark)
        }
        if let remark = invocation.attempts.facts.remark { remarks.append(remark) }
        if let names = invocation.bypassed.declined.text(and: ", and") { remarks.append(names) }
        if let names = invocation.bypassed.passedOver.text(and: " and") {
            remarks.append("not asked, because the breaker is open: " + names)
        }
        let why =
            reason?.ofOutcome(remarks: remarks)
            ?? (remarks.isEmpty ? nil : OutcomeReason(.handledWithRemarks, nil, remarks: remarks))
        let result = Indirect(
            InvocationResult(
                outcome: outcome, reason: why?.text, reasonCode: why?.code, queue: queue, exec: exec, total: total,
                completion: completion ?? completions.byHost(outcome),
                waitedFor: invocation.waitedFor, ahead: invocation.ahead.map(Int.init), decidedAt: now.wall))
        invocation.record.sharedResult = result
        figures.count(invocation.record, result.value, hasRun: invocation.attempts.first != nil)
        invocation.save(&effects)
        if invocation.request.mode == .relay, outcome.isDeadLetter {
            effects.record(.deadLetter(DeadLetter(id: id, at: now.wall, byteCount: invocation.byteCount)))
        }
        effects.append(
            .decided(InvocationEnd(request: invocation.sharedRequest, invocation: invocation.record, result: result)))
        if invocation.stage == .ready { places.leaveQueue(invocation, invocations, &schedule) }
        if let handler = invocation.handler { places.withdraw(id, from: handler.value, at: now.monotonic) }
        invocations.remove(id)
        usage.ended(id, of: invocation.request.peer.account)
        if invocation.isCounted { usage.letsGo(payloadOf: invocation.memorySize) }
        if let lane = invocation.lane { advance(lane, past: invocation, at: now) }
    }

    /// Gives an invocation that was never in flight its outcome, which is known on acceptance.
    mutating func concludeAtOnce(
        _ row: InvocationRecord, of arrival: Arrival, _ outcome: Outcome, because reason: OutcomeReason? = nil,
        completion: Completion? = nil, at now: Moment, _ effects: inout Effects
    ) {
        var row = row
        let result = Indirect(
            InvocationResult(
                outcome: outcome, reason: reason?.text, reasonCode: reason?.code, queue: .zero, exec: .zero,
                total: .zero,
                completion: completion ?? arrival.completions(row.callback, table).byHost(outcome), decidedAt: now.wall)
        )
        row.sharedResult = result
        figures.count(row, result.value, hasRun: false)
        effects.record(row, isNew: true)
        effects.appendEnd(InvocationEnd(request: arrival.sharedRequest, invocation: row, result: result), outcome)
    }

    /// Hands a Braze payload to the tracker. It takes no time: the SDK's own call only enqueues.
    mutating func handOver(_ invocation: Invocation, at now: Moment, _ effects: inout Effects) {
        if let receipt = invocation.receipt { take(receipt, of: invocation.request, at: now, &effects) }
        let completion = invocation.completions.byTracker()
        conclude(invocation, .handedToTracker, completion: completion, at: now, &effects)
    }

    /// Reports a Braze payload that reached the device to the tracker.
    mutating func take(
        _ receipt: Receipt, of accepted: AcceptedRequest, at now: Moment, _ effects: inout Effects
    ) {
        let delivery = TrackedDelivery(
            seq: accepted.seq, platform: accepted.platform, app: accepted.app, device: accepted.device,
            externalID: accepted.externalID, messageID: accepted.messageID, hasOwnID: receipt.hasOwnID,
            uniqueID: receipt.uniqueID, campaignID: receipt.campaignID, isDisplayed: receipt.isDisplayed,
            inForeground: receipt.inForeground, digest: receipt.digest, buttons: receipt.buttons,
            receivedAt: receipt.at)
        memory.track(at: now, &effects) { tracker, output in tracker.receive(delivery, now: now.wall, into: &output) }
    }

    /// Returns the time since the acceptance of a request. Across a boot it uses the wall clock, because the monotonic
    /// clock restarted; the wall clock may have been set since.
    func age(of accepted: AcceptedRequest, at now: Moment) -> Duration {
        if accepted.boot == boot { return now.monotonic - accepted.acceptedAt.monotonic }
        return .milliseconds(max(0, now.wall.milliseconds - accepted.acceptedAt.wall.milliseconds))
    }
}

extension Invocation {
    /// Writes the row if the ledger's version differs.
    mutating func save(_ effects: inout Effects) {
        let fields = ChangingFields(record)
        guard stored != fields else { return }
        let isNew = stored == nil
        stored = fields
        effects.record(record, isNew: isNew)
    }
}

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
        if answer != .handled { figures.count(answer, of: handler.value.name) }
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

/// Decides which party completes a callback, and with which values: exactly once on every path.
///
/// Source: the provider's own dispatcher and the documentation of braze-swift-sdk. The owner of
/// `didReceiveRemoteNotification` and `didReceiveResponse` completes them. Braze's foreground handler never completes
/// `willPresent`, so the app always does. Apple requires exactly one call of each completion handler: a second call
/// crashes the app, and a missing call costs the app its background time.
struct Completions {
    /// The callback to complete.
    let callback: Callback
    /// The defaults for a callback that no owner completes.
    let rules: CompletionRules
    /// The device's version of iOS in the delivery.
    let osVersion: OSVersion?

    init(_ callback: Callback, rules: CompletionRules = CompletionRules(), osVersion: OSVersion? = nil) {
        self.callback = callback
        self.rules = rules
        self.osVersion = osVersion
    }

    /// Returns the completion after the tracker took the payload.
    func byTracker() -> Completion? {
        switch callback {
        case .none: nil
        case .willPresent: Completion(by: .default, result: .noData, options: presentation)
        case .didReceiveRemoteNotification: Completion(by: .tracker, result: rules.brazeFetchResult)
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didReceiveResponse, .serviceExtension, .didRegister, .push, .notificationclick,
            .notificationclose:
            Completion(by: .tracker, result: .noData)
        }
    }

    /// Returns the completion after a handler answered. The first answer counts, with the options in it that iOS knows.
    func byHandler(_ reply: HandlerAnswer.Content) -> Completion? {
        guard callback != .none else { return nil }
        let spoke = reply.result != nil || reply.options != nil
        return Completion(
            by: spoke ? .handler : .default, times: max(1, reply.times), result: reply.result ?? .noData,
            options: callback == .willPresent ? reply.options.map(Self.known) ?? presentation : [])
    }

    /// Returns the completion by the app if no owner answered. At the deadline the app passes `failed` to iOS.
    func byHost(_ outcome: Outcome) -> Completion? {
        guard callback != .none else { return nil }
        let failed = callback == .didReceiveRemoteNotification && outcome.isMissed
        return Completion(
            by: .default, result: failed ? .failed : .noData, options: callback == .willPresent ? presentation : [])
    }

    /// Returns a remark for people on a handler's answer; `nil` if the answer is in order.
    func remark(on reply: HandlerAnswer.Content, of handler: String) -> String? {
        var remarks = reply.remarks
        if reply.times > 1 {
            let crash = "; in an app the second call of the completion handler crashes"
            let first = "only the first answer counts" + (callback.hasCompletionHandler ? crash : "")
            remarks.append("\(handler) answered \(reply.times) times; \(first)")
        }
        if callback == .willPresent {
            let unknown = (reply.options ?? []).filter { PresentationOption(rawValue: $0) == nil }
            if !unknown.isEmpty {
                let names = PresentationOption.allCases.map(\.rawValue).joined(separator: ", ")
                remarks.append("options: \(unknown.joined(separator: ", ")) ignored; iOS knows \(names)")
            }
        }
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }

    /// Returns a remark for people on a handler that missed its deadline; `nil` if the callback has no completion
    /// handler.
    func remark(onSilenceOf handler: String?, outcome: Outcome) -> String? {
        guard outcome.isMissed, callback.hasCompletionHandler else { return nil }
        switch callback {
        case .serviceExtension:
            return "the service extension was not done in time: iOS shows the notification with its original content"
        default:
            let result = callback == .didReceiveRemoteNotification ? " with failed" : ""
            let who = handler.map { "\($0) never" } ?? "no handler"
            return "\(who) answered: the app completes the callback\(result)"
        }
    }

    private var presentation: [String] { rules.presentation(on: osVersion).map(\.rawValue) }

    /// Returns the options that iOS knows, each once.
    private static func known(_ options: [String]) -> [String] {
        var known: [String] = []
        for option in options where PresentationOption(rawValue: option) != nil && !known.contains(option) {
            known.append(option)
        }
        return known
    }
}

extension Callback {
    /// Whether the callback has a completion handler that iOS waits for.
    public var hasCompletionHandler: Bool {
        switch self {
        case .didReceiveRemoteNotification, .willPresent, .didReceiveResponse, .serviceExtension: true
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered, .didRegister, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}

/// The defaults for completing a callback when neither Braze's public contract nor a handler states the completion.
public struct CompletionRules: Hashable, Sendable {
    /// The result that Braze's SDK passes to the completion handler of `didReceiveRemoteNotification`. The SDK's code
    /// is not public.
    public var brazeFetchResult = FetchResult.noData
    /// The options that the app returns from `willPresent` if the owner gives none; `nil`: the options of Braze's
    /// example for the version of iOS.
    public var presentationOptions: [PresentationOption]?

    /// Returns the options that the app returns from `willPresent` if the owner gives none.
    ///
    /// - Parameter osVersion: the device's version of iOS; `nil` counts as 14 or later.
    func presentation(on osVersion: OSVersion?) -> [PresentationOption] {
        if let presentationOptions { return presentationOptions }
        let hasBanners = osVersion.map { $0.major >= 14 } ?? true
        return hasBanners ? [.banner, .list, .sound] : [.alert, .sound]
    }

    /// Whether the user sees a Braze payload. In the foreground the options of `willPresent` decide (tracker, T9).
    ///
    /// - Parameters:
    ///   - decision: the platform's treatment of the payload.
    ///   - osVersion: the device's version of iOS in the request.
    func displays(_ decision: Decision, on osVersion: String?) -> Bool {
        guard decision.displayed, decision.callbacks.contains(.willPresent) else { return decision.displayed }
        return presentation(on: osVersion.flatMap(OSVersion.init)).contains { $0.isVisible }
    }
}

extension PresentationOption {
    /// Whether the option makes the notification visible, and so tappable later. A badge or a sound alone does neither.
    fileprivate var isVisible: Bool {
        switch self {
        case .alert, .banner, .list: true
        case .badge, .sound: false
        }
    }
}
