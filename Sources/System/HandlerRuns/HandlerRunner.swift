public import EventLoop
public import HandlerProcess
public import JournalLog
public import LinuxSystem
public import PushModel
public import PushRouting

/// Runs handlers, and tells of what becomes of them by events.
public protocol HandlerRunning: AnyObject {
    /// How many runs there are that have not ended.
    var count: Int { get }
    /// Starts a run, unless its time is up.
    func start(_ run: HandlerRun)
    /// Reports the start of each program that may run though that is not known yet, and whose time is up: before the clock
    /// decides that it has missed its deadline.
    func tellStarts(due now: Instant)
    /// Tells the run that its time is nearly up.
    func terminate(_ invocation: InvocationID)
    /// Ends the run now, with everything that it started.
    ///
    /// - Returns: what it wrote to standard error; `nil`: nothing, or nobody can tell whose it was.
    func stop(_ invocation: InvocationID) -> ErrorOutput?
}

/// Runs handlers: gives each invocation to what its handler's kind is run by, and ends it when told to.
public final class HandlerRunner: HandlerRunning {
    private let programs: ProgramRuns
    let instances: InstanceRuns
    private let notifications: NotificationRuns
    private let sweeper: OrphanSweeper
    private let starter: ProgramStarter
    private let cgroups: RunCgroups?
    private let log: (JournalEntry) -> Void

    /// How many invocations run, and how many programs of them are not reaped.
    public var count: Int { programs.count + instances.runCount + notifications.count }
    /// How many processes there are, or will be, that were started by the daemon.
    public var processCount: Int { programs.count + instances.processCount }
    /// How many processes that runs left behind the daemon has adopted and not reaped.
    public var adoptedCount: Int { sweeper.adoptedCount }
    /// Whether programs or connections that stay are left.
    public var hasInstances: Bool { instances.hasInstances }

    /// Whether what runs have left behind is still being ended.
    public var endsLeftovers: Bool {
        cgroups?.removeFree()
        return sweeper.keepsDaemon { [cgroups] in cgroups?.hasLeaving == true }
    }

    /// - Parameters:
    ///   - loop: the loop; everything but the start itself happens on it.
    ///   - owner: what marks the processes of this state directory; has no colon.
    ///   - descriptorLimit: the soft limit of open files that programs get.
    ///   - cgroups: where each program gets one; `nil`: what a run starts is known by process group and mark.
    ///   - bridgeCommand: says how the program of a bridge is started where that is no service; `nil`: it is not installed.
    ///   - log: takes what an operator must know.
    ///   - observe: takes what is seen of runs; `nil`: nobody looks.
    /// - Throws: when the system has no descriptor left, or does not list the children of a process.
    public init(
        loop: EventLoop, owner: String, descriptorLimit: UInt64?, cgroups: RunCgroups? = nil,
        bridgeCommand: @escaping (Bridge) -> Handler.Command?, log: @escaping (JournalEntry) -> Void,
        observe: RunObserver? = nil
    ) throws {
        self.cgroups = cgroups
        self.log = log
        starter = try ProgramStarter(loop: loop, owner: owner, descriptorLimit: descriptorLimit, cgroups: cgroups)
        // Where each run has a cgroup, what gets away from it need not become the daemon's child.
        sweeper = OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: cgroups == nil), log: log)
        let system = try InstanceSystem(
            loop: loop, starter: starter, sweeper: sweeper, log: log, observe: observe)
        programs = ProgramRuns(system)
        instances = InstanceRuns(system, bridgeCommand: bridgeCommand)
        notifications = NotificationRuns(system)
    }

    /// Begins to watch what is started.
    ///
    /// - Parameters:
    ///   - report: takes what happens to a run; to be there before the first.
    ///   - act: takes what a person does with a notification that was shown, at any time after its run; `nil`: nobody asks.
    ///   - request: takes a line that a bridge wrote as a request, and the name of its handler; `nil`: nobody asks.
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

    /// Starts a run, unless its time is up: then the router knows already.
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

    /// Reports the start of each program that may run though that is not known yet, and whose time is up. What answers by lines
    /// says itself that it has its line.
    public func tellStarts(due now: Instant) { programs.tellStarts(due: now) }

    /// Sends the run SIGTERM. What answers by lines has no signal for one invocation.
    public func terminate(_ invocation: InvocationID) { programs.terminate(invocation) }

    /// Ends the run now, with everything that it started.
    ///
    /// - Returns: what it wrote to standard error; `nil`: nothing, or nobody can tell whose it was.
    @discardableResult
    public func stop(_ invocation: InvocationID) -> ErrorOutput? {
        let (isOurs, output) = programs.stop(invocation)
        if isOurs { return output }
        notifications.stop(invocation)
        return instances.stop(invocation)
    }

    /// The handlers of the configuration are these now. Instances of others end as soon as they have nothing to do.
    public func reconfigured(_ handlers: some Collection<Handler>) {
        starter.forgetUsers()
        prepareConfinement(of: handlers, in: cgroups, log: log)
        instances.reconfigured(handlers)
        notifications.reconfigured(handlers)
    }

    /// Ends instances as soon as they have nothing to do; nothing is started any more.
    public func endInstances() { instances.reconfigured([]) }

    /// Ends every run now with all that it started, and waits until that is gone, a second at most: for a loop that takes no
    /// further turn.
    public func endAll() {
        stopAll()
        sweeper.endAll()
    }

    /// Ends every run now: nobody would hear what it says. What is being started is waited for, and ended too.
    public func stopAll() {
        programs.stopAll()
        instances.stopAll()
        notifications.stopAll()
        starter.finishStarts()
        cgroups?.killAll()
        sweeper.sweep(isLast: true)
    }
}
