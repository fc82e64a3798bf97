public import EventLoop
import HandlerProcess
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
    private let instances: InstanceRuns
    private let sweeper: OrphanSweeper
    private let starter: ProgramStarter

    /// How many invocations run, and how many programs of them are not reaped.
    public var count: Int { programs.count + instances.runCount }
    /// How many processes there are, or will be, that were started by the daemon.
    public var processCount: Int { programs.count + instances.processCount }
    /// Whether programs or connections that stay are left.
    public var hasInstances: Bool { instances.hasInstances }

    /// Whether what runs have left behind is still being ended.
    public var endsLeftovers: Bool { sweeper.keepsDaemon }

    /// - Parameters:
    ///   - loop: the loop; everything but the start itself happens on it.
    ///   - stateID: what marks the processes of this state directory.
    ///   - descriptorLimit: the soft limit of open files that programs get.
    ///   - log: takes what an operator must know.
    ///   - observe: takes what is seen of runs; `nil`: nobody looks.
    /// - Throws: when the system has no descriptor left, or does not list the children of a process.
    public init(
        loop: EventLoop, stateID: UUID128, descriptorLimit: UInt64?, log: @escaping (JournalEntry) -> Void,
        observe: RunObserver? = nil
    ) throws {
        starter = try ProgramStarter(loop: loop, stateID: stateID, descriptorLimit: descriptorLimit)
        sweeper = try OrphanSweeper(loop: loop, log: log)
        let system = InstanceSystem(loop: loop, starter: starter, sweeper: sweeper, log: log, observe: observe)
        programs = ProgramRuns(system)
        instances = InstanceRuns(system)
    }

    /// Begins to watch what is started.
    ///
    /// - Parameter report: takes what happens to a run; to be there before the first.
    public func begin(reportingTo report: @escaping (RouterEvent) -> Void) throws(SystemError) {
        programs.begin(reportingTo: report)
        instances.begin(reportingTo: report)
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
        case .worker, .socket: instances.start(run, at: now)
        case .journal, .discard: preconditionFailure("the router answers for built-in handlers itself")
        }
    }

    /// Sends the run SIGTERM. What answers by lines has no signal for one invocation.
    public func terminate(_ invocation: InvocationID) { programs.terminate(invocation) }

    /// Ends the run now, with everything that it started.
    ///
    /// - Returns: what it wrote to standard error; `nil`: nothing, or nobody can tell whose it was.
    @discardableResult
    public func stop(_ invocation: InvocationID) -> ErrorOutput? {
        let (isOurs, output) = programs.stop(invocation)
        return isOurs ? output : instances.stop(invocation)
    }

    /// The handlers of the configuration are these now. Instances of others end as soon as they have nothing to do.
    public func reconfigured(_ handlers: some Collection<Handler>) { instances.reconfigured(handlers) }

    /// Ends instances as soon as they have nothing to do; nothing is started any more.
    public func endInstances() { instances.reconfigured([]) }

    /// Ends every run now: nobody would hear what it says.
    public func stopAll() {
        programs.stopAll()
        instances.stopAll()
        sweeper.sweep(isLast: true)
    }
}
