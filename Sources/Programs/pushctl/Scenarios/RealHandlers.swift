import EventLoop
import Glibc
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import PushSettings

/// Runs a scenario against the real handlers of a configuration, as the daemon does: by its runner, on a loop, by the wall
/// clock. There is no state directory, so nothing is written and nothing remembered.
final class RealHandlers {
    private let loop: EventLoop
    private let startedAt: Instant
    private let log: (String) -> Void
    private var run: RealRun
    private var runner: HandlerRunner?
    private var timer: TimerSource?
    private var signals: [SignalSource] = []
    /// The signal that ends the program.
    private var interruption: Int32?
    /// What the loop runs for.
    private var isDone: () -> Bool = { true }

    /// - Parameters:
    ///   - run: the scenario, before its first line.
    ///   - httpCommand: the program of `http` handlers; `nil`: it is not installed.
    ///   - log: takes what the daemon would write to the journal.
    init(_ run: RealRun, httpCommand: Handler.Command?, log: @escaping (String) -> Void) throws {
        // A handler that is not ended with us would outlive us: it has a process group of its own.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        StandardDescriptors.open()
        loop = try EventLoop()
        self.run = run
        self.log = log
        startedAt = Moment.now().monotonic
        let owner = UUID128(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
        let runner = try HandlerRunner(
            loop: loop, owner: owner.description, descriptorLimit: nil, httpCommand: httpCommand,
            log: { log($0.message) })
        self.runner = runner
        timer = try TimerSource(loop: loop, priority: .important) { [unowned self] in
            act { $0.advance(to: $1) }
        }
        signals = try [SIGTERM, SIGINT, SIGHUP].map { number in
            try SignalSource(loop: loop, signal: number) { [unowned self] in interrupt(number) }
        }
        try runner.begin(reportingTo: { [unowned self] event in
            // What began began before it was told, by another clock.
            if case .started(let id, _) = event {
                act { $0.report(.started(id), at: $1) }
            } else {
                act { $0.report(event, at: $1) }
            }
        })
        loop.endOfTurn = { [unowned self] in if isDone() { loop.exit(code: 0) } }
    }

    /// Runs the scenario to its last line, and ends what is left of the handlers.
    ///
    /// - Returns: what came of it.
    /// - Throws: what keeps the loop from going on.
    func result() throws -> ScenarioResult {
        act { $0.advance(to: $1) }
        try wait { [unowned self] in run.isDone }
        // What nobody waits for any more.
        runner?.stopAll()
        try end()
        return run.result
    }

    /// Ends what is left now, for a program that ends.
    func endAtOnce() { runner?.endAll() }

    /// Waits until all is ended that was started.
    private func end() throws {
        try wait { [unowned self] in
            guard let runner else { return true }
            if runner.hasInstances { runner.endInstances() }
            return !runner.hasInstances && runner.count == 0 && !runner.endsLeftovers
        }
    }

    /// Runs the loop until something holds; ends the program, with all that was started, when a signal asks for it.
    private func wait(until isDone: @escaping () -> Bool) throws {
        self.isDone = { [unowned self] in interruption != nil || isDone() }
        if !isDone() { _ = try loop.run() }
        guard let number = interruption else { return }
        interruption = nil
        try end()
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        raise(number)
        sigprocmask(SIG_UNBLOCK, &set, nil)
    }

    private func interrupt(_ number: Int32) {
        guard interruption == nil else { return }
        interruption = number
        runner?.stopAll()
    }

    /// The scenario's clock: its first time, and what has passed since.
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
            runner?.start(run)
        case .terminate(let id): runner?.terminate(id)
        case .stop(let id): runner?.stop(id)
        case .load, .decided, .breaker: preconditionFailure("work is about handlers")
        }
    }

    private func instant(_ time: WallTime) -> Instant {
        startedAt + .milliseconds(time.milliseconds - run.begin.milliseconds)
    }
}
