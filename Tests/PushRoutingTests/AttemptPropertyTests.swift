import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// Random days of handlers with every kind of answer, under virtual time.
@Suite("Attempts, answers and deadlines of random days", .timeLimit(.minutes(30)))
struct AttemptPropertyTests {
    /// The number of seeds; `PUSHROUTERD_ATTEMPT_SEEDS=10000` sets it.
    private static let seeds = getenv("PUSHROUTERD_ATTEMPT_SEEDS").flatMap { Int(String(cString: $0)) } ?? 500

    @Test("every attempt begins within the budget, one after the other, and the last one decides the outcome")
    func days() throws {
        var seen: [AttemptRecord.Answer: Int] = [:]
        for seed in 0..<Self.seeds {
            var random = SeededGenerator(seed: UInt64(seed))
            let bench = try day(&random)
            let attempts = Dictionary(grouping: bench.ledger.attempts, by: \.id)
            for (id, attempts) in attempts {
                let row = try #require(bench.ledger.rows[id])
                let result = try #require(row.result)
                var last = Duration.zero
                for (index, attempt) in attempts.enumerated() {
                    seen[attempt.answer, default: 0] += 1
                    #expect(attempt.asked >= last && attempt.asked < row.budget, "seed \(seed) \(id.name)")
                    #expect(attempt.ended >= attempt.started ?? attempt.asked && attempt.ended <= row.budget)
                    let continues = attempt.retryAfter != nil || attempt.answer == .declined
                    #expect(continues || index == attempts.count - 1, "seed \(seed): \(attempt.answer) is the end")
                    last = attempt.ended + (attempt.retryAfter ?? .zero)
                }
                switch attempts.last?.answer {
                case .handled: #expect(result.outcome == .handled, "seed \(seed)")
                case .timedOut: #expect(result.outcome.isMissed, "seed \(seed)")
                case .notStarted where attempts.last?.retryAfter != nil:
                    #expect(result.outcome.isMissed, "seed \(seed)")
                case .rejected, .killed, .notStarted: #expect(result.outcome == .failed, "seed \(seed)")
                case .retry: #expect([.failed, .timedOut].contains(result.outcome), "seed \(seed)")
                case .declined: #expect(result.outcome == .unrouted || result.outcome.isMissed, "seed \(seed)")
                case nil: break
                }
            }
            let dead = bench.ledger.rows.values.filter { $0.result?.outcome.isDeadLetter == true }.map(\.id)
            #expect(bench.ledger.deadLetters == Set(dead), "seed \(seed)")
            #expect(bench.ledger.violations == [], "seed \(seed)")
        }
        #expect(Set(seen.keys) == Set(AttemptRecord.Answer.allCases), "otherwise the days showed little")
    }

    private func day(_ random: inout SeededGenerator) throws -> Bench {
        let most = [nil, 0, 2].randomElement(using: &random) ?? nil
        let handlers = ["first", "second"].map { name in
            Handler(name: name, kind: .exec(.init(arguments: ["/x"])), retries: most)
        }
        var bench = Bench(
            .testing(.relay, routes: [.all(to: "first"), .all(to: "second")], handlers: handlers, places: 2))
        let count = Int64.random(in: 1...4, using: &random)
        for _ in 0..<count { try bench.submit(.deliver()) }
        var time = Duration.zero
        while time <= .seconds(10) {
            bench.at(time)
            bench.clock()
            for seq in 1...count where bench.row(seq)?.result == nil {
                guard let invocation = bench.router.invocations[.init(seq)] else { continue }
                if invocation.stage == .starting {
                    if Int.random(in: 0..<20, using: &random) == 0 {
                        bench.handle(.failedToStart(.init(seq), reason: "no"))
                    } else {
                        bench.started(seq)
                    }
                } else if invocation.stage == .running, Int.random(in: 0..<3, using: &random) == 0 {
                    bench.finished(seq, 0, answer(&random))
                }
            }
            // The clock event comes when it is due, or another event comes before.
            let next = time + .milliseconds(Int64.random(in: 1...900, using: &random))
            if let due = bench.nextDue, due > time, due < next { time = due } else { time = next }
        }
        bench.at(.seconds(20))
        bench.clock()
        return bench
    }

    private func answer(_ random: inout SeededGenerator) -> HandlerAnswer {
        switch Int.random(in: 0..<15, using: &random) {
        case 0...1: .handled(.init())
        case 2...6: .retry(after: nil)
        case 7...8: .retry(after: .milliseconds(Int64.random(in: 0...4000, using: &random)))
        case 9: .declined
        case 10: .rejected(reason: "no")
        case 11: .lost(reason: "gone")
        case 12...13:
            .unavailable(reason: "away", after: .milliseconds(Int64.random(in: 0...4000, using: &random)))
        default: .signaled(9)
        }
    }
}
