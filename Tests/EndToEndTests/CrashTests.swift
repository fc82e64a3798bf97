import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// kill -9 leaves the page cache intact: this tests the loss of process memory. `PowerCutTests` tests the loss of the
/// page cache.
@Suite("kill -9 under load")
struct CrashTests {
    /// `PUSH_TEST_ROUNDS`; default 20.
    private static let rounds = number("PUSH_TEST_ROUNDS") ?? 20
    private let installation = Installation()

    @Test("loses nothing acknowledged, decides nothing twice, and runs nothing twice that is not idempotent")
    func rounds() async throws {
        CrashLoad.addJobs(to: installation)
        var generator = SeededGenerator(seed: diskSeed + 8)
        var daemon = try DaemonProcess.ready(installation)
        var figures = Figures()
        for round in 0..<Self.rounds {
            // The tests share one thread per core, and this test takes long.
            await Task.yield()
            let load = CrashLoad("round\(round)", seed: generator.next())
            let most = Int.random(in: 1...300, using: &generator)
            try load.run(on: installation, clients: 6, until: most)
            usleep(UInt32.random(in: 0...3000, using: &generator))
            daemon.crash()
            try load.receiveLastReplies()

            // The next daemon may die too, before it is ready or just after.
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let unlucky = DaemonProcess(installation)
                usleep(UInt32.random(in: 0...50_000, using: &generator))
                unlucky.crash()
            }
            daemon = try DaemonProcess.ready(installation)
            try load.repeatAll(on: installation)
            try installation.waitUntilIdle()
            try check(load, &figures)
        }
        try checkLedger(figures)
        print("disk, kill -9, seed \(diskSeed): \(Self.rounds) rounds, 0 lost; \(figures)")
    }

    /// Compares what the clients read with the ledger and with the handlers' runs.
    private func check(_ load: CrashLoad, _ figures: inout Figures) throws {
        try #require(load.contradictions.isEmpty, "\(load.contradictions.prefix(3))")
        let runs = takeRuns()
        let ledger = try installation.ledger()
        for (seq, request) in load.acknowledged {
            let story = try #require(try ledger.story(of: SequenceNumber(seq)), "seq \(seq) is lost: \(request.line)")
            try #require(String(decoding: story.request.body, as: UTF8.self) == request.line)
            try #require(story.invocations.count == (request.kind == .double ? 2 : 1), "seq \(seq)")
            for invocation in story.invocations {
                let result = try #require(invocation.result, "seq \(seq) has no outcome")
                let told = load.outcomes[invocation.id]
                try #require(told == nil || told == result.outcome.rawValue, "seq \(seq) was \(told ?? "") before")
                try check(runs[invocation.id] ?? 0, of: request.kind, result, seq)
                figures.count(result)
            }
        }
        figures.acknowledged += load.acknowledged.count
        figures.told += load.outcomes.count
    }

    private func check(_ runs: Int, of kind: CrashLoad.Kind, _ result: InvocationResult, _ seq: Int64) throws {
        let allowed: ClosedRange<Int> =
            switch (kind, result.outcome) {
            case (.once, .handled): 1...1
            case (.once, _): 0...1
            case (.repeatable, .handled): 1...Int.max
            case (.repeatable, _): 0...Int.max
            case (.braze, _), (.journal, _), (.double, _): 0...0
            }
        try #require(allowed.contains(runs), "seq \(seq), \(kind): \(result.outcome) after \(runs) runs")
    }

    /// Returns the number of runs of each invocation since the last call, as the handlers recorded them.
    private func takeRuns() -> [InvocationID: Int] {
        let path = installation.root + "/runs"
        defer { unlink(path) }
        var runs: [InvocationID: Int] = [:]
        for line in String(decoding: readFile(path) ?? [], as: UTF8.self).split(separator: "\n") {
            let numbers = line.split(separator: ":").compactMap { Int64($0) }
            guard numbers.count == 2 else { continue }
            runs[InvocationID(seq: SequenceNumber(numbers[0]), n: Int(numbers[1])), default: 0] += 1
        }
        return runs
    }

    /// Checks the invariants of all rounds together.
    private func checkLedger(_ figures: Figures) throws {
        let rows = try installation.ledgerRows().values
        #expect(rows.allSatisfy { $0.result != nil })
        let accepted = try installation.ledger().acceptedRequests()
        #expect(accepted >= figures.acknowledged && accepted == Set(rows.map(\.id.seq)).count)
        #expect(processes(withEnvironment: "PUSH_RUN=\(try installation.stateIdentity())") == [])
        // Without these outcomes the rounds would have tested nothing.
        #expect(figures.outcomes["handled"] ?? 0 > 0 && figures.outcomes["handed_to_tracker"] ?? 0 > 0, "\(figures)")
        #expect(figures.outcomes["daemon_crashed"] ?? 0 > 0 && figures.told > 0, "\(figures)")
    }
}

/// The counts of all rounds.
private struct Figures: CustomStringConvertible {
    var acknowledged = 0
    /// Outcome lines that clients read before the crash.
    var told = 0
    var outcomes: [String: Int] = [:]

    mutating func count(_ result: InvocationResult) {
        let isCrash = result.outcome == .failed && result.reason == "daemon_crashed"
        outcomes[isCrash ? "daemon_crashed" : result.outcome.rawValue, default: 0] += 1
    }

    var description: String {
        let list = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(acknowledged) acknowledged, \(told) outcomes told; \(list)"
    }
}
