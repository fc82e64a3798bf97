import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Custom data under random logs, sessions, taps, forwarders and crashes")
struct CustomDataChaosTests {
    @Test("no entry is lost, sent twice or given to another user; the ledger and the router agree")
    func chaos() {
        var reached: Set<EntryState> = []
        for seed in Search.seeds(400) {
            var chaos = CustomDataChaos(seed: seed)
            chaos.run(steps: 80)
            #expect(chaos.violations.first == nil)
            guard chaos.violations.isEmpty else { return }
            reached.formUnion(chaos.bench.ledger.customData.states)
        }
        // A tenth of the seeds may miss what is rare.
        guard Search.isFull else { return }
        #expect(reached == Set(EntryState.allCases), "\(reached) alone are reached")
    }
}

/// A router under random use of its custom data, with its invariants. The same seed gives the same run.
private struct CustomDataChaos {
    private var random: SeededGenerator
    private let seed: UInt64
    private(set) var bench: Bench
    private var time = Duration.zero
    private var run = UUID128(high: 0, low: 1)
    private(set) var violations: [String] = []

    private static let users = ["anna", "ben", nil]
    private static let devices = ["phone", "tablet", nil]

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        var table = RoutingTable.testing()
        table.customData.pendingMax = 12
        table.customData.onUnknown = seed.isMultiple(of: 4) ? .retry : .hold
        table.customData.sendsFlushed = seed.isMultiple(of: 3)
        table.tracks = [
            TrackRule(
                name: "push", occasions: [.received, .opened], identifier: .externalID(.fact(.externalID)),
                event: .init(name: .fact(.occasion)))
        ]
        bench = Bench(table)
    }

    mutating func run(steps: Int) {
        for step in 0..<steps where violations.isEmpty {
            let before = bench.ledger.events.count
            happen()
            check(step, eventsBefore: before)
        }
    }

    private mutating func happen() {
        let user = Self.users.randomElement(using: &random) ?? nil
        let device = Self.devices.randomElement(using: &random) ?? nil
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: submit(.event(on: device, user: user, suite: Bool.random(using: &random) ? "group.a" : nil))
        case 20..<30: submit(.event(brazeID: "b"))
        case 30..<35: submit(.attributes(#"{"a":1,"braze_id":2}"#, on: device, user: user))
        case 35..<50: submit(.session(on: device, user: user))
        case 50..<57: submit(.deliver(Payload.braze(), to: device, user: user))
        case 57..<62: submit(.open(seq: Int64(bench.router.lastNumber.value)))
        case 62..<75: claim()
        case 75..<88: settle()
        case 88..<91:
            let state: EntryState = Bool.random(using: &random) ? .queued : .discarded
            _ = bench.order { $0.resolve(nil, state, at: $1, effects: &$2) }
        case 91..<92: _ = bench.order { $0.reset(suite: "group.a", app: nil, at: $1, effects: &$2) }
        case 92..<96:
            time += .seconds(Int.random(in: 0...40, using: &random))
            bench.at(time)
            bench.clock()
        default: bench.crash(sameBoot: Bool.random(using: &random))
        }
    }

    private mutating func submit(_ request: Request) {
        // The router may refuse the request for lack of room; a refusal changes nothing.
        _ = try? bench.submit(request)
    }

    private mutating func claim() {
        if Int.random(in: 0..<4, using: &random) == 0 { run.low += 1 }
        let (run, limit) = (run, Int.random(in: 1...4, using: &random))
        _ = bench.order { $0.claim(by: run, limit: limit, at: $1, effects: &$2) }
    }

    private mutating func settle() {
        let states: [EntryState] = [.sent, .rejected, .unknown, .queued]
        let claimed = bench.ledger.customData.rows.values.filter { $0.state == .claimed }.map(\.entry.number).sorted()
        guard let number = claimed.randomElement(using: &random) else { return }
        let (run, state) = (run, states.randomElement(using: &random) ?? .sent)
        _ = bench.order { $0.settle(number, state, reason: "why", by: run, at: $1, effects: &$2) }
    }

    // MARK: Invariants

    private mutating func check(_ step: Int, eventsBefore: Int) {
        func expect(_ holds: Bool, _ what: String) {
            if !holds { violations.append("seed \(seed), step \(step): \(what)") }
        }
        for violation in bench.ledger.violations { expect(false, violation) }
        let rows = bench.ledger.customData.rows.values.sorted { $0.entry.number < $1.entry.number }
        let summary = bench.router.customDataSummary
        for (state, count) in [
            (EntryState.pending, summary.pending), (.queued, summary.queued), (.claimed, summary.claimed),
            (.unknown, summary.unknown),
        ] {
            expect(rows.count { $0.state == state } == count, "\(count) are \(state) to the router")
        }
        let told = Set(bench.ledger.events.filter { $0.kind == .customEvent }.map(\.id))
        let stored = rows.filter { row in
            if case .stored = row.entry.destination { row.entry.kind == .customEvent } else { false }
        }
        for row in stored {
            let id = AnalyticsEvent.identifier(
                state: bench.router.memory.customData.stateID, number: SequenceNumber(row.entry.number.value),
                kind: .customEvent)
            expect(told.contains(id) == (row.state == .flushed), "\(row.entry.number) is \(row.state)")
            guard row.state == .flushed, let user = row.entry.externalID else { continue }
            expect(
                bench.ledger.events.first { $0.id == id }?.externalUserID == user, "\(row.entry.number) is \(user)'s")
        }
        expect(told.count == stored.count { $0.state == .flushed }, "an event of no entry")
        let new = bench.ledger.events[eventsBefore...].map(\.kind)
        if let first = new.firstIndex(of: .customEvent) {
            expect(new[..<first].contains(.sessionStart), "flushed without a session start")
        }
    }
}
