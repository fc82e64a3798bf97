import Testing

@testable import PushModel
@testable import PushRouter

/// Every event in every stage, as a table: the router's effect on the invocation, and its next stage.
///
/// Relay mode has every stage. The invocation is 2.0; "new" is one that is submitted to its lane.
@Suite("Every pair of event and stage")
struct StageEventMatrixTests {
    /// A class of router events; `kind` below maps each event to one.
    enum StageEvent: CaseIterable {
        case submittedToLane, started, observed, handled, retry, unavailable, declined, rejected, signaled,
            failedToStart
        case clockBeforeDeadline, clockAtDeadline, clockAfterDeadline, reconfigured, handingOver, draining, recovered
    }

    /// Fails to compile when a new event or answer has no happening.
    static func kind(of event: RouterEvent) -> StageEvent {
        switch event {
        case .started: .started
        case .observed: .observed
        case .finished(_, .handled): .handled
        case .finished(_, .retry): .retry
        case .finished(_, .unavailable): .unavailable
        case .finished(_, .declined): .declined
        case .finished(_, .rejected), .finished(_, .lost): .rejected
        case .finished(_, .signaled): .signaled
        case .failedToStart: .failedToStart
        case .clock: .clockAtDeadline
        case .reconfigured: .reconfigured
        case .handingOver: .handingOver
        case .draining: .draining
        }
    }

    /// All stages; `nil`: the invocation has ended.
    static let stages: [Invocation.Stage?] = Invocation.Stage.allCases + [nil]

    static let nothingRuns: [StageEvent: String] = [
        .started: "", .observed: "", .handled: "", .retry: "", .unavailable: "", .declined: "", .rejected: "",
        .signaled: "",
        .failedToStart: "",
        .submittedToLane: "new waits", .reconfigured: "", .handingOver: "", .draining: "",
    ]

    static let answered: [StageEvent: String] = [
        .observed: "",
        .handled: "handled → gone",
        .retry: "→ pausing",
        .unavailable: "→ pausing",
        .declined: "start second → starting",
        .rejected: "failed → gone",
        .failedToStart: "failed → gone",
        .clockAtDeadline: "stop, timed_out → gone",
        .clockAfterDeadline: "stop, timed_out → gone",
        .submittedToLane: "new waits", .reconfigured: "", .handingOver: "", .draining: "",
        .recovered: "failed → gone",
    ]

    /// The effects by stage and event. Without an arrow the stage does not change.
    static let table: [Invocation.Stage?: [StageEvent: String]] = [
        .waiting: nothingRuns.with([
            .clockBeforeDeadline: "", .clockAtDeadline: "expired → gone", .clockAfterDeadline: "expired → gone",
            // The head of its lane had run, and does not run again.
            .recovered: "start first → starting",
        ]),
        .ready: nothingRuns.with([
            .clockBeforeDeadline: "", .clockAtDeadline: "expired → gone", .clockAfterDeadline: "expired → gone",
            .recovered: "start first → starting",
        ]),
        .starting: answered.with([
            .declined: "start second", .started: "→ running", .signaled: "failed → gone",
            .clockBeforeDeadline: "",
            .clockAtDeadline: "stop, expired → gone", .clockAfterDeadline: "stop, expired → gone",
        ]),
        .running: answered.with([
            .started: "", .signaled: "failed → gone",
            .clockBeforeDeadline: "terminate → terminating",
        ]),
        .terminating: answered.with([
            .started: "", .signaled: "timed_out → gone",
            .clockBeforeDeadline: "",
        ]),
        .pausing: nothingRuns.with([
            .clockBeforeDeadline: "start first → starting",
            .clockAtDeadline: "timed_out → gone", .clockAfterDeadline: "timed_out → gone",
            .recovered: "start first → starting",
        ]),
        nil: nothingRuns.with([
            .submittedToLane: "new starts",
            .clockBeforeDeadline: "", .clockAtDeadline: "", .clockAfterDeadline: "", .recovered: "",
        ]),
    ]

    @Test("the table has a word for every pair")
    func isComplete() {
        for stage in Self.stages {
            for kind in StageEvent.allCases {
                #expect(Self.table[stage]?[kind] != nil, "\(stage.name) × \(kind)")
                guard let event = Self.event(kind), Self.kind(of: event) != .clockAtDeadline else { continue }
                #expect(Self.kind(of: event) == kind)
            }
        }
        #expect(Self.table.count == Self.stages.count)
    }

