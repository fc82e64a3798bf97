import TestSupport

@testable import PushModel
@testable import PushRouter

/// A router under random requests, answers, reloads, crashes and jumps of the clock, with checks of its invariants.
///
/// The same seed gives the same run. A violation is a text that names the seed and the step.
struct Chaos {
    private var random: SeededGenerator
    private let seed: UInt64
    private let crashes: Bool
    private var step = 0

    private var bench: Bench
    private var table: RoutingTable
    private var time = Duration.zero
    /// Handlers that were asked to start and neither answered nor were stopped.
    private var running: Set<InvocationID> = []
    /// Invocations whose handler, which is not idempotent, was asked to start before the last crash.
    private var startedBeforeCrash: Set<InvocationID> = []
    private var ended: Set<InvocationID> = []
    private var accepted = 0
    private(set) var violations: [String] = []
    /// The outputs of the router, a line each, if ``keepsTrace`` says so.
    private(set) var trace: [String] = []
    private let keepsTrace: Bool
    /// The numbers of outcomes, reasons and changes, so that a test can check that the run reached them.
    private(set) var outcomes: [Outcome: Int] = [:]
    private(set) var reasons: [ReasonCode: Int] = [:]
    private(set) var refused = 0
    private(set) var breakerChanges = 0
    /// The largest excess of a queue over its bound, caused by late invocations.
    private(set) var mostWaiting = 0
    /// The largest number of waiting deliveries in a lane.
    private(set) var longestLane = 0

    init(seed: UInt64, crashes: Bool, keepsTrace: Bool = false) {
        self.seed = seed
        self.keepsTrace = keepsTrace
        self.crashes = crashes
        random = SeededGenerator(seed: seed)
        table = Self.table(&random)
        bench = Bench(table)
    }

    /// Makes `steps` random events, then runs the clock until nothing is in flight.
    mutating func run(steps: Int) {
        for _ in 0..<steps {
            step += 1
            happen()
        }
        runOut()
    }

    // MARK: Random events

