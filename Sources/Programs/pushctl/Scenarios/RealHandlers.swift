import EventLoop
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouting
import PushSettings

/// Runs a scenario against the real handlers of a configuration, by the wall clock.
final class RealHandlers {
    private let handlers: HandlerLoop
    private let startedAt: Instant
    private var run: RealRun
    private var timer: TimerSource?

    /// - Parameters:
    ///   - run: the scenario, before its first line.
    ///   - bridgeCommand: says how the program of a bridge is started; `nil`: it is not installed.
    ///   - log: takes the entries that the daemon would write to the journal.
    init(_ run: RealRun, bridgeCommand: @escaping (Bridge) -> Handler.Command?, log: @escaping (String) -> Void) throws
    {
        handlers = try HandlerLoop(bridgeCommand: bridgeCommand, log: log)
        self.run = run
        startedAt = Moment.now().monotonic
        timer = try TimerSource(loop: handlers.loop, priority: .important) { [unowned self] in
            act { $0.advance(to: $1) }
        }
        try handlers.runner.begin(reportingTo: { [unowned self] event in
            // A run began before it was told, by another clock.
            if case .started(let id, _) = event {
                act { $0.report(.started(id), at: $1) }
            } else {
                act { $0.report(event, at: $1) }
            }
        })
    }

    /// Runs the scenario to its last line, and ends the handlers that are left.
    ///
    /// - Returns: the checks and warnings.
    /// - Throws: an error of the loop.
    func result() throws -> ScenarioResult {
        act { $0.advance(to: $1) }
        try handlers.wait { [unowned self] in run.isDone }
        // Nobody waits for these any more.
        handlers.runner.stopAll()
        try handlers.end()
        return run.result
    }

    /// Ends the handlers that are left now, for a program that ends.
    func endAtOnce() { handlers.endAtOnce() }

    /// The scenario's clock: its first time, and the time since.
    private var now: WallTime {
        WallTime(milliseconds: run.begin.milliseconds + (Moment.now().monotonic - startedAt).milliseconds)
    }

    private func act(_ act: (inout RealRun, WallTime) -> Void) {
        act(&run, now)
        // A handler may answer at once, and with that comes more.
        for effect in run.takeWork() { carryOut(effect) }
        guard let due = run.nextDue else { return timer?.disarm() ?? () }
        timer?.arm(at: instant(due).nanoseconds)
    }

    private func carryOut(_ effect: RouterEffect) {
        switch effect {
        case .start(var run):
            // The scenario's clock counts from another beginning.
            run.deadline = instant(WallTime(milliseconds: run.deadline.nanoseconds / 1_000_000))
            handlers.runner.start(run)
        case .terminate(let id): handlers.runner.terminate(id)
        case .stop(let id): handlers.runner.stop(id)
        case .load, .decided, .breaker: preconditionFailure("work is about handlers")
        }
    }

    private func instant(_ time: WallTime) -> Instant {
        startedAt + .milliseconds(time.milliseconds - run.begin.milliseconds)
    }
}