    @Test("the router acts as the table says", arguments: stages, StageEvent.allCases)
    func pair(stage: Invocation.Stage?, kind: StageEvent) throws {
        var bench = try Self.bench(in: stage)
        #expect(bench.stage(2) == stage, "the bench is set up wrongly")
        let effects = try Self.carryOut(kind, on: &bench)
        let did = effects.compactMap { effect -> String? in
            let words = effect.split(separator: " ").map(String.init)
            return switch (words[0], words[1]) {
            case ("start", "2.0"): "start \(words[2])"
            case ("start", "3.0"): "new starts"
            case ("row", "3.0") where words.count == 2: "new waits"
            case ("end", "2.0"): words[2]
            case ("stop", "2.0"), ("terminate", "2.0"): words[0]
            default: nil
            }
        }
        let next = bench.stage(2)
        let arrow = next == stage ? [] : ["→ \(next.name)"]
        let text = ([did.joined(separator: ", ")].filter { !$0.isEmpty } + arrow).joined(separator: " ")
        #expect(text == Self.table[stage]?[kind])
    }

    // MARK: Setup and effects

    /// A bench whose invocation 2.0 is in a stage; 1.0 keeps it there, if an invocation must.
    static func bench(in stage: Invocation.Stage?) throws -> Bench {
        let handlers: [Handler] = [.exec("first", grace: .seconds(1)), .exec("second")]
        let routes: [Route] = [.all(to: "first"), .all(to: "second")]
        var bench = Bench(
            .testing(.relay, routes: routes, handlers: handlers, places: stage == .ready ? 1 : 64))
        try bench.submit(.deliver(to: stage == .waiting ? "phone" : "tablet"))
        bench.started(1)
        try bench.submit(.deliver(to: "phone"))
        switch stage {
        case .waiting, .ready, .starting:
            break
        case .running:
            bench.started(2)
        case .terminating:
            bench.started(2)
            bench.at(.seconds(8))
            bench.clock()
        case .pausing:
            bench.started(2)
            bench.finished(2, 0, .retry(after: nil))
        case nil:
            bench.started(2)
            bench.finished(2)
        }
        return bench
    }

    static func event(_ kind: StageEvent) -> RouterEvent? {
        let id = InvocationID(2)
        return switch kind {
        case .started: .started(id)
        case .handled: .finished(id, .handled(.init()))
        case .observed: .observed(id, RunFacts(status: 1, output: ErrorOutput([65])))
        case .retry: .finished(id, .retry(after: nil))
        case .unavailable: .finished(id, .unavailable(reason: "no service", after: .milliseconds(1)))
        case .declined: .finished(id, .declined)
        case .rejected: .finished(id, .rejected(reason: "no"))
        case .signaled: .finished(id, .signaled(15))
        case .failedToStart: .failedToStart(id, reason: "no such file")
        case .clockBeforeDeadline, .clockAtDeadline, .clockAfterDeadline: .clock
        case .reconfigured: .reconfigured(.testing(.device, places: 1))
        case .handingOver: .handingOver
        case .draining: .draining
        case .submittedToLane, .recovered: nil
        }
    }

    static func carryOut(_ kind: StageEvent, on bench: inout Bench) throws -> [String] {
        switch kind {
        case .clockBeforeDeadline: bench.at(.nanoseconds(8_999_999_999))
        case .clockAtDeadline: bench.at(.seconds(9))
        case .clockAfterDeadline: bench.at(.seconds(60))
        default: break
        }
        if let event = event(kind) { return bench.handle(event) }
        return kind == .recovered ? bench.crash() : try bench.submit(.deliver(to: "phone"))
    }
}

extension Bench {
    fileprivate func stage(_ seq: Int64) -> Invocation.Stage? { router.invocations[.init(seq)]?.stage }
}

extension Invocation.Stage? {
    fileprivate var name: String { map { "\($0)" } ?? "gone" }
}

extension Dictionary {
    fileprivate func with(_ others: [Key: Value]) -> [Key: Value] { merging(others) { _, new in new } }
}
