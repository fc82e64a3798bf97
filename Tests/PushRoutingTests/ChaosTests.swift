import TestSupport
import Testing

@testable import PushModel

@Suite("Under random requests, answers, reloads and jumps of the clock")
struct ChaosTests {
    @Test("every invocation ends once, and nothing is left in flight")
    func everythingEnds() {
        expectOrder(seeds: Search.seeds(700), crashes: false)
    }

    @Test("every invocation ends once with crashes too, and a handler that is not idempotent is not started again")
    func crashes() {
        expectOrder(seeds: Search.seeds(300), crashes: true)
    }

    @Test("a router does in ten runs what Fixtures/routing/runs.txt has")
    func trace() {
        var found: [String] = []
        for seed in 1...10 as ClosedRange<UInt64> {
            var chaos = Chaos(seed: seed, crashes: seed % 2 == 0, keepsTrace: true)
            chaos.run(steps: 40)
            found += ["==== run \(seed)"] + chaos.trace
        }
        Fixture.expect(found, in: "routing/runs.txt")
    }

    private func expectOrder(seeds: Range<UInt64>, crashes: Bool) {
        var outcomes: [Outcome: Int] = [:]
        var reasons: [ReasonCode: Int] = [:]
        var (refused, breakerChanges, mostWaiting, longestLane) = (0, 0, 0, 0)
        for seed in seeds {
            var chaos = Chaos(seed: seed, crashes: crashes)
            chaos.run(steps: 60)
            reasons.merge(chaos.reasons, uniquingKeysWith: +)
            refused += chaos.refused
            breakerChanges += chaos.breakerChanges
            mostWaiting = max(mostWaiting, chaos.mostWaiting)
            longestLane = max(longestLane, chaos.longestLane)
            #expect(chaos.violations.first == nil)
            guard chaos.violations.isEmpty else { return }
            outcomes.merge(chaos.outcomes, uniquingKeysWith: +)
        }
        // A tenth of the seeds may miss what is rare.
        guard Search.isFull else { return }
        let reachable: [Outcome] = [
            .handedToTracker, .handled, .failed, .timedOut, .expired, .unrouted, .shownBySystem,
        ]
        #expect(refused > 10 && breakerChanges > 10 && mostWaiting > 0 && longestLane > 2)
        for code in [ReasonCode.queueFull, .breakerOpen] {
            #expect(reasons[code, default: 0] > 10, "\(code) is hardly ever reached")
        }
        for outcome in reachable { #expect(outcomes[outcome, default: 0] > 10, "\(outcome) is hardly ever reached") }
    }
}
