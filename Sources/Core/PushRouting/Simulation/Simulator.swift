public import PushModel
public import PushTracking

/// Runs the router under virtual time: the daemon's own core, without a daemon, a clock or a disk.
///
/// Lines go in, each a request with its `at`; lines come out in the order in which things are decided. At one instant
/// requests come before timers, and timers before the answers of scripted handlers. The same input gives the same bytes.
public struct Simulator {
    private var router: Router
    /// The routes, with handlers that answer at once: for requests without a script.
    private let unscripted: RoutingTable
    /// The routes, with handlers that take time.
    private let scripted: RoutingTable
    private let limits: JSONLimits

    /// Of the requests in flight that have one.
    private var scripts: [SequenceNumber: Script] = [:]
    private var past = PastDeliveries()
    /// The entries of custom data that wait for a session.
    private var waiting: [EntryNumber: CustomEntry] = [:]
    private var answers = Heap<ScriptedAnswer>()
    private var effects = Effects()
    private var output: [[UInt8]] = []
    private var clock: WallTime?
    /// How many lines were not accepted.
    public private(set) var errors = 0

    /// - Parameters:
    ///   - table: what to decide by.
    ///   - tracker: how much the tracker remembers.
    ///   - limits: what the scan accepts.
    public init(table: RoutingTable, tracker: Tracker, limits: JSONLimits = JSONLimits()) {
        self.limits = limits
        unscripted = table.replacingHandlers { _ in .journal }
        scripted = table.replacingHandlers { .exec(Handler.Command(arguments: ["/simulated/\($0)"])) }
        // There is one boot, and no state directory.
        let boot = UUID128(high: 0, low: 0)
        router = Router(boot: boot, table: unscripted, tracker: tracker)
    }

    /// Takes in one line.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - number: its number, for the error.
    /// - Returns: the lines that it and the time until it led to, without line feeds. A line that is not accepted leads
    ///   to its error and nothing else. What a scenario has beside requests is passed over.
    public mutating func take(_ line: [UInt8], number: Int) -> [[UInt8]] {
        do {
            _ = try accept(Step(line, limits: limits))
        } catch {
            if !Scenario.isForTestOnly(line, limits: limits) { refuse(error, number: number) }
        }
        return takeOutput()
    }

    /// Puts the error of a line among the output.
    mutating func refuse(_ error: ProtocolError, number: Int) {
        errors += 1
        output.append(SimulationLine.error(error, line: number))
    }

