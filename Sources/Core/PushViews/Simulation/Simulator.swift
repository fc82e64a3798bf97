public import PushModel
public import PushRouter

/// Runs the router under virtual time: the daemon's own core without a daemon, a clock or a disk.
///
/// Input lines are requests with `at`; output lines are decisions in order. At one instant requests come before timers,
/// and timers before the answers of scripted handlers. The same input gives the same bytes.
public struct Simulator {
    private var router: Router
    /// The table with built-in handlers, for requests without a script.
    private var unscripted: RoutingTable
    /// The table with `exec` handlers, which take time.
    private var scripted: RoutingTable
    private let limits: JSONLimits
    /// Whether a scenario may set the mode.
    private let takesMode: Bool
    private var isFirstLine = true
    private var boot = UUID128(high: 0, low: 0)
    /// The end of the last crash.
    private var restartedAt: WallTime?

    /// The scripts of requests in flight.
    private var scripts: [SequenceNumber: Script] = [:]
    private var past = PastDeliveries()
    private var waitingInteractions = WaitingInteractions()
    /// The entries of custom data that wait for a session.
    private var waiting: [EntryNumber: CustomEntry] = [:]
    /// The attempts with a row, of invocations in flight.
    private var attempts: [InvocationID: [AttemptRecord]] = [:]
    /// The requests in flight as the ledger would have them.
    private var unfinished: [SequenceNumber: UnfinishedRequest] = [:]
    private var answers = Heap<ScriptedAnswer>()
    private var effects = Effects()
    /// The records in order, if `keepsRecords`.
    private(set) var records: [LedgerRecord] = []
    private let keepsRecords: Bool
    /// Whether the caller runs real handlers and reports their events.
    private let hasRealHandlers: Bool
    /// The caller's work on real handlers, in order: `start`, `terminate` and `stop`.
    private var work: [RouterEffect] = []
    private var output: [[UInt8]] = []
    private var clock: WallTime?
    /// The number of refused lines.
    public private(set) var errors = 0

    /// - Parameters:
    ///   - table: the configuration.
    ///   - tracker: the tracker with its limits.
    ///   - mode: the mode; it overrides a scenario's mode; `nil`: the scenario's mode, or the table's if it has none.
    ///   - limits: the limits of JSON in a line.
    public init(
        table: RoutingTable, tracker: Tracker, mode: DispatchMode? = nil, limits: JSONLimits = JSONLimits()
    ) {
        self.init(table: table, tracker: tracker, mode: mode, limits: limits, keepsRecords: false)
    }

    /// - Parameters:
    ///   - keepsRecords: whether to keep ``records``.
    ///   - hasRealHandlers: whether the caller runs the table's handlers with ``takeWork()``.
    init(
        table: RoutingTable, tracker: Tracker, mode: DispatchMode? = nil, limits: JSONLimits = JSONLimits(),
        keepsRecords: Bool, hasRealHandlers: Bool = false
    ) {
        self.hasRealHandlers = hasRealHandlers
        self.limits = limits
        self.keepsRecords = keepsRecords
        takesMode = mode == nil
        var table = table
        table.mode = mode ?? table.mode
        unscripted = hasRealHandlers ? table : table.replacingHandlers { _ in .journal }
        scripted = table.replacingHandlers { .exec(Handler.Command(arguments: ["/simulated/\($0)"])) }
        router = Router(boot: boot, table: unscripted, tracker: tracker)
    }

    /// Processes one line.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - number: its line number, for the error.
    /// - Returns: the output lines that the line and the time before it led to, without line feeds. A refused line
    ///   leads only to its error. Lines of a scenario that are no requests are skipped.
    public mutating func take(_ line: [UInt8], number: Int) -> [[UInt8]] {
        do throws(ProtocolError) {
            let root = try? JSONDocument(scanning: line, limits: limits).root
            if let crash = try Crash.read(root) {
                try self.crash(crash)
            } else if let root, root["op"] == nil, root["scenario"] != nil || root["expect"] != nil {
                if isFirstLine, let mode = try Scenario.mode(root) { set(mode) }
            } else {
                _ = try accept(Step(line, limits: limits))
            }
        } catch {
            refuse(error, number: number)
        }
        isFirstLine = false
        return takeOutput()
    }

    /// Sets the mode of a scenario, unless the caller fixed one.
    mutating func set(_ mode: DispatchMode) {
        guard takesMode else { return }
        (unscripted.mode, scripted.mode) = (mode, mode)
        router.configure(unscripted)
    }

