public import HandlerProcess
public import LinuxSystem
public import PushModel
public import PushRouter

/// Runs handlers, and reports their progress as events.
public protocol HandlerRunning: AnyObject {
    /// The number of runs that have not ended.
    var count: Int { get }
    /// Starts a run, unless its deadline has passed.
    func start(_ run: HandlerRun)
    /// Reports programs as started whose start is not confirmed yet and whose deadline has passed, before the router
    /// decides that they missed it.
    func reportStarts(due now: Instant)
    /// Warns the run that its deadline is near.
    func terminate(_ invocation: InvocationID)
    /// Ends the run at once, with all processes that it started.
    ///
    /// - Returns: its output to standard error; `nil` if there is none, or if it cannot be attributed to one run.
    func stop(_ invocation: InvocationID) -> ErrorOutput?
}

/// Runs handlers: gives each invocation to the runner of its handler's kind, and ends it on request.
public final class HandlerRunner: HandlerRunning {
    private let programs: ProgramRuns
    let instances: InstanceRuns
    private let notifications: NotificationRuns
    private let sweeper: OrphanSweeper
    private let starter: ProgramStarter
    private let cgroups: RunCgroups?
    private let log: (JournalEntry) -> Void

    /// The number of running invocations and of their programs that are not reaped.
    public var count: Int { programs.count + instances.runCount + notifications.count }
    /// The number of processes that the daemon has started or will start.
    public var processCount: Int { programs.count + instances.processCount }
    /// The number of orphans of runs that the daemon has adopted and not reaped.
    public var adoptedCount: Int { sweeper.adoptedCount }
    /// Whether resident programs or connections are left.
    public var hasInstances: Bool { instances.hasInstances }

    /// Whether leftover processes of runs are still being ended.
    public var endsLeftovers: Bool {
        cgroups?.removeFree()
        return sweeper.keepsDaemon { [cgroups] in cgroups?.hasEndingCgroups == true }
    }

    /// - Parameters:
    ///   - loop: the loop, on which everything but the start itself happens.
    ///   - owner: the first part of the mark of this state directory's processes; has no colon.
    ///   - descriptorLimit: the soft limit of open files for programs.
    ///   - cgroups: makes a cgroup for each program; `nil` identifies the processes of a run by process group and mark.
    ///   - bridgeCommand: returns how to start the program of a bridge that is not a service; `nil` if it is not
    ///     installed.
    ///   - concealment: returns why this process does not see a path, on any thread; `nil`: nothing hides it.
    ///   - log: takes entries for the operator.
    ///   - observe: takes observations of runs; `nil` for none.
    /// - Throws: if the system has no descriptor left, or does not list the children of a process.
    public init(
        loop: EventLoop, owner: String, descriptorLimit: UInt64?, cgroups: RunCgroups? = nil,
        bridgeCommand: @escaping (Bridge) -> Handler.Command?,
        concealment: @escaping @Sendable (String) -> String? = { _ in nil }, log: @escaping (JournalEntry) -> Void,
        observe: RunObserver? = nil
    ) throws {
        self.cgroups = cgroups
        self.log = log
        starter = try ProgramStarter(
            loop: loop, owner: owner, descriptorLimit: descriptorLimit, cgroups: cgroups, concealment: concealment)
        // With a cgroup for each run, the daemon need not adopt escaped processes.
        sweeper = OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: cgroups == nil), log: log)
        let system = try InstanceSystem(
            loop: loop, starter: starter, sweeper: sweeper, log: log, observe: observe)
        programs = ProgramRuns(system)
        instances = InstanceRuns(system, bridgeCommand: bridgeCommand)
        notifications = NotificationRuns(system)
    }

    /// Begins to watch processes.
    ///
    /// - Parameters:
    ///   - report: takes the events of runs; must be set before the first run.
    ///   - act: takes a person's actions on a notification that was shown, at any time after its run; `nil` ignores
    ///     them.
    ///   - request: takes a line that a bridge wrote as a request, and the name of its handler; `nil` ignores them.
    public func begin(
        reportingTo report: @escaping (RouterEvent) -> Void, acting act: ((NotificationAct) -> Void)? = nil,
        requesting request: (([UInt8], _ handler: String) -> Void)? = nil
    ) throws(SystemError) {
        programs.begin(reportingTo: report)
        instances.begin(reportingTo: report) { request?($0, $1) }
        notifications.begin(reportingTo: report) { act?($0) }
        try starter.begin { [unowned self] result in
            if instances.owns(result.token) { instances.wasSpawned(result) } else { programs.wasSpawned(result) }
        }
        try sweeper.begin()
    }

    /// Starts a run, unless its deadline has passed: then the router knows already.
    public func start(_ run: HandlerRun) {
        let now = Moment.now()
        guard now.monotonic < run.deadline else { return }
        switch run.handler.kind {
        case .exec(let command): programs.start(run, command, at: now)
        case .worker, .socket, .bridge: instances.start(run, at: now)
        case .notify(let rules): notifications.start(run, rules)
        case .journal, .discard: preconditionFailure("the router answers for built-in handlers itself")
        }
    }

    /// Reports programs as started whose start is not confirmed yet and whose deadline has passed. A handler that
    /// answers by lines confirms its line itself.
    public func reportStarts(due now: Instant) { programs.reportStarts(due: now) }

    /// Sends SIGTERM to the run. A handler that answers by lines has no signal for one invocation.
    public func terminate(_ invocation: InvocationID) { programs.terminate(invocation) }

    /// Ends the run at once, with all processes that it started.
    ///
    /// - Returns: its output to standard error; `nil` if there is none, or if it cannot be attributed to one run.
    @discardableResult
    public func stop(_ invocation: InvocationID) -> ErrorOutput? {
        let (isOurs, output) = programs.stop(invocation)
        if isOurs { return output }
        notifications.stop(invocation)
        return instances.stop(invocation)
    }

    /// Takes the handlers of a new configuration. Instances of other handlers end as soon as they are idle.
    public func reconfigured(_ handlers: some Collection<Handler>) {
        starter.forgetUsers()
        prepareConfinement(of: handlers, in: cgroups, log: log)
        instances.reconfigured(handlers)
        notifications.reconfigured(handlers)
    }

    /// Ends instances as soon as they are idle, and starts no more.
    public func endInstances() { instances.reconfigured([]) }

    /// Ends every run at once with all processes that it started, and waits until these are gone, a second at most. For
    /// a loop that takes no further turn.
    public func endAll() {
        stopAll()
        sweeper.endAll()
    }

    /// Ends every run at once, without further reports. Waits for starts under way, and ends those programs, too.
    public func stopAll() {
        programs.stopAll()
        instances.stopAll()
        notifications.stopAll()
        starter.finishStarts()
        cgroups?.killAll()
        sweeper.sweep(isLast: true)
    }
}

/// An observation of a run, for `pushctl run-handler`. The daemon uses none.
public enum RunObservation: Sendable {
    /// The handler's input: the object on standard input, or a line.
    case given([UInt8])
    /// A handler that answers by lines wrote this line, which has no line feed.
    case line([UInt8])
    /// The standard output of an `exec` handler's program, and the number of further bytes.
    case output([UInt8], discarded: Int)
    /// The standard error of the program.
    case errors([UInt8])
    /// The program ended by itself.
    case ended(ExitStatus)
}

/// Takes observations of runs, on the loop.
public typealias RunObserver = (RunObservation) -> Void