    /// Lets happen what comes before a request, then takes it in.
    ///
    /// - Returns: its number.
    /// - Throws: why it is not accepted; what came before it has happened all the same.
    mutating func accept(_ step: Step) throws(ProtocolError) -> SequenceNumber {
        if let clock, step.at < clock {
            throw ProtocolError(
                .invalidValue, field: "at",
                message: "at is earlier than that of the line before; put the lines in order",
                id: step.request.id)
        }
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
            let seq = try router.submit(
                step.request, from: nobody, past: pastDelivery(of: step.request), at: moment(step.at),
                effects: &effects
            ).seq
            remember(step.request)
            if router.invocationsInFlight(of: seq) > 0 { scripts[seq] = step.script }
            carryOut(at: step.at)
            return seq
        } catch {
            throw ProtocolError(error, id: step.request.id)
        }
    }

    private func pastDelivery(of request: Request) -> PastDelivery? {
        if case .interact(let interact) = request.action { past.delivery(of: interact) } else { nil }
    }

    /// Keeps of the delivery that was just accepted what the ledger would.
    private mutating func remember(_ request: Request) {
        guard case .deliver(let deliver) = request.action else { return }
        var accepted: AcceptedRequest?
        for case .record(let record) in effects.list {
            switch record {
            case .request(let request): accepted = request
            case .invocation(let row):
                guard let accepted else { preconditionFailure("an invocation was recorded before its request") }
                return past.add(deliver, accepted, provider: row.provider)
            default: continue
            }
        }
    }

    /// How many requests wait for an outcome.
    var requestsInFlight: Int { router.requestsInFlight }

    /// Lets everything happen that is due before a time.
    mutating func run(before time: WallTime) { advance { $0 < time } }

    /// Lets everything happen that is due up to a time and at it; no request comes before it any more.
    mutating func run(through time: WallTime) {
        advance { $0 <= time }
        clock = time
    }

    /// Lets everything happen that is pending.
    mutating func runToEnd() { advance { _ in true } }

    /// The lines that came since this was called last.
    mutating func takeOutput() -> [[UInt8]] {
        defer { output = [] }
        return output
    }

    /// Runs the clock on until nothing is pending.
    ///
    /// - Returns: the lines that this led to.
    public mutating func finish() -> [[UInt8]] {
        runToEnd()
        return takeOutput()
    }

    /// Lets everything happen that is due at a time that `mayPass`, in order.
    private mutating func advance(while mayPass: (WallTime) -> Bool) {
        while let due = nextDue, mayPass(due) {
            clock = due
            // The router's own timers first: what is finished at the very instant of its deadline missed it.
            handle(.clock, at: due)
            while let answer = answers.first, answer.due <= due {
                _ = answers.popFirst()
                handle(.finished(answer.invocation, answer.answer), at: due)
            }
        }
    }

    private var nextDue: WallTime? {
        let timer = router.nextDue.map { WallTime(milliseconds: ($0.nanoseconds + 999_999) / 1_000_000) }
        guard let timer, let answer = answers.first?.due else { return timer ?? answers.first?.due }
        return min(timer, answer)
    }

    /// Prints what became of an entry of custom data.
    private mutating func tell(_ record: CustomDataRecord, at time: WallTime) {
        switch record {
        case .entry(let entry, let state, let reason):
            if state == .pending { waiting[entry.number] = entry }
            output.append(SimulationLine.entry(entry, state, reason: reason, by: entry.cause, at: time))
        case .moved(let move):
            guard let entry = waiting.removeValue(forKey: move.number) else { return }
            output.append(
                SimulationLine.entry(
                    entry, move.state, reason: move.reason, by: move.by ?? entry.cause, at: time))
        case .attribute, .sending: return
        }
    }

    private mutating func handle(_ event: Event, at time: WallTime) {
        router.handle(event, at: moment(time), effects: &effects)
        carryOut(at: time)
    }

    /// Does what the daemon's shell does, as far as it is seen outside.
    private mutating func carryOut(at time: WallTime) {
        // The lines of the entries tell of them.
        _ = effects.takeRejections()
        while !effects.list.isEmpty {
            for effect in effects.takeList() {
                switch effect {
                case .record(.event(let event)): output.append(SimulationLine.analytics(event))
                case .record(.customData(let record)): tell(record, at: time)
                // The router ignores what a handler says after it was stopped.
                case .record, .terminate, .stop: break
                case .decided(let end):
                    output.append(SimulationLine.invocation(end, at: time))
                    let seq = end.invocation.id.seq
                    if router.invocationsInFlight(of: seq) == 0 { scripts[seq] = nil }
                // A script needs no payload.
                case .start(let run), .load(let run): start(run, at: time)
                }
            }
        }
    }

    private mutating func start(_ run: HandlerRun, at time: WallTime) {
        let id = run.invocation.id
        guard let script = scripts[id.seq]?[run.handler.name] else {
            preconditionFailure("a handler without a script took time")
        }
        router.handle(.started(id), at: moment(time), effects: &effects)
        let due = WallTime(milliseconds: time.milliseconds + script.takes.milliseconds)
        let answer = HandlerAnswer(exitStatus: script.exit, reply: script.reply)
        answers.insert(.init(due: due, invocation: id, answer: answer))
    }

    /// Virtual time has one clock: the monotonic reading is the civil one.
    private func moment(_ time: WallTime) -> Moment {
        Moment(monotonic: Instant(nanoseconds: time.milliseconds * 1_000_000), wall: time)
    }
}

extension RoutingTable {
    /// The same routes to handlers of the same names that are something else.
    fileprivate func replacingHandlers(_ kind: (String) -> Handler.Kind) -> RoutingTable {
        var table = self
        for name in handlers.keys { table.handlers[name]?.kind = kind(name) }
        return table
    }
}