    private mutating func happen() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: submit()
        case 35..<70: answer()
        case 70..<90: jump()
        case 90..<96:
            table = Self.table(&random)
            turn { $0.handleRaw(.reconfigured($1)) }
        case 96..<98: turn { bench, _ in bench.handleRaw(.failedToStart(.init(999_999), reason: "nobody asked")) }
        default: if crashes { crash() } else { jump() }
        }
    }

    private mutating func submit() {
        let devices: [String?] = ["phone", "tablet", nil]
        let device = devices.randomElement(using: &random) ?? nil
        let platform = Platform.allCases.randomElement(using: &random)
        let states: [AppState] = [.foreground, .background, .terminated]
        let payloads = [
            #"{"k":"v"}"#, #"{"brief":"1"}"#, #"{"again":"1"}"#, #"{"log":"1"}"#, #"{"nobody":"1"}"#,
            Payload.braze(message: "m\(Int.random(in: 0..<5, using: &random))"), Payload.brazeIOS(), Payload.otherIOS,
            Payload.deletedMessages,
        ]
        let request: Request =
            if accepted > 0, Int.random(in: 0..<8, using: &random) == 0 {
                .open(seq: Int64.random(in: 1...Int64(accepted), using: &random))
            } else if Int.random(in: 0..<12, using: &random) == 0 {
                Bool.random(using: &random) ? .token(to: device, platform: platform) : .session(on: device)
            } else {
                .deliver(
                    payloads.randomElement(using: &random) ?? "{}", to: device, platform: platform,
                    state: states.randomElement(using: &random) ?? .background)
            }
        let uid = UInt32.random(in: 1...2, using: &random)
        let inFlight = bench.router.requestsInFlight
        let before = handlers
        turn { bench, _ in
            do throws(Refusal) {
                return try bench.submitRaw(request, uid: uid)
            } catch {
                guard case .overloaded = error else { preconditionFailure("refused: \(error)") }
                return []
            }
        }
        if bench.ledger.requests.count == accepted {
            let isFull = before.values.contains { $0.waiting + 2 > $0.queueLimit }
            expect(
                isFull || inFlight >= min(table.limits.inFlight, table.limits.inFlightPerPeer), "refused without need")
            refused += 1
        } else {
            checkQueues(before)
            accepted += 1
            expect(bench.ledger.requests.count == accepted, "one submit is one request")
        }
    }

    /// Checks that the invocations of an accepted request fit into the queues of their handlers.
    private mutating func checkQueues(_ before: [String: HandlerStatus]) {
        var waiting: [String: Int] = [:]
        for row in bench.ledger.rows.values where row.id.seq == bench.router.lastNumber {
            guard let invocation = bench.router.invocations[row.id], invocation.stage == .ready, !row.isObserver,
                !row.callback.isBroadcast, let handler = row.handler
            else { continue }
            waiting[handler, default: 0] += 1
        }
        for (name, count) in waiting {
            guard let handler = before[name] else { continue }
            expect(handler.waiting + count <= handler.queueLimit, "the queue of \(name) is too long")
        }
    }

    private var handlers: [String: HandlerStatus] {
        Dictionary(uniqueKeysWithValues: bench.router.handlers(at: bench.now.monotonic).map { ($0.name, $0) })
    }

    private mutating func answer() {
        guard let id = running.sorted().randomElement(using: &random) else { return jump() }
        let answers: [HandlerAnswer] = [
            .handled(.init()), .handled(.init(result: .newData)), .rejected(reason: "no"), .declined,
            .retry(after: nil), .retry(after: .seconds(1)), .retry(after: .zero), .signaled(15), .signaled(9),
            .lost(reason: "gone"),
        ]
        if Bool.random(using: &random) { return turn { bench, _ in bench.handleRaw(.started(id)) } }
        // The answer is too late: the handler keeps its place until the clock ends it.
        if let run = bench.runs[id], bench.now.monotonic < run.deadline { running.remove(id) }
        if Int.random(in: 0..<10, using: &random) == 0 {
            turn { bench, _ in bench.handleRaw(.failedToStart(id, reason: "no such file")) }
        } else {
            let answer = answers.randomElement(using: &random) ?? .declined
            turn { bench, _ in bench.handleRaw(.finished(id, answer)) }
        }
    }

    private mutating func jump() {
        let due = bench.nextDue.map { $0 - time } ?? .seconds(1)
        let jumps: [Duration] = [
            .zero, .nanoseconds(1), .milliseconds(50), .seconds(1), due, due - .nanoseconds(1), due + .nanoseconds(1),
        ]
        time += max(.zero, jumps.randomElement(using: &random) ?? .zero)
        bench.at(time)
        if Bool.random(using: &random) { clock() }
    }

    private mutating func clock() {
        turn { bench, _ in bench.handleRaw(.clock) }
        if let due = bench.nextDue { expect(due > time, "the clock has been there") }
    }

    private mutating func crash() {
        for (id, row) in bench.ledger.rows where row.started && row.result == nil { startedBeforeCrash.insert(id) }
        running = []
        let sameBoot = Bool.random(using: &random)
        turn { bench, table in bench.crashRaw(sameBoot: sameBoot, table: table) }
    }

    private mutating func runOut() {
        while let due = bench.nextDue, violations.isEmpty {
            step += 1
            time = max(time, due)
            bench.at(time)
            clock()
        }
        expect(running.isEmpty, "handlers run on")
        expect(bench.ledger.unfinished.isEmpty, "requests without an outcome")
        let router = bench.router
        expect(router.invocations.isEmpty, "invocations are left")
        expect(router.lanes.isEmpty, "lanes are left")
        expect(router.places.isEmpty, "somebody waits for a place or holds one")
        expect(router.schedule.isEmpty, "turns or timers are left")
        expect(router.usage.isEmpty, "something is counted as in flight")
    }

    // MARK: Invariants

    private mutating func turn(_ act: (inout Bench, RoutingTable) -> [RouterOutput]) {
        // After a reload more handlers may run than there are places now.
        let places = max(bench.router.places.running.owners, table.limits.handlers)
        let observersPlaces = max(bench.router.places.running.observers, table.limits.observers)
        let before = handlers
        let effects = act(&bench, table)
        if keepsTrace { note(effects) }
        for case .effect(let effect) in effects { check(effect) }
        check(effects, before)
        for violation in bench.ledger.violations { expect(false, violation) }
        let router = bench.router
        let open = bench.ledger.rows.values.filter { $0.result == nil }
        expect(ended.count + open.count == bench.ledger.rows.count, "rows and ends do not add up")
        expect(Set(open.map(\.id)) == Set(router.invocations.ids), "the ledger and the router disagree")
        expect(Set(open.map(\.id.seq)).count == router.requestsInFlight, "requests in flight are miscounted")
        let withRows = bench.ledger.requests.values.filter { $0.accepted.operation != .session }
        expect(
            Set(bench.ledger.rows.keys.map(\.seq)) == Set(withRows.map(\.accepted.seq)), "a request without a row")
        expect(router.handlersRunning == running.count, "places are miscounted")
        expect(router.places.running.owners <= places, "more run than there are places")
        expect(router.places.running.observers <= observersPlaces, "more observers run than there are places")
        expect(
            !router.invocations.isEmpty || router.nextDue == nil || router.memory.tracker.nextDue != nil,
            "a timer for nothing")
    }

    /// Adds the router's output to the trace, with each row in full, and how the handlers are where that changed.
    private mutating func note(_ effects: [RouterOutput]) {
        for effect in effects {
            guard let text = effect.text else { continue }
            var line = "\(time.microseconds) \(text)"
            switch effect {
            case .record(.invocation(let row)), .record(.update(let row)):
                line +=
                    " \(flatLines(of: row).map { String($0.drop { $0 != " " }.dropFirst()) }.joined(separator: ","))"
            case .record(.request(let accepted)):
                line += " \(accepted.transport?.rawValue ?? "-") \(accepted.isTracked)"
            default: break
            }
            trace.append(line)
        }
        let status = (handlers.values.sorted { $0.name < $1.name }).map { handler in
            "\(handler.name) \(handler.running)/\(handler.limit ?? -1) \(handler.waiting)/\(handler.queueLimit) "
                + "\(handler.observersRunning) \(handler.observersWaiting) \(handler.refused) \(handler.passedOver) "
                + "\(handler.breaker?.rawValue ?? "-") \(handler.pause.microseconds) \(handler.isDraining)"
        }
        let line = "  now \(status.joined(separator: "; ")); \(bench.router.bytesInFlight) bytes"
        if trace.last(where: { $0.hasPrefix("  now") }) != line { trace.append(line) }
    }

    /// Checks that `HandlerStatus` counts the running and the waiting invocations right, that they stay within their
    /// limits, and that a handler with an open breaker gets none.
    private mutating func check(_ effects: [RouterOutput], _ before: [String: HandlerStatus]) {
        let after = handlers
        var (isRunning, isWaiting): ([String: Int], [String: Int]) = ([:], [:])
        for id in bench.router.invocations.ids {
            guard let invocation = bench.router.invocations[id], let name = invocation.handler?.value.name else {
                continue
            }
            if invocation.holdsPlace { isRunning[name, default: 0] += 1 }
            if invocation.stage == .ready { isWaiting[name, default: 0] += 1 }
        }
        for (name, handler) in after {
            expect(handler.running == isRunning[name] ?? 0, "\(name) runs another number than is counted")
            expect(handler.waiting == isWaiting[name] ?? 0, "another number waits for \(name) than is counted")
            let most = max(handler.limit ?? .max, before[name]?.running ?? 0)
            expect(handler.running <= most, "\(name) runs more than it may")
            mostWaiting = max(mostWaiting, handler.waiting - handler.queueLimit)
        }
        checkLanes()
        for name in isRunning.keys { expect(after[name] != nil, "nobody counts what \(name) runs") }
        let changed = effects.contains { if case .effect(.breaker) = $0 { true } else { false } }
        if changed { breakerChanges += 1 }
        for case .effect(.start(let run)) in effects {
            guard bench.router.mode == .relay, run.request.mode == .relay, !changed,
                let handler = before[run.handler.name], after[run.handler.name]?.breaker == handler.breaker
            else { continue }
            expect(handler.breaker != .open || handler.pause == .zero, "\(run.handler.name) is asked while it is open")
        }
    }

    /// Checks that `LanesStatus` counts the waiting invocations of the lanes right.
    private mutating func checkLanes() {
        var waiting: [DeviceKey: Int] = [:]
        for id in bench.router.invocations.ids {
            guard let invocation = bench.router.invocations[id], let lane = invocation.lane,
                bench.router.lanes[lane]?.head != id
            else { continue }
            waiting[lane, default: 0] += 1
        }
        let status = bench.router.lanes(at: bench.now.monotonic)
        expect(status.crowded == waiting.count, "another number of lanes has somebody that waits than is counted")
        expect(status.waiting == waiting.values.reduce(0, +), "another number waits in lanes than is counted")
        let named = status.longest.map(\.waiting)
        expect(
            named == Array(waiting.values.sorted(by: >).prefix(LanesStatus.named)), "other lanes are longer than those")
        let isRight = status.longest.allSatisfy { waiting[$0.device] == $0.waiting }
        expect(isRight, "a lane has another length than is counted")
        longestLane = max(longestLane, named.first ?? 0)
    }

    private mutating func check(_ effect: RouterEffect) {
        switch effect {
        case .breaker, .publishEnded: break
        case .start(let run), .load(let run):
            let id = run.invocation.id
            expect(running.insert(id).inserted, "\(id.name) is started while it runs")
            expect(bench.now.monotonic < run.deadline, "\(id.name) is started after its deadline")
            expect(run.handler.idempotent || bench.ledger.rows[id]?.started == true, "\(id.name) is not said to start")
            expect(!startedBeforeCrash.contains(id), "\(id.name) is started again after a crash")
            for earlier in bench.ledger.rows.values where earlier.result == nil && earlier.id.seq < id.seq {
                expect(!sameLane(earlier.id, id), "\(id.name) overtakes \(earlier.id.name) in its lane")
            }
        case .terminate(let id):
            expect(running.contains(id), "\(id.name) gets SIGTERM and does not run")
        case .stop(let id):
            expect(running.remove(id) != nil, "\(id.name) is stopped and does not run")
        case .decided(let end):
            let id = end.invocation.id
            running.remove(id)
            expect(ended.insert(id).inserted, "\(id.name) ends twice")
            expect(bench.ledger.rows[id]?.result == end.result, "\(id.name) ends unlike its row")
            expect(end.result.queue >= .zero && end.result.exec >= .zero, "\(id.name) takes less than no time")
            expect(
                end.result.exec == .zero || end.result.queue + end.result.exec == end.result.total,
                "times of \(id.name)")
            outcomes[end.result.outcome, default: 0] += 1
            if let code = end.result.reasonCode { reasons[code, default: 0] += 1 }
        }
    }

    private func sameLane(_ left: InvocationID, _ right: InvocationID) -> Bool {
        guard bench.ledger.rows[left]?.isObserver == false, bench.ledger.rows[right]?.isObserver == false,
            let left = bench.ledger.requests[left.seq]?.accepted,
            let right = bench.ledger.requests[right.seq]?.accepted
        else { return false }
        return left.operation != .interact && right.operation != .interact && left.platform == .android
            && right.platform == .android && left.device != nil && left.device == right.device && left.app == right.app
    }

    private mutating func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { violations.append("seed \(seed), step \(step): \(what())") }
    }

    private static func table(_ random: inout SeededGenerator) -> RoutingTable {
        let graces: [Duration?] = [nil, .milliseconds(500)]
        var crm = Handler.exec("crm", grace: graces.randomElement(using: &random) ?? nil)
        var again = Handler.exec("again", idempotent: true)
        let breakers: [BreakerRules?] = [nil, nil, BreakerRules(failures: 1, window: .seconds(5), pause: .seconds(2))]
        crm.maxConcurrent = [nil, 1, 2].randomElement(using: &random) ?? nil
        crm.leavesPlaces = Bool.random(using: &random)
        crm.queueMax = [0, 1, 3, 1000].randomElement(using: &random) ?? 0
        crm.breaker = breakers.randomElement(using: &random) ?? nil
        again.maxConcurrent = [nil, nil, 1].randomElement(using: &random) ?? nil
        again.leavesPlaces = Bool.random(using: &random)
        again.queueMax = [1, 1000].randomElement(using: &random) ?? 0
        again.breaker = breakers.randomElement(using: &random) ?? nil
        let handlers: [Handler] = [crm, again, Handler(name: "log", kind: .journal)]
        let routes: [Route] = [
            .key("brief", to: "crm", budget: .seconds(2)), .key("again", to: "again"), .key("log", to: "log"),
            .key("k", to: "crm"), .key("k", to: "again", budget: .seconds(5)), .key("custom", to: "crm"),
            Route(name: "token", match: RouteMatch(callbacks: [.onNewToken, .onDeletedMessages]), handler: "crm"),
            Route(name: "token-too", match: RouteMatch(callbacks: [.onNewToken]), handler: "again"),
            Route(name: "watch", match: RouteMatch(), handler: "again", budget: .seconds(3), observes: true),
            Route(
                name: "watch-k", match: RouteMatch(data: [.init(key: "k", pattern: nil)]), handler: "crm",
                observes: true),
        ]
        return .testing(
            DispatchMode.allCases.randomElement(using: &random) ?? .device, routes: routes, handlers: handlers,
            places: Int.random(in: 1...3, using: &random), inFlight: Int.random(in: 6...12, using: &random),
            inFlightPerPeer: Int.random(in: 4...8, using: &random),
            payloadMemory: [0, 400, 32 << 20].randomElement(using: &random) ?? 0)
    }
}
