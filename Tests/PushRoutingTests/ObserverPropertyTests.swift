import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Observers, under random scripts")
struct ObserverPropertyTests {
    @Test("leave the owners' rows, events and effects equal to the last byte")
    func changeNothing() {
        var outcomes: [Outcome: Int] = [:]
        var copies = 0
        for seed in Search.seeds(500) {
            let alone = Watched.run(seed: seed, isWatched: false)
            let watched = Watched.run(seed: seed, isWatched: true)
            guard watched.ending == alone.ending else {
                let difference = zip(watched.ending.lines, alone.ending.lines).first { $0 != $1 }
                Issue.record("seed \(seed): \(difference?.0 ?? "more") instead of \(difference?.1 ?? "less")")
                return
            }
            for outcome in alone.outcomes { outcomes[outcome, default: 0] += 1 }
            copies += watched.copies
        }
        // A tenth of the seeds may miss what is rare.
        guard Search.isFull else { return }
        let reachable: [Outcome] = [.handedToTracker, .handled, .failed, .timedOut, .expired, .unrouted]
        for outcome in reachable {
            #expect(outcomes[outcome, default: 0] > 100, "\(outcome) is hardly ever reached")
        }
        #expect(copies > 5000)
    }
}

/// All requests, rows, events and effects of the owners.
private struct Ending: Equatable {
    /// The starts and outcomes of the owners, in order.
    var story: [String]
    var requests: [AcceptedRequest]
    var rows: [InvocationRecord]
    var events: [AnalyticsEvent]

    var lines: [String] { story + requests.map { "\($0)" } + rows.map { "\($0)" } + events.map { "\($0)" } }
}

/// A router under a random script about its owners; the script does not depend on the observers.
private struct Watched {
    private var script: SeededGenerator
    /// The generator of the observers' answers.
    private var observers: SeededGenerator
    private let table: RoutingTable
    private var bench: Bench
    private var time = Duration.zero
    /// Handlers that were started, have not answered and were not stopped.
    private var running: Set<InvocationID> = []
    private var accepted: Int64 = 0
    /// The starts and outcomes of the owners, in order.
    private var story: [String] = []

    /// Runs one script to its end.
    static func run(seed: UInt64, isWatched: Bool) -> Watched {
        var watched = Watched(seed: seed, isWatched: isWatched)
        for _ in 0..<40 { watched.happen() }
        watched.wait(until: watched.time + .seconds(600))
        return watched
    }

    private init(seed: UInt64, isWatched: Bool) {
        script = SeededGenerator(seed: seed)
        observers = SeededGenerator(seed: seed)
        let modes = DispatchMode.allCases
        table = Self.table(modes.randomElement(using: &script) ?? .device, isWatched: isWatched)
        bench = Bench(table)
    }

    private static func table(_ mode: DispatchMode, isWatched: Bool) -> RoutingTable {
        let owners: [Route] = [
            .key("brief", to: "crm", budget: .seconds(2)), .key("again", to: "again"), .key("k", to: "crm"),
            .key("k", to: "again", budget: .seconds(5)), .key("custom", to: "crm"),
            Route(name: "token", match: RouteMatch(callbacks: [.onNewToken, .onDeletedMessages]), handler: "crm"),
            Route(name: "token-too", match: RouteMatch(callbacks: [.onNewToken]), handler: "again"),
        ]
        let watchers = [
            Route(name: "watch", match: RouteMatch(), handler: "again", budget: .seconds(3), observes: true),
            Route(name: "watch-too", match: RouteMatch(), handler: "crm", observes: true),
            Route(name: "log", match: RouteMatch(), handler: "log", observes: true),
        ]
        let handlers: [Handler] = [
            .exec("crm", grace: .milliseconds(500)), .exec("again", idempotent: true),
            Handler(name: "log", kind: .journal),
        ]
        return .testing(
            mode, routes: (isWatched ? watchers : []) + owners, handlers: handlers, places: 2, observers: 1)
    }

    // MARK: Result

    var ending: Ending {
        Ending(
            story: story, requests: bench.ledger.requests.values.map(\.accepted).sorted { $0.seq < $1.seq },
            rows: bench.ledger.rows.values.filter { !$0.isObserver }.sorted { $0.id < $1.id },
            events: bench.ledger.events)
    }