    /// Discards the router as a crash of the daemon would, and recovers from its records as the next start does.
    ///
    /// - Throws: `ProtocolError` if the crash is earlier than the last line.
    mutating func crash(_ crash: Crash) throws(ProtocolError) {
        try checkOrder(crash.at, id: nil)
        run(before: crash.at)
        answers = Heap()
        (clock, restartedAt) = (crash.end, crash.end)
        if crash.reboots { boot.low += 1 }
        router = router.restarted(boot: boot)
        for var request in unfinished.values.sorted(by: { $0.accepted.seq < $1.accepted.seq }) {
            for row in request.invocations {
                for attempt in attempts[row.id] ?? [] {
                    request.attempts[row.id.n, default: AttemptHistory()].note(attempt)
                }
            }
            router.configure(scripts[request.accepted.seq] == nil ? unscripted : scripted)
            router.recover([request], at: moment(crash.end), effects: &effects)
            carryOut(at: crash.end)
        }
        router.endRecovery(at: moment(crash.end), effects: &effects)
        carryOut(at: crash.end)
    }

    private func checkOrder(_ at: WallTime, id: String?) throws(ProtocolError) {
        guard let clock, at < clock else { return }
        let isDown = restartedAt.map { at < $0 } ?? false
        throw ProtocolError(
            .invalidValue, field: "at",
            message: isDown
                ? "at is before the end of the crash: the daemon is down and takes no requests"
                : "at is earlier than that of the line before; put the lines in order",
            id: id)
    }

    /// Appends the error of a line to the output.
    mutating func refuse(_ error: ProtocolError, number: Int) {
        errors += 1
        output.append(SimulationLine.error(error, line: number))
    }

    /// Processes everything due before a request, then accepts the request.
    ///
    /// - Returns: its number.
    /// - Throws: `ProtocolError` if the request is refused; everything due before it has still happened.
    mutating func accept(_ step: Step) throws(ProtocolError) -> SequenceNumber {
        try checkOrder(step.at, id: step.request.id)
        if let name = step.script?.handlers.first(where: { scripted.handlers[$0] == nil }) {
            throw ProtocolError(
                .invalidValue, field: "script.handlers.\(name)",
                message: "there is no handler \(name); the handlers are \(scripted.handlers.keys.listed)",
                id: step.request.id)
        }
        run(before: step.at)
        clock = step.at
        handle(.reconfigured(step.script == nil ? unscripted : scripted), at: step.at)
        do {
            let nobody = Peer(uid: 0, gid: 0, pid: 0)
            let request = naming(step.request)
            let delivery = router.deliveryToRead(for: request).flatMap(past.delivery)
            let seq = try router.submit(
                request, from: nobody, past: delivery, at: moment(step.at), effects: &effects
            ).seq
            remember(request, about: delivery)
            if router.invocationsInFlight(of: seq) > 0 { scripts[seq] = step.script }
            carryOut(at: step.at)
            return seq
        } catch {
            throw ProtocolError(error, id: step.request.id)
        }
    }

    /// Returns the platform of a delivery.
    func platform(of seq: SequenceNumber) -> Platform? { past.platform(of: seq) }

    /// Returns the reason why a person cannot have done this, as far as the platform shows the notification; `nil` if it
    /// is possible, or if the tracker has the push and judges the act itself.
    func doubt(about interact: InteractRequest) -> String? {
        guard let delivery = past.delivery(of: interact.subject), let request = delivery.request,
            let decision = try? decide(
                Delivery(request, platform: delivery.accepted.platform), settings: unscripted.detection),
            decision.braze == nil
        else { return nil }
        let name = delivery.accepted.id.map { "\($0)" } ?? "delivery \(delivery.accepted.seq)"
        guard decision.mayBeShown else {
            let reason = decision.reasons.last.map { ": \($0)" } ?? ""
            return "\(name) was never displayed, so nobody can act on it\(reason)"
        }
        let platform = delivery.accepted.platform
        let act = UserAct(interact.kind, action: interact.action, text: interact.text)
        guard case .button = act, let payload = try? HandedBackPayload(request.payload, platform: platform) else {
            return nil
        }
        let reasons = decide(act, on: payload, of: decision.provider, platform: platform).reasons
        return reasons.contains(.noCategory) ? "\(name): \(InteractionReason.noCategory)" : nil
    }

