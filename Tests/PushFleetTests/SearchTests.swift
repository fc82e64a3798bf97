import TestSupport
import Testing

@Suite("A pair of daemons over a primary and its standby")
struct SearchTests {
    private static let bounds = [
        Model(requests: 1, budget: Budget(takes: 2, disconnects: 1, crashes: 1, promotions: 1)),
        Model(requests: 1, budget: Budget(takes: 2, disconnects: 1, promotions: 1, cancels: 1)),
        Model(requests: 2, budget: Budget(takes: 2, disconnects: 1, promotions: 1)),
        Model(requests: 2, budget: Budget(takes: 2, disconnects: 1, cancels: 1, moves: 1)),
    ]

    @Test("loses, repeats and forks nothing: all worlds within the bounds", arguments: bounds)
    func bounded(model: Model) {
        let clock = ContinuousClock()
        let began = clock.now
        let (states, isComplete, finding) = model.search(atMost: Search.cases(2_000_000))
        if let finding { Issue.record("\(finding)") }
        print("\(states) states, \(isComplete ? "all" : "cut"), \(clock.now - began)")
    }

    /// Three daemons, and higher bounds than those of the search.
    private static let wide = Model(
        nodes: 3, requests: 3,
        budget: Budget(takes: 5, disconnects: 3, crashes: 2, promotions: 2, cancels: 2, restarts: 2, moves: 2))

    @Test("loses, repeats and forks nothing: random walks beyond the bounds")
    func walks() {
        let seeds = Search.seeds(10_000)
        var (steps, finished) = (0, 0)
        for seed in seeds {
            let walk = Self.wide.walk(seed: seed, atMost: 400)
            if let finding = walk.finding {
                Issue.record("PUSH_TEST_SEED=\(seed): \(finding)")
                return
            }
            steps += walk.steps
            if walk.end.acknowledged == 7, walk.end.outcomes | walk.end.lost == 7 { finished += 1 }
        }
        print("\(seeds.count) walks, \(steps) steps, \(finished) to the outcome of each request")
        // Walks without an end show nothing.
        #expect(finished * 10 > seeds.count)
    }

    @Test("repeats the walk of a failed seed step by step")
    func replays() throws {
        var model = Self.wide
        model.without = .readingIsNoCommit
        let seed = try #require((1...2000).first { model.walk(seed: $0, atMost: 400).finding != nil })
        let walks = (0..<2).compactMap { _ in model.walk(seed: seed, atMost: 400).finding }
        #expect(walks.count == 2 && walks[0].steps == walks[1].steps && walks[0].violation == walks[1].violation)
    }
}
