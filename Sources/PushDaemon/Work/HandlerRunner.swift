import EventLoop
import Glibc
import HandlerProcess
import JournalLog
import LinuxSystem
import PushModel
import PushRouting

/// Runs handlers, and tells of what becomes of them by events.
protocol HandlerRunning: AnyObject {
    /// How many runs there are that have not ended.
    var count: Int { get }
    /// Starts a run, unless its time is up.
    func start(_ run: HandlerRun)
    /// Tells the run that its time is nearly up.
    func terminate(_ invocation: InvocationID)
    /// Ends the run now, with everything that it started.
    func stop(_ invocation: InvocationID)
}

/// Runs `exec` handlers: starts them off the loop, watches them on it, ends them when told to.
final class HandlerRunner: HandlerRunning {
    /// One run, from the request to start it until its process is reaped.
    private final class Run {
        let invocation: InvocationID
        var child: ChildProcess?
        var exitSource: IOSource?
        var outputSource: IOSource?
        var output: [UInt8] = []
        /// Bytes of output beyond what is kept.
        var outputDiscarded = 0
        /// Nothing that it says counts any more.
        var isStopped = false

        init(_ invocation: InvocationID) { self.invocation = invocation }
    }

    private let loop: EventLoop
    private let stateID: UUID128
    private let pool: SpawnPool
    private let mailbox: Mailbox<SpawnResult>
    private let journal: JournalWriter
    private var report: (Event) -> Void = { _ in preconditionFailure("a handler runs before anybody listens") }
    private var spawned: IOSource?
    private var orphans: OrphanReaper
    private var orphanSource: SignalSource?
    private var orphanTimer: TimerSource?

    /// Said once each.
    private var untouchable: Set<Int32> = []
    private var nextToken: UInt64 = 0
    private var runs: [UInt64: Run] = [:]
    private var tokens: [InvocationID: UInt64] = [:]

    /// How many processes there are, or will be.
    var count: Int { runs.count }

    /// - Parameters:
    ///   - loop: the loop; everything but the start itself happens on it.
    ///   - stateID: what marks the processes of this state directory.
    ///   - journal: takes what an operator must know.
    init(loop: EventLoop, stateID: UUID128, journal: JournalWriter) throws {
        self.loop = loop
        self.stateID = stateID
        self.journal = journal
        let mailbox = try Mailbox<SpawnResult>()
        self.mailbox = mailbox
        pool = SpawnPool(threads: 2) { mailbox.post($0) }
        orphans = try OrphanReaper()
    }

    /// Begins to watch what is started.
    ///
    /// - Parameter report: takes what happens to a run; to be there before the first.
    func begin(reportingTo report: @escaping (Event) -> Void) throws(SystemError) {
        self.report = report
        spawned = try mailbox.receive(on: loop, priority: .important) { [unowned self] results in
            results.forEach(wasSpawned)
        }
        orphanSource = try SignalSource(loop: loop, signal: SIGCHLD) { [unowned self] in sweepOrphans() }
        orphanTimer = try TimerSource(loop: loop) { [unowned self] in sweepOrphans() }
    }

    /// Starts a run, unless its time is up: then the router knows already.
    func start(_ run: HandlerRun) {
        let now = Moment.now()
        guard now.monotonic < run.deadline else { return }
        switch run.handler.kind {
        case .exec(let command):
            nextToken += 1
            runs[nextToken] = Run(run.invocation.id)
            tokens[run.invocation.id] = nextToken
            pool.submit(processCommand(command, run, at: now), token: nextToken)
        case .journal, .discard: preconditionFailure("the router answers for built-in handlers itself")
        }
    }

    /// Sends the run SIGTERM.
    func terminate(_ invocation: InvocationID) {
        guard let token = tokens[invocation] else { return }
        runs[token]?.child?.terminateGroup()
    }