    /// Returns the interaction with a delivery's number if its `message` is the `id` of a delivery's request. A message
    /// id takes precedence, because the daemon identifies notifications by it.
    private func naming(_ request: Request) -> Request {
        guard case .interact(var interact) = request.action, case .message(let name) = interact.subject,
            let seq = past.seq(id: name), !past.hasMessage(name),
            !router.tracksDelivery(ofMessage: name)
        else { return request }
        var request = request
        interact.subject = .delivery(seq)
        request.action = .interact(interact)
        return request
    }

    /// Stores the facts of the newly accepted request that the ledger would have.
    private mutating func remember(_ request: Request, about delivery: PastDelivery?) {
        var accepted: AcceptedRequest?
        var first: InvocationRecord?
        for (record, _) in effects.records {
            switch record {
            case .request(let request): accepted = request
            case .invocation(let row): first = first ?? row
            case .tracker(.held(let waiting)): waitingInteractions.add(request, waiting.interaction.cause)
            default: continue
            }
        }
        guard let accepted, let first else { return }
        if case .deliver(let deliver) = request.action { past.add(deliver, accepted, first) }
        guard router.invocationsInFlight(of: accepted.seq) > 0 else { return }
        unfinished[accepted.seq] = UnfinishedRequest(
            accepted: accepted, invocations: [], request: request, past: delivery)
    }

    /// Stores a row of a request in flight as the ledger would.
    private mutating func record(_ row: InvocationRecord) {
        guard var request = unfinished[row.id.seq] else { return }
        request.invocations.removeAll { $0.id == row.id }
        if row.result == nil {
            let place = request.invocations.firstIndex { $0.id > row.id } ?? request.invocations.endIndex
            request.invocations.insert(row, at: place)
        }
        unfinished[row.id.seq] = request
    }

    /// The number of requests without an outcome.
    var requestsInFlight: Int { router.requestsInFlight }

    /// Removes and returns the work on real handlers.
    mutating func takeWork() -> [RouterEffect] { exchange(&work, with: []) }

    /// Handles an event of a real handler, after everything due before it.
    mutating func report(_ event: RouterEvent, at time: WallTime) {
        let time = max(time, clock ?? time)
        run(through: time)
        handle(event, at: time)
    }

    /// The next due time; `nil`: none.
    var nextTimer: WallTime? { nextDue }

    /// The time up to which everything has happened; `nil` before the first line.
    var latest: WallTime? { clock }

    /// Processes everything due before a time.
    mutating func run(before time: WallTime) { advance { $0 < time } }

    /// Processes everything due up to and at a time; later requests must not be earlier than it.
    mutating func run(through time: WallTime) {
        advance { $0 <= time }
        clock = time
    }

    /// Processes everything that is pending.
    mutating func runToEnd() { advance { _ in true } }

    /// Removes and returns the output lines since the last call.
    mutating func takeOutput() -> [[UInt8]] {
        defer { output = [] }
        return output
    }

    /// Processes everything that is pending.
    ///
    /// - Returns: the output lines.
    public mutating func finish() -> [[UInt8]] {
        runToEnd()
        return takeOutput()
    }

    /// Processes everything due while `mayPass` is true of its time, in order.
    private mutating func advance(while mayPass: (WallTime) -> Bool) {
        while let next = nextDue, mayPass(next) {
            // Nothing happened while the daemon was down.
            let due = max(next, clock ?? next)
            clock = due
            // The router's timers come first: an answer at the instant of the deadline is too late.
            handle(.clock, at: due)
            while let answer = answers.first, answer.due <= due {
                _ = answers.popFirst()
                if answer.facts.isWorthTelling { handle(.observed(answer.invocation, answer.facts), at: due) }
                handle(.finished(answer.invocation, answer.answer), at: due)
            }
        }
    }

    private var nextDue: WallTime? {
        if router.hasWorkLeft, let clock { return clock }
        let timer = router.nextDue.map { WallTime(milliseconds: ($0.nanoseconds + 999_999) / 1_000_000) }
        guard let timer, let answer = answers.first?.due else { return timer ?? answers.first?.due }
        return min(timer, answer)
    }

    /// Prints the new state of an entry of custom data.
    private mutating func printEntry(_ record: CustomDataRecord, at time: WallTime) {
        switch record {
        case .entry(let entry, let state, let problem):
            if state == .pending { waiting[entry.number] = entry }
            output.append(SimulationLine.entry(entry, state, reason: problem?.text, by: entry.cause, at: time))
        // This record only says that the flush of its session continues.
        case .moved(let move) where move.state == .pending: return
        case .moved(let move):
            guard let entry = waiting.removeValue(forKey: move.number) else { return }
            output.append(
                SimulationLine.entry(
                    entry, move.state, reason: move.reason, by: move.by ?? entry.cause, at: time))
        case .attribute, .sending: return
        }
    }