    var outcomes: [Outcome] { bench.ledger.rows.values.filter { !$0.isObserver }.compactMap(\.result?.outcome) }

    var copies: Int { bench.ledger.rows.values.count { $0.isObserver } }

    // MARK: Events

    private mutating func happen() {
        switch Int.random(in: 0..<20, using: &script) {
        case 0..<8: submit()
        case 8..<12: answer()
        case 12..<19:
            let steps: [Duration] = [.milliseconds(50), .seconds(1), .milliseconds(2500), .seconds(9)]
            wait(until: time + (steps.randomElement(using: &script) ?? .zero))
        default:
            running = []
            note(bench.crashRaw(sameBoot: Bool.random(using: &script), table: table))
        }
        if Bool.random(using: &script) { for id in running.sorted() { note(bench.handleRaw(.started(id))) } }
        answerAsObserver()
    }

    private mutating func submit() {
        let device = ["phone", "tablet", nil].randomElement(using: &script) ?? nil
        let platform = Platform.allCases.randomElement(using: &script)
        let payloads = [
            #"{"k":"v"}"#, #"{"brief":"1"}"#, #"{"again":"1"}"#, #"{"nobody":"1"}"#, Payload.message("m1"),
            Payload.braze(message: "m2"), Payload.brazeIOS(), Payload.otherIOS, Payload.deletedMessages,
        ]
        let states: [AppState] = [.foreground, .background, .terminated]
        let request: Request =
            switch Int.random(in: 0..<8, using: &script) {
            case 0 where accepted > 0: .open(seq: Int64.random(in: 1...accepted, using: &script), on: device)
            case 1: .token(to: device, platform: platform)
            default:
                .deliver(
                    payloads.randomElement(using: &script) ?? "{}", to: device, platform: platform,
                    state: states.randomElement(using: &script) ?? .background)
            }
        do {
            note(try bench.submitRaw(request, uid: 1))
            accepted += 1
        } catch {
            story.append("refused \(error)")
        }
    }

    private static let answers: [HandlerAnswer] = [
        .handled(.init()), .handled(.init(result: .newData, options: ["banner"])), .rejected(reason: "no"), .declined,
        .retry(after: .seconds(1)), .signaled(9),
    ]

    private mutating func answer() {
        let owners = running.filter { bench.row(of: $0)?.isObserver == false }.sorted()
        let answer = Self.answers.randomElement(using: &script) ?? .declined
        let chosen = Int.random(in: 0..<64, using: &script)
        guard !owners.isEmpty else { return }
        finish(owners[chosen % owners.count], answer)
    }

    private mutating func answerAsObserver() {
        let copies = running.filter { bench.row(of: $0)?.isObserver == true }.sorted()
        guard let id = copies.randomElement(using: &observers), Bool.random(using: &observers) else { return }
        finish(id, Self.answers.randomElement(using: &observers) ?? .declined)
    }

    private mutating func finish(_ id: InvocationID, _ answer: HandlerAnswer) {
        running.remove(id)
        note(bench.handleRaw(.finished(id, answer)))
    }

    /// Advances the time as the daemon does, with a clock event whenever one is due.
    private mutating func wait(until end: Duration) {
        while let due = bench.nextDue, due <= end {
            time = max(time, due)
            bench.at(time)
            note(bench.handleRaw(.clock))
        }
        time = end
        bench.at(time)
    }

    private mutating func note(_ output: [RouterOutput]) {
        for case .effect(let effect) in output {
            switch effect {
            case .start(let run), .load(let run): running.insert(run.invocation.id)
            case .stop(let id): running.remove(id)
            case .decided(let end): running.remove(end.invocation.id)
            case .terminate, .breaker, .publishEnded: break
            }
            if let id = effect.invocation, bench.row(of: id)?.isObserver == false { story.append(effect.text) }
        }
    }
}

extension Bench {
    fileprivate func row(of id: InvocationID) -> InvocationRecord? { ledger.rows[id] }
}

extension RouterEffect {
    fileprivate var invocation: InvocationID? {
        switch self {
        case .breaker, .publishEnded: nil
        case .start(let run), .load(let run): run.invocation.id
        case .terminate(let id), .stop(let id): id
        case .decided(let end): end.invocation.id
        }
    }
}
