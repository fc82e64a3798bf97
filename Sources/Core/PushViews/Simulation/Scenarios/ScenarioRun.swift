import PushModel
public import PushRouter

extension Scenario {
    /// Runs the scenario under virtual time.
    ///
    /// An expectation with `at` is checked after everything due up to that time. Any other is checked after everything
    /// that precedes the next line with a time; after the last one, when nothing is pending. A refused request fails
    /// unless an expectation before the next request is about its error. An interaction without a push fails unless an
    /// expectation of an interaction matches it.
    ///
    /// - Parameters:
    ///   - table: the configuration; the scenario's mode overrides its mode.
    ///   - tracker: the tracker with its limits.
    public func run(table: RoutingTable, tracker: Tracker) -> ScenarioResult {
        var run = ScenarioRun(Simulator(table: table, tracker: tracker, mode: mode))
        let nextTimes = nextTimes
        var checks = lines.indices.compactMap { index -> Check? in
            let (number, line) = lines[index]
            switch line {
            case .request(let step):
                return run.take(step, number: number, expectsError: expectsError(after: index))
            case .crash(let crash): return run.crash(crash, number: number)
            case .refused(let error):
                return run.refuse(error, number: number, isExpected: expectsError(after: index))
            case .expectation(let expectation):
                run.advance(to: expectation.at, before: nextTimes[index])
                return Check(
                    line: number, name: expectation.name, expected: expectation.text,
                    failure: run.decided.failure(of: expectation.condition))
            }
        }
        run.advance(to: nil, before: nil)
        return run.result(of: self, &checks)
    }

    private func expectsError(after index: Int) -> Bool { Self.expectsError(after: index, in: lines) }

    /// The time of the next line that has one, for each line.
    var nextTimes: [WallTime?] {
        var times: [WallTime?] = []
        var next: WallTime?
        for (_, line) in lines.reversed() {
            times.append(next)
            next = line.at ?? next
        }
        return times.reversed()
    }
}

/// The state of a running scenario.
struct ScenarioRun {
    var simulator: Simulator
    private(set) var decided = Decided()
    /// Acts that a person cannot have done, with their lines.
    private var doubts: [ScenarioResult.Warning] = []
    /// The lines with iOS payloads that the simulation took for Android's.
    private var misread: [Int] = []

    init(_ simulator: Simulator) { self.simulator = simulator }

    mutating func take(_ step: Step, number: Int, expectsError: Bool) -> Check? {
        do {
            let seq = try simulator.accept(step)
            decided.accepted(seq, step.request, line: number)
            if case .deliver(let deliver) = step.request.action, deliver.target.platform == nil,
                deliver.payload.isApplePayload, simulator.platform(of: seq) == .android
            {
                misread.append(number)
            }
            if case .interact(let interact) = step.request.action, let doubt = simulator.doubt(about: interact) {
                doubts.append(ScenarioResult.Warning(line: number, message: doubt))
            }
            gather()
            return nil
        } catch {
            return refuse(error, number: number, isExpected: expectsError)
        }
    }

    mutating func crash(_ crash: Crash, number: Int) -> Check? {
        do {
            try simulator.crash(crash)
            gather()
            return nil
        } catch {
            return refuse(error, number: number, isExpected: false)
        }
    }

    mutating func refuse(_ error: ProtocolError, number: Int, isExpected: Bool) -> Check? {
        simulator.refuse(error, number: number)
        decided.refused(line: number)
        gather()
        guard !isExpected else { return nil }
        let field = error.field.map { "\($0): " } ?? ""
        return Check(
            line: number, name: nil, expected: "the request is accepted",
            failure: .init("refused: \(field)\(error.message) (\(error.code.rawValue))"))
    }

    mutating func advance(to time: WallTime?, before next: WallTime?) {
        if let time {
            simulator.run(through: time)
        } else if let next {
            simulator.run(before: next)
        } else {
            simulator.runToEnd()
        }
        gather()
    }

    /// Collects the simulator's decisions since the last call.
    mutating func gather() {
        decided.pending = simulator.requestsInFlight
        for line in simulator.takeOutput() {
            guard let root = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root else {
                preconditionFailure("what was written is JSON")
            }
            decided.add(root)
        }
    }

    /// Returns the result of a scenario whose lines are all done. Interactions that still wait for a push become
    /// unmatched.
    mutating func result(of scenario: Scenario, _ checks: inout [Check]) -> ScenarioResult {
        simulator.endWaitingInteractions()
        gather()
        let expected = scenario.lines.compactMap { line -> Pattern? in
            if case .expectation(let expectation) = line.line { expectation.condition.interaction } else { nil }
        }
        for interaction in decided.interactions where !expected.contains(where: { $0.matches(interaction) }) {
            guard let verdict = interaction["verdict"]?.string.flatMap(Interaction.Verdict.init(rawValue:)),
                verdict.isLost
            else { continue }
            let reason = interaction["reason"]?.string.map { ", \($0)" } ?? ""
            let help = "; where that is meant, expect {\"interaction\":{\"verdict\":\"\(verdict.rawValue)\"}}"
            checks.append(
                Check(
                    line: decided.line(of: interaction) ?? 0, name: nil, expected: "the interaction finds its push",
                    failure: .init("\(verdict.rawValue)\(reason)\(help)")))
        }
        let warnings = decided.openingsOfHidden.map { opening in
            ScenarioResult.Warning(
                line: decided.line(of: opening) ?? 0, message: opening["reason"]?.string ?? "")
        }
        let guesses = misread.map { line in
            ScenarioResult.Warning(
                line: line,
                message: "no platform is named, so it is android, but only iOS has aps: add \"platform\":\"ios\"")
        }
        // Keeps the order of checks with equal lines.
        let sorted = checks.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        return ScenarioResult(checks: sorted.map(\.element), warnings: guesses + warnings + doubts)
    }
}
