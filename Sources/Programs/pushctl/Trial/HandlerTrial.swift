import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// Runs a handler on payloads, one after the other, with the daemon's router and runner.
final class HandlerTrial {
    private let handler: Handler
    private let table: RoutingTable
    private let peer = Peer(uid: getuid(), gid: getgid(), pid: getpid())
    private var handlers: HandlerLoop?
    private var router: Router
    private var effects = Effects()
    private var trial: Trial?
    private var request: Request?
    private var deadlineTimer: TimerSource?

    /// - Parameters:
    ///   - handler: a handler of the table.
    ///   - settings: the configuration.
    ///   - bridgeCommand: finds the command of a bridge's program; `nil`: the program is not installed.
    init(_ handler: Handler, _ settings: Settings, bridgeCommand: @escaping (Bridge) -> Handler.Command?) throws {
        self.handler = handler
        table = settings.routing
        router = Router(
            boot: UUID128(high: 0, low: 0), table: settings.routing, tracker: settings.virtualTracker)
        // `unowned` is safe here and below: this object owns loop, timer and runner, which call nothing once they are
        // gone.
        let handlers = try HandlerLoop(
            bridgeCommand: bridgeCommand, log: { [unowned self] in trial?.note($0) },
            observe: { [unowned self] in trial?.take($0) })
        self.handlers = handlers
        deadlineTimer = try TimerSource(loop: handlers.loop, priority: .important) { [unowned self] in
            self.handlers?.runner.reportStarts(due: Moment.now().monotonic)
            handle(.clock)
        }
        try handlers.runner.begin { [unowned self] in handle($0) }
    }

    /// Runs the handler on a payload, to the end of its program.
    ///
    /// - Throws: `Refusal` for a payload that the daemon would refuse, or an error of the loop.
    func run(_ deliver: DeliverRequest, of request: Request, at place: String, _ plan: TrialPlan) throws -> Trial {
        trial = Trial(place: place, handler: handler, plan: plan)
        self.request = request
        let now = Moment.now()
        router.handle(.reconfigured(plan.applied(to: table)), at: now, effects: &effects)
        try router.submit(
            deliver, of: request, as: plan.callback, toRouteAt: 0, from: peer, at: now, effects: &effects)
        carryOut()
        try handlers?.wait { trial?.end != nil && handlers?.runner.count == 0 }
        guard let trial else { preconditionFailure("a trial ended before its time") }
        self.trial = nil
        return trial
    }

    /// Waits until a descriptor is readable. A signal meanwhile ends the handler's processes, too.
    func wait(forInput descriptor: Int32) throws {
        guard let handlers else { return }
        var isReadable = false
        let input = try SharedDescriptor(copying: descriptor)
        let source = try IOSource(loop: handlers.loop, descriptor: input, interest: .read) { _ in isReadable = true }
        try handlers.wait { isReadable }
        withExtendedLifetime(source) {}
    }

    /// Ends the rest: the programs of instances, and the processes that runs left behind.
    func end() throws { try handlers?.end() }

    /// Kills the rest at once, because the program ends.
    func endAtOnce() { handlers?.endAtOnce() }

    // MARK: The daemon's part

    private func handle(_ event: RouterEvent) {
        let now = Moment.now()
        note(event, at: now.monotonic)
        router.handle(event, at: now, effects: &effects)
        carryOut()
    }

    /// Records the facts of a run that an event has.
    private func note(_ event: RouterEvent, at now: Instant) {
        guard let last = trial?.attempts.indices.last else { return }
        switch event {
        case .started(_, let start):
            // A line that is given to another instance starts a second time.
            if trial?.attempts[last].began == nil { trial?.attempts[last].began = start ?? now }
        case .finished(_, let answer):
            guard trial?.attempts[last].wasStopped == false else { return }
            trial?.attempts[last].answer = answer
            trial?.attempts[last].ended = now
        case .failedToStart: trial?.attempts[last].began = nil
        case .observed, .clock, .reconfigured, .handingOver, .draining: break
        }
    }

    private func carryOut() {
        while !effects.list.isEmpty {
            for effect in effects.takeList() { carryOut(effect) }
        }
        if let due = router.nextDue { deadlineTimer?.arm(at: due.nanoseconds) } else { deadlineTimer?.disarm() }
    }

    private func carryOut(_ effect: RouterEffect) {
        switch effect {
        // A single run opens no breaker.
        case .breaker, .publishEnded: break
        case .start(let run): start(run)
        case .load(var run):
            if let request { run.complete(with: request, past: nil) }
            start(run)
        case .terminate(let id):
            if let last = trial?.attempts.indices.last { trial?.attempts[last].wasWarned = true }
            handlers?.runner.terminate(id)
        case .stop(let id):
            if let last = trial?.attempts.indices.last {
                trial?.attempts[last].wasStopped = true
                trial?.attempts[last].ended = Moment.now().monotonic
            }
            handlers?.runner.stop(id)
        case .decided(let end): trial?.end = end
        }
    }

    private func start(_ run: HandlerRun) {
        trial?.begin()
        handlers?.runner.start(run)
    }
}