    /// Ends the run now, with everything that it started.
    func stop(_ invocation: InvocationID) {
        guard let token = tokens.removeValue(forKey: invocation), let run = runs[token] else { return }
        run.isStopped = true
        if run.child == nil, pool.cancel(token) { return forget(run, token) }
        run.child?.killGroup()
        sweepOrphans()
    }

    /// Ends every run now: nobody would hear what it says.
    func stopAll() {
        for invocation in Array(tokens.keys) { stop(invocation) }
    }

    private func processCommand(_ command: Handler.Command, _ run: HandlerRun, at now: Moment) -> ProcessCommand {
        var environment = command.environment
        if environment["PATH"] == nil {
            environment["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        }
        for (name, value) in HandlerInput.environment(run, at: now) { environment[name] = value }
        return ProcessCommand(
            arguments: command.arguments, environment: environment.map { "\($0.key)=\($0.value)" },
            workingDirectory: command.workingDirectory ?? "/",
            standardInput: HandlerInput.object(run, at: now),
            mark: HandlerInput.mark(run.invocation.id, state: stateID))
    }

    private func wasSpawned(_ result: SpawnResult) {
        guard let run = runs[result.token] else { preconditionFailure("a process started that nobody asked for") }
        switch result.outcome {
        case .failure(let error):
            forget(run, result.token)
            if !run.isStopped { report(.failedToStart(run.invocation, reason: error.description)) }
        case .success(let child):
            run.child = child
            if run.isStopped { child.killGroup() }
            watch(run, child, result.token)
            guard !run.isStopped else { return }
            report(.started(run.invocation, at: Instant(nanoseconds: child.startedAt)))
        }
    }

    private func watch(_ run: Run, _ child: ChildProcess, _ token: UInt64) {
        do {
            run.exitSource = try IOSource(loop: loop, descriptor: child.pidfd, interest: .read, priority: .important) {
                [unowned self] _ in finish(run, child, token)
            }
            run.outputSource = try IOSource(loop: loop, descriptor: child.standardOutput, interest: .read) { _ in
                if Self.readOutput(of: child, into: run).hasEnded { run.outputSource = nil }
            }
        } catch {
            // Without a descriptor to watch it by it could not be ended in time.
            child.killGroup()
            if run.exitSource == nil { preconditionFailure("cannot watch a handler's process: \(error)") }
        }
    }

    private static func readOutput(of child: ChildProcess, into run: Run) -> OutputProgress {
        let progress = child.readOutput(into: &run.output)
        run.outputDiscarded += progress.discarded
        return progress
    }

    private func finish(_ run: Run, _ child: ChildProcess, _ token: UInt64) {
        guard let status = child.reap() else { return }
        _ = Self.readOutput(of: child, into: run)
        forget(run, token)
        sweepOrphans()
        guard !run.isStopped else { return }
        switch status {
        case .exited(let code):
            let reply =
                HandlerAnswer.Reply(standardOutput: run.output, discarded: run.outputDiscarded) ?? HandlerAnswer.Reply()
            report(.finished(run.invocation, HandlerAnswer(exitStatus: code, reply: reply)))
        case .signaled(let signal):
            report(.finished(run.invocation, .signaled(signal)))
        }
    }

    private func forget(_ run: Run, _ token: UInt64) {
        run.exitSource = nil
        run.outputSource = nil
        runs[token] = nil
        if tokens[run.invocation] == token { tokens[run.invocation] = nil }
    }

    /// Ends and reaps what got away from its run and became ours.
    private func sweepOrphans() {
        let sweep = orphans.sweep()
        for process in sweep.untouchable where untouchable.insert(process).inserted {
            let message = "process \(process), which a handler started, may not be ended: it runs as another user"
            journal.log(JournalEntry(.error, message))
        }
        // Some could not be told apart yet, in the middle of an execve; or were killed and are not dead yet.
        if sweep.undecided + sweep.killed > 0 { orphanTimer?.arm(at: EventLoop.nowNanoseconds + 2_000_000) }
    }
}
