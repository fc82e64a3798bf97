import EventLoop
import HandlerProcess
import LinuxSystem
import PushModel
import PushRouting

/// Runs `exec` handlers: starts them off the loop, watches them on it, ends them when told to.
final class ProgramRuns {
    /// One run, from the request to start it until its process is reaped.
    private final class Run {
        let invocation: InvocationID
        /// The handler's name.
        let name: String
        /// Whether what it writes to standard error goes into the journal.
        let isLogged: Bool
        var child: ChildProcess?
        var exitWatch: ExitWatch?
        var outputSource: IOSource?
        var errors: ErrorLines?
        var output: [UInt8] = []
        /// Bytes of output beyond what is kept.
        var outputDiscarded = 0
        /// Nothing that it says counts any more.
        var isStopped = false

        init(_ invocation: InvocationID, _ name: String, isLogged: Bool) {
            self.invocation = invocation
            self.name = name
            self.isLogged = isLogged
        }
    }

    private let system: InstanceSystem
    private var report: (RouterEvent) -> Void = { _ in preconditionFailure("a handler runs before anybody listens") }
    private var nextToken: UInt64 = 0
    private var runs: [UInt64: Run] = [:]
    private var tokens: [InvocationID: UInt64] = [:]

    /// How many processes there are, or will be.
    var count: Int { runs.count }

    /// - Parameter system: what runs work with.
    init(_ system: InstanceSystem) { self.system = system }

    /// - Parameter report: takes what happens to a run.
    func begin(reportingTo report: @escaping (RouterEvent) -> Void) { self.report = report }

    /// Starts a run.
    func start(_ run: HandlerRun, _ command: Handler.Command, at now: Moment) {
        nextToken += 1
        runs[nextToken] = Run(run.invocation.id, run.handler.name, isLogged: command.logsOutput)
        tokens[run.invocation.id] = nextToken
        let input = HandlerInput.object(run, at: now)
        system.observe?(.given(input))
        system.starter.start(
            command, facts: HandlerInput.environment(run, at: now),
            streams: .once(input: input, readsErrors: true),
            mark: HandlerInput.mark(run.invocation.id, owner: system.starter.owner), token: nextToken,
            deadline: run.deadline)
    }

    /// Sends the run SIGTERM.
    func terminate(_ invocation: InvocationID) {
        guard let token = tokens[invocation] else { return }
        runs[token]?.child?.terminateGroup()
    }

    /// Ends the run now, with everything that it started.
    ///
    /// - Returns: whether there is one, and what it wrote to standard error.
    @discardableResult
    func stop(_ invocation: InvocationID) -> (isOurs: Bool, output: ErrorOutput?) {
        guard let token = tokens.removeValue(forKey: invocation), let run = runs[token] else { return (false, nil) }
        run.isStopped = true
        if run.child == nil, system.starter.cancel(token) {
            forget(run, token)
            return (true, nil)
        }
        let output = run.errors?.handOver(to: invocation)
        run.child?.killGroup()
        system.sweeper.sweep()
        return (true, output)
    }

    /// Ends every run now.
    func stopAll() {
        for invocation in Array(tokens.keys) { stop(invocation) }
    }

    /// Takes in what became of a start.
    func wasSpawned(_ result: SpawnResult) {
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
            run.exitWatch = try ExitWatch(child, on: system.loop) { [unowned self] in finish(run, child, token, $0) }
            run.outputSource = try IOSource(loop: system.loop, descriptor: child.standardOutput, interest: .read) { _ in
                if Self.readOutput(of: child, into: run).hasEnded { run.outputSource = nil }
            }
            if let errors = child.takeErrors() {
                run.errors = try ErrorLines(
                    errors, of: run.name, for: run.invocation, isLogged: run.isLogged, system)
            }
        } catch {
            // Without a descriptor to watch it by it could not be ended in time.
            child.killGroup()
            if run.exitWatch == nil { preconditionFailure("cannot watch a handler's process: \(error)") }
        }
    }

    private static func readOutput(of child: ChildProcess, into run: Run) -> OutputProgress {
        let progress = child.readOutput(into: &run.output)
        run.outputDiscarded += progress.discarded
        return progress
    }

    private func finish(_ run: Run, _ child: ChildProcess, _ token: UInt64, _ status: ExitStatus) {
        _ = Self.readOutput(of: child, into: run)
        let errors = forget(run, token)
        system.sweeper.sweep()
        system.observe?(.output(run.output, discarded: run.outputDiscarded))
        guard !run.isStopped else { return }
        system.observe?(.ended(status))
        var facts = RunFacts(output: errors)
        if case .exited(let code) = status { facts.status = Int(code) }
        if facts.isWorthTelling { report(.observed(run.invocation, facts)) }
        switch status {
        case .exited(let code):
            let reply =
                HandlerAnswer.Content(standardOutput: run.output, discarded: run.outputDiscarded)
                ?? HandlerAnswer.Content()
            report(.finished(run.invocation, HandlerAnswer(exitStatus: code, content: reply)))
        case .signaled(let signal):
            report(.finished(run.invocation, .signaled(signal)))
        }
    }

    /// - Returns: what it wrote to standard error.
    @discardableResult
    private func forget(_ run: Run, _ token: UInt64) -> ErrorOutput? {
        run.exitWatch = nil
        run.outputSource = nil
        run.errors?.finish()
        let errors = run.errors?.handOver(to: nil)
        run.errors = nil
        runs[token] = nil
        if tokens[run.invocation] == token { tokens[run.invocation] = nil }
        return errors
    }
}
