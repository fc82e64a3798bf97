import PushModel
import Testing

@Suite("Under random requests, answers, reloads and jumps of the clock")
struct ChaosTests {
    @Test("every invocation ends once, and nothing is left")
    func everythingEnds() {
        expectOrder(seeds: 1...7000, crashes: false)
    }

    @Test("with crashes too, and nothing that is not idempotent is started again")
    func crashes() {
        expectOrder(seeds: 7001...10_000, crashes: true)
    }

    private func expectOrder(seeds: ClosedRange<UInt64>, crashes: Bool) {
        var outcomes: [Outcome: Int] = [:]
        var reasons: [ReasonCode: Int] = [:]
        var (refused, breakerChanges, mostWaiting) = (0, 0, 0)
        for seed in seeds {
            var chaos = Chaos(seed: seed, crashes: crashes)
            chaos.run(steps: 60)
            reasons.merge(chaos.reasons, uniquingKeysWith: +)
            refused += chaos.refused
            breakerChanges += chaos.breakerChanges
            mostWaiting = max(mostWaiting, chaos.mostWaiting)
            #expect(chaos.violations.first == nil)
            guard chaos.violations.isEmpty else { return }
            outcomes.merge(chaos.outcomes, uniquingKeysWith: +)
        }
        let reachable: [Outcome] = [
            .handedToTracker, .handled, .failed, .timedOut, .expired, .unrouted, .shownBySystem,
        ]
        #expect(refused > 100 && breakerChanges > 100 && mostWaiting > 0)
        for code in [ReasonCode.queueFull, .breakerOpen] {
            #expect(reasons[code, default: 0] > 100, "\(code) is hardly ever reached")
        }
        for outcome in reachable { #expect(outcomes[outcome, default: 0] > 100, "\(outcome) is hardly ever reached") }
    }
}
