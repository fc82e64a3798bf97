public import PushModel
public import PushRouter

/// Runs a scenario against real handlers: with the simulator, whose clock follows the real one from the scenario's
/// first time on, while the caller runs the handlers.
///
/// A pure value: the caller passes the time and the ends of handlers in, and carries out ``takeWork()``.
public struct RealRun {
    /// The longest span from the first line of a scenario to its last.
    static let longestTime = Duration.seconds(60)

    private let scenario: Scenario
    private let nextTimes: [WallTime?]
    private var run: ScenarioRun
    private var index = 0
    /// The scenario's first time, at which it begins.
    public let begin: WallTime
    private var checks: [Check] = []
    /// The result of the scenario; empty before ``isDone``.
    public private(set) var result = ScenarioResult()

    /// - Parameters:
    ///   - scenario: the scenario.
    ///   - table: the configuration; the scenario's mode overrides its mode.
    ///   - tracker: the tracker with its limits.
    /// - Throws: `ScenarioError` for a line that only virtual time supports.
    public init(_ scenario: Scenario, table: RoutingTable, tracker: Tracker) throws(ScenarioError) {
        self.scenario = scenario
        nextTimes = scenario.nextTimes
        begin = scenario.lines.lazy.compactMap(\.line.at).first ?? WallTime(milliseconds: 0)
        run = ScenarioRun(
            Simulator(
                table: table, tracker: tracker, mode: scenario.mode, keepsRecords: false, hasRealHandlers: true))
        for (number, line) in scenario.lines {
            if case .crash = line {
                throw ScenarioError(
                    line: number, message: "crash: a crash is only simulated; run this without --real-handlers")
            }
            if case .request(let step) = line, step.script != nil {
                throw ScenarioError(
                    line: number,
                    message: "script: a script stands for a handler; with --real-handlers the handler itself runs")
            }
            if let at = line.at, at.milliseconds - begin.milliseconds > Self.longestTime.milliseconds {
                throw ScenarioError(
                    line: number,
                    message:
                        "at: this is more than \(Self.longestTime.milliseconds / 1000) s after the first line, and "
                        + "--real-handlers waits that time in full")
            }
        }
    }

    /// Whether all lines are done.
    public var isDone: Bool { index == scenario.lines.count }

    /// The time at which it next needs ``advance(to:)``; `nil`: it only waits for handlers.
    public var nextDue: WallTime? {
        let line = isDone ? nil : lineDue(index)
        return [line, run.simulator.nextTimer].compactMap(\.self).min()
    }

    /// Removes and returns the work on handlers, in order: `start`, `terminate`, `stop`. Deadlines count on the
    /// scenario's clock.
    public mutating func takeWork() -> [RouterEffect] { run.simulator.takeWork() }

    /// Handles the end of a handler.
    public mutating func report(_ event: RouterEvent, at now: WallTime) {
        run.simulator.report(event, at: now)
        run.gather()
        advance(to: now)
    }

    /// Processes all lines and timers up to a time.
    public mutating func advance(to now: WallTime) {
        takeLines(at: now)
        run.simulator.run(through: max(now, run.simulator.latest ?? now))
        run.gather()
        // A line may have waited for a timer that just fired.
        takeLines(at: now)
    }

    private mutating func takeLines(at now: WallTime) {
        while index < scenario.lines.count, isDue(index, at: now) {
            let (number, line) = scenario.lines[index]
            if let check = check(number, line) { checks.append(check) }
            index += 1
            if isDone { result = run.result(of: scenario, &checks) }
        }
    }

    /// Returns the time of a line, or of the next line that has one.
    private func lineDue(_ index: Int) -> WallTime? { scenario.lines[index].line.at ?? nextTimes[index] }

    private func isDue(_ index: Int, at now: WallTime) -> Bool {
        if let due = lineDue(index) { return due <= now }
        if case .refused = scenario.lines[index].line { return true }
        return run.simulator.requestsInFlight == 0
    }

    private mutating func check(_ number: Int, _ line: Scenario.Line) -> Check? {
        switch line {
        case .request(var step):
            // The real clock may be past the line's time.
            step.at = max(step.at, run.simulator.latest ?? step.at)
            return run.take(step, number: number, expectsError: Scenario.expectsError(after: index, in: scenario.lines))
        case .refused(let error):
            let isExpected = Scenario.expectsError(after: index, in: scenario.lines)
            return run.refuse(error, number: number, isExpected: isExpected)
        case .expectation(let expectation):
            if let at = expectation.at { run.simulator.run(through: max(at, run.simulator.latest ?? at)) }
            run.gather()
            return Check(
                line: number, name: expectation.name, expected: expectation.text,
                failure: run.decided.failure(of: expectation.condition))
        case .crash: preconditionFailure("a crash was refused")
        }
    }
}