    /// Prints the verdict on an interaction that waited for its push.
    private mutating func printInteraction(
        _ cause: SequenceNumber, _ verdict: Interaction.Verdict, _ delivery: SequenceNumber?, at time: WallTime
    ) {
        guard let end = waitingInteractions.end(cause, verdict, delivery: delivery, past: past) else { return }
        output.append(SimulationLine.interaction(end, at: time))
    }

    /// Prints the verdict `unmatched` for interactions that still wait: no more requests will come.
    mutating func endWaitingInteractions() {
        let time = clock ?? WallTime(milliseconds: 0)
        for cause in waitingInteractions.causes { printInteraction(cause, .unmatched, nil, at: time) }
    }

    private mutating func handle(_ event: RouterEvent, at time: WallTime) {
        router.handle(event, at: moment(time), effects: &effects)
        carryOut(at: time)
    }

    /// Carries out the effects as the daemon does, as far as they are visible outside.
    private mutating func carryOut(at time: WallTime) {
        // The lines of the entries report the rejections.
        _ = effects.takeRejections()
        while true {
            let decided = effects.takeOutput()
            guard !decided.isEmpty else { return }
            for item in decided {
                switch item {
                case .record(let record): write(record, at: time)
                case .effect(let effect): carryOut(effect, at: time)
                }
            }
        }
    }

    private mutating func write(_ record: LedgerRecord, at time: WallTime) {
        if keepsRecords { records.append(record) }
        switch record {
        case .event(let event): output.append(SimulationLine.analytics(event, at: time))
        case .customData(let record): printEntry(record, at: time)
        case .tracker(.interaction(let row)): printInteraction(row.cause, row.verdict, row.delivery, at: time)
        case .invocation(let row), .update(let row): self.record(row)
        case .attempt(let attempt): attempts[attempt.id, default: []].append(attempt)
        default: break
        }
    }

    private mutating func carryOut(_ effect: RouterEffect, at time: WallTime) {
        switch effect {
        case .terminate where hasRealHandlers, .stop where hasRealHandlers, .start where hasRealHandlers,
            .load where hasRealHandlers:
            queue(effect)
        // The router ignores the answer of a stopped handler.
        case .terminate, .stop, .publishEnded: break
        case .decided(let end):
            let attempts = attempts.removeValue(forKey: end.invocation.id) ?? []
            output.append(SimulationLine.invocation(end, attempts, at: time))
            let seq = end.invocation.id.seq
            if router.invocationsInFlight(of: seq) == 0 { (scripts[seq], unfinished[seq]) = (nil, nil) }
        case .breaker(let change): output.append(SimulationLine.breaker(change, at: time))
        // A script needs no payload.
        case .start(let run), .load(let run): start(run, at: time)
        }
    }

    /// Queues an effect for the caller that runs real handlers; completes a run without a payload.
    private mutating func queue(_ effect: RouterEffect) {
        guard case .load(var run) = effect else { return work.append(effect) }
        if let request = unfinished[run.invocation.id.seq]?.request {
            run.complete(with: request, past: unfinished[run.invocation.id.seq]?.past)
        }
        work.append(.start(run))
    }

    private mutating func start(_ run: HandlerRun, at time: WallTime) {
        let id = run.invocation.id
        guard let script = scripts[id.seq]?[run.handler.name] else {
            preconditionFailure("a handler without a script took time")
        }
        router.handle(.started(id), at: moment(time), effects: &effects)
        let due = WallTime(milliseconds: time.milliseconds + script.takes.milliseconds)
        let answer = HandlerAnswer(exitStatus: script.exit, content: script.reply, errors: script.facts.output)
        answers.insert(.init(due: due, invocation: id, answer: answer, facts: script.facts))
    }

    /// Virtual time has one clock: the monotonic time equals the wall time.
    private func moment(_ time: WallTime) -> Moment {
        Moment(monotonic: Instant(nanoseconds: 0) + .milliseconds(time.milliseconds), wall: time)
    }
}

extension RoutingTable {
    /// Returns a table with the same routes and handler names, but other kinds of handlers.
    fileprivate func replacingHandlers(_ kind: (String) -> Handler.Kind) -> RoutingTable {
        var table = self
        for name in handlers.keys { table.handlers[name]?.kind = kind(name) }
        return table
    }
}
