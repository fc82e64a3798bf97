import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews

/// Runs a scenario against the real handlers of a configuration, by the wall clock.
final class RealHandlers {
    private let handlers: HandlerLoop
    private let startedAt: Instant
    private var run: RealRun
    private var timer: TimerSource?

    /// - Parameters:
    ///   - run: the scenario, before its first line.
    ///   - bridgeCommand: finds the command of a bridge's program; `nil`: the program is not installed.
    ///   - log: gets the daemon's journal entries.
    init(_ run: RealRun, bridgeCommand: @escaping (Bridge) -> Handler.Command?, log: @escaping (String) -> Void) throws
    {
        handlers = try HandlerLoop(bridgeCommand: bridgeCommand, log: log)
        self.run = run
        startedAt = Moment.now().monotonic
        timer = try TimerSource(loop: handlers.loop, priority: .important) { [unowned self] in
            act { $0.advance(to: $1) }
        }
        try handlers.runner.begin(reportingTo: { [unowned self] event in
            // The time in the event is of another clock: the scenario's clock counts now.
            if case .started(let id, _) = event {
                act { $0.report(.started(id), at: $1) }
            } else {
                act { $0.report(event, at: $1) }
            }
        })
    }

    /// Runs the scenario to its last line, and ends the handlers that are left.
    ///
    /// - Returns: the results of the checks, and the warnings.
    /// - Throws: an error of the loop.
    func result() throws -> ScenarioResult {
        act { $0.advance(to: $1) }
        try handlers.wait { [unowned self] in run.isDone }
        // Nothing waits for the remaining handlers.
        handlers.runner.stopAll()
        try handlers.end()
        return run.result
    }

    /// Kills the remaining handlers, because the program ends.
    func endAtOnce() { handlers.endAtOnce() }

    /// The scenario's clock: its first time, plus the time since the start.
    private var now: WallTime {
        WallTime(milliseconds: run.begin.milliseconds + (Moment.now().monotonic - startedAt).milliseconds)
    }

    private func act(_ act: (inout RealRun, WallTime) -> Void) {
        act(&run, now)
        // A handler may answer at once, which brings more effects.
        for effect in run.takeWork() { carryOut(effect) }
        guard let due = run.nextDue else { return timer?.disarm() ?? () }
        timer?.arm(at: instant(due).nanoseconds)
    }

    private func carryOut(_ effect: RouterEffect) {
        switch effect {
        case .start(var run):
            // The deadline is on the scenario's clock; the runner needs a monotonic time.
            run.deadline = instant(WallTime(milliseconds: run.deadline.nanoseconds / 1_000_000))
            handlers.runner.start(run)
        case .terminate(let id): handlers.runner.terminate(id)
        case .stop(let id): handlers.runner.stop(id)
        case .load, .decided, .breaker, .publishEnded: preconditionFailure("work is about handlers")
        }
    }

    private func instant(_ time: WallTime) -> Instant {
        startedAt + .milliseconds(time.milliseconds - run.begin.milliseconds)
    }
}
