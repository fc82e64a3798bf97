import EventLoop
import Glibc
import HandlerRuns
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import PushSettings
import PushTracking

/// Runs a handler on payloads, one after the other, as the daemon does: by its router and its runner, on a loop. There is no
/// state directory, so nothing is written and nothing remembered.
final class HandlerTrial {
    private let loop: EventLoop
    private let handler: Handler
    private let table: RoutingTable
    private let peer = Peer(uid: getuid(), gid: getgid(), pid: getpid())
    private var runner: HandlerRunner?
    private var router: Router
    private var effects = Effects()
    private var trial: Trial?
    private var request: Request?
    private var deadlineTimer: TimerSource?
    private var signals: [SignalSource] = []
    /// The signal that ends the program.
    private var interruption: Int32?
    /// What the loop runs for.
    private var isDone: () -> Bool = { true }

    /// - Parameters:
    ///   - handler: one of the table's.
    ///   - settings: the configuration.
    ///   - httpCommand: the program of `http` handlers; `nil`: it is not installed.
    init(_ handler: Handler, _ settings: Settings, httpCommand: Handler.Command?) throws {
        // A handler that is not ended with us would outlive us: it has a process group of its own.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        StandardDescriptors.open()
        loop = try EventLoop()
        self.handler = handler
        table = settings.routing
        router = Router(
            boot: UUID128(high: 0, low: 0), table: settings.routing, tracker: settings.virtualTracker)
        let owner = UUID128(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
        let runner = try HandlerRunner(
            loop: loop, owner: owner.description, descriptorLimit: nil, httpCommand: httpCommand,
            log: { [unowned self] in trial?.note($0.message) },
            observe: { [unowned self] in trial?.take($0) })
        self.runner = runner
        deadlineTimer = try TimerSource(loop: loop, priority: .important) { [unowned self] in
            self.runner?.tellStarts(due: Moment.now().monotonic)
            handle(.clock)
        }
        signals = try [SIGTERM, SIGINT, SIGHUP].map { number in
            try SignalSource(loop: loop, signal: number) { [unowned self] in interrupt(number) }
        }
        try runner.begin { [unowned self] in handle($0) }
        loop.endOfTurn = { [unowned self] in if isDone() { loop.exit(code: 0) } }
    }

    /// Runs the handler on a payload, to the end of its program.
    ///
    /// - Throws: `Refusal` for a payload that the daemon would refuse, and what keeps the loop from going on.
    func run(_ deliver: DeliverRequest, of request: Request, at place: String, _ plan: TrialPlan) throws -> Trial {
        trial = Trial(place: place, handler: handler, plan: plan)
        self.request = request
        let now = Moment.now()
        router.handle(.reconfigured(plan.applied(to: table)), at: now, effects: &effects)
        try router.submit(
            deliver, of: request, as: plan.callback, toRouteAt: 0, from: peer, at: now, effects: &effects)
        carryOut()
        try wait { [unowned self] in trial?.end != nil && runner?.count == 0 }
        guard let trial else { preconditionFailure("a trial ended before its time") }
        self.trial = nil
        return trial
    }

    /// Waits until a descriptor can be read: a signal that comes meanwhile ends what there is of the handler, too.
    func wait(forInput descriptor: Int32) throws {
        var isReadable = false
        let input = try SharedDescriptor(copying: descriptor)
        let source = try IOSource(loop: loop, descriptor: input, interest: .read) { _ in isReadable = true }
        try wait { isReadable }
        withExtendedLifetime(source) {}
    }

    /// Ends what is left: programs that stay, and what runs left behind.
    func end() throws {
        try wait { [unowned self] in
            guard let runner else { return true }
            // A connection is gone at once, and nothing else would tell of it.
            if runner.hasInstances { runner.endInstances() }
            return !runner.hasInstances && runner.count == 0 && !runner.endsLeftovers
        }
    }

    /// Ends what is left now, for a program that ends.
    func endAtOnce() { runner?.endAll() }

    /// Runs the loop until something holds; ends the program, with all that was started, when a signal asks for it.
    private func wait(until isDone: @escaping () -> Bool) throws {
        self.isDone = isDone
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
        isDone = { true }
        runner?.stopAll()
    }

    // MARK: What the daemon does

    private func handle(_ event: RouterEvent) {
        let now = Moment.now()
        note(event, at: now.monotonic)
        router.handle(event, at: now, effects: &effects)
        carryOut()
    }

    /// Keeps what the report tells of a run.
    private func note(_ event: RouterEvent, at now: Instant) {
        guard let last = trial?.attempts.indices.last else { return }
        switch event {
        case .started(_, let start):
            // A line that is given to another instance starts again.
            if trial?.attempts[last].began == nil { trial?.attempts[last].began = start ?? now }
        case .finished(_, let answer):
            guard trial?.attempts[last].wasStopped == false else { return }
            trial?.attempts[last].answer = answer
            trial?.attempts[last].ended = now
        case .failedToStart: trial?.attempts[last].began = nil
        case .observed, .clock, .reconfigured, .draining: break
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
        // One run opens no breaker.
        case .breaker: break
        case .start(let run): start(run)
        case .load(var run):
            if let request { run.complete(with: request, past: nil) }
            start(run)
        case .terminate(let id):
            if let last = trial?.attempts.indices.last { trial?.attempts[last].wasWarned = true }
            runner?.terminate(id)
        case .stop(let id):
            if let last = trial?.attempts.indices.last {
                trial?.attempts[last].wasStopped = true
                trial?.attempts[last].ended = Moment.now().monotonic
            }
            runner?.stop(id)
        case .decided(let end): trial?.end = end
        }
    }

    private func start(_ run: HandlerRun) {
        trial?.begin()
        runner?.start(run)
    }
}
