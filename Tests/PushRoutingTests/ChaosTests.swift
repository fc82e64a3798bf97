import PushModel
import Testing

@Suite("Under random requests, answers, reloads and jumps of the clock")
struct ChaosTests {
    @Test("every invocation ends once, and nothing is left")
    func everythingEnds() {
        expectOrder(seeds: 1...2000, crashes: false)
    }

    @Test("with crashes too, and nothing that is not idempotent is started again")
    func crashes() {
        expectOrder(seeds: 5001...6000, crashes: true)
    }

    private func expectOrder(seeds: ClosedRange<UInt64>, crashes: Bool) {
        var outcomes: [Outcome: Int] = [:]
        for seed in seeds {
            var chaos = Chaos(seed: seed, crashes: crashes)
            chaos.run(steps: 60)
            #expect(chaos.violations.first == nil)
            guard chaos.violations.isEmpty else { return }
            outcomes.merge(chaos.outcomes, uniquingKeysWith: +)
        }
        let reachable: [Outcome] = [
            .handedToTracker, .handled, .failed, .timedOut, .expired, .unrouted, .shownBySystem,
        ]
        for outcome in reachable { #expect(outcomes[outcome, default: 0] > 100, "\(outcome) is hardly ever reached") }
    }
}
