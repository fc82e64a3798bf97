import Glibc
import HandlerProcess
import LinuxSystem
import PushModel
import PushRouter

/// Runs `exec` handlers: starts their programs off the loop, watches them on it, and ends them on request.
final class ProgramRuns {
    /// One run, from the request to start it until its process is reaped.
    private final class Run {
        let invocation: InvocationID
        /// The handler's name.
        let name: String
        let command: Handler.Command
        /// The run; `nil` after its program is started.
        var pending: HandlerRun?
        /// Whether the limit of processes refused the start, which is tried again.
        var isRefused = false
        var child: ChildProcess?
        var exitWatch: ExitWatch?
        var outputSource: IOSource?
        var errors: ErrorLines?
        /// Whether its outputs are read as they come; a source of an output that has ended is gone.
        var isRead = false
        var output: [UInt8] = []
        /// The bytes of output beyond the limit.
        var outputDiscarded = 0
        /// Why its outputs could not be read, and it was killed; `nil` if they were.
        var readFailure: String?
        /// Whether it was stopped: then its answer does not count.
        var isStopped = false

        init(_ run: HandlerRun, _ command: Handler.Command) {
            invocation = run.invocation.id
            name = run.handler.name
            self.command = command
            pending = run
        }
    }

    /// The age at which a program is settled, in nanoseconds: most programs have ended before, and each system call for
    /// all of them adds to the cost of a short run. Settling sets oom_score_adj and begins to read the output, which
    /// the pipe holds until then.
    private static let settleAge: Int64 = 10_000_000
    /// The pause after a start that the limit of processes refused, in nanoseconds, and the number of starts after each
    /// pause.
    private static let refusedPause: Int64 = 50_000_000
    private static let refusedAtOnce = 16

    private let system: InstanceSystem
    private var report: (RouterEvent) -> Void = { _ in preconditionFailure("a handler runs before anybody listens") }
    private var nextToken: UInt64 = 0
    private var runs: [UInt64: Run] = [:]
    private var tokens: [InvocationID: UInt64] = [:]
    /// The deadlines of the runs whose start is not confirmed.
    private var starting: [UInt64: Instant] = [:]
    /// The runs that began a moment ago, each with the time to settle it, in monotonic nanoseconds.
    private var unsettled = Queue<(token: UInt64, due: Int64)>()
    private var settleTimer: TimerSource?
    /// The runs whose start the limit of processes refused, in order. Each is tried again until its deadline.
    private var refused = Queue<UInt64>()
    private var refusedTimer: TimerSource?

    /// The number of present and future processes.
    var count: Int { runs.count }

    /// - Parameter system: the services for runs.
    init(_ system: InstanceSystem) { self.system = system }

    /// - Parameter report: takes the events of runs.
    func begin(reportingTo report: @escaping (RouterEvent) -> Void) { self.report = report }

    /// Starts a run.
    func start(_ run: HandlerRun, _ command: Handler.Command, at now: Moment) {
        nextToken += 1
        runs[nextToken] = Run(run, command)
        tokens[run.invocation.id] = nextToken
        // A separate statement: without an observer, the argument of the call would not be evaluated, and nothing would
        // start.
        let input = start(run, command, nextToken, at: now)
        system.observe?(.given(input))
    }

    /// - Returns: the program's input.
    @discardableResult
    private func start(_ run: HandlerRun, _ command: Handler.Command, _ token: UInt64, at now: Moment) -> [UInt8] {
        starting[token] = run.deadline
        let input = HandlerInput.object(run, at: now)
        system.starter.start(
            command, facts: HandlerInput.environment(run, at: now),
            streams: .once(input: input, readsErrors: true),
            mark: HandlerInput.mark(run.invocation.id, owner: system.starter.owner), token: token,
            deadline: run.deadline)
        return input
    }

    /// Reports programs as started whose start is not confirmed and whose deadline has passed. A program that no thread
    /// has taken by its deadline is never started.
    func reportStarts(due now: Instant) {
        for (token, deadline) in starting where deadline <= now && !system.starter.isWaiting(token) {
            starting[token] = nil
            if let run = runs[token], !run.isStopped { report(.started(run.invocation)) }
        }
    }

    /// Sends SIGTERM to the run.
    func terminate(_ invocation: InvocationID) {
        guard let token = tokens[invocation] else { return }
        runs[token]?.child?.terminateGroup()
    }

    /// Ends the run at once, with all processes that it started.
    ///
    /// - Returns: whether there is one, and its output to standard error.
    @discardableResult
    func stop(_ invocation: InvocationID) -> (isOurs: Bool, output: ErrorOutput?) {
        guard let token = tokens.removeValue(forKey: invocation), let run = runs[token] else { return (false, nil) }
        run.isStopped = true
        if run.child == nil, run.isRefused || system.starter.cancel(token) {
            forget(run, token)
            return (true, nil)
        }
        let output = run.errors?.handOver(to: invocation)
        run.child?.killGroup()
        system.sweeper.sweep()
        return (true, output)
    }

    /// Ends every run at once.
    func stopAll() {
        for invocation in Array(tokens.keys) { stop(invocation) }
    }

    /// Takes the result of a start.
    func wasSpawned(_ result: SpawnResult) {
        guard let run = runs[result.token] else { preconditionFailure("a process started that nobody asked for") }
        starting[result.token] = nil
        switch result.outcome {
        case .failure(let error):
            if error.code == EAGAIN, !run.isStopped, tryLater(run, result.token) { return }
            forget(run, result.token)
            if !run.isStopped { report(.failedToStart(run.invocation, reason: error.description)) }
        case .success(let child):
            run.child = child
            run.pending = nil
            if run.isStopped { child.killGroup() }
            watch(run, child, result.token)
            guard !run.isStopped else { return }
            report(.started(run.invocation, at: Instant(nanoseconds: child.startedAt)))
        }
    }

    /// - Returns: whether there is time left before the deadline.
    private func tryLater(_ run: Run, _ token: UInt64) -> Bool {
        guard let deadline = run.pending?.deadline.nanoseconds,
            EventLoop.nowNanoseconds + Self.refusedPause < deadline
        else { return false }
        do throws(SystemError) {
            if refusedTimer == nil {
                // Unowned: this object owns the timer, which makes no call after its release.
                refusedTimer = try TimerSource(loop: system.loop) { [unowned self] in tryRefused() }
            }
        } catch {
            return false
        }
        if refused.isEmpty { refusedTimer?.arm(at: EventLoop.nowNanoseconds + Self.refusedPause) }
        refused.append(token)
        run.isRefused = true
        return true
    }

    private func tryRefused() {
        for _ in 0..<Self.refusedAtOnce {
            guard let token = refused.popFirst() else { break }
            // The run may have reached its deadline meanwhile.
            guard let run = runs[token], let pending = run.pending else { continue }
            run.isRefused = false
            start(pending, run.command, token, at: .now())
        }
        if !refused.isEmpty { refusedTimer?.arm(at: EventLoop.nowNanoseconds + Self.refusedPause) }
    }

    private func watch(_ run: Run, _ child: ChildProcess, _ token: UInt64) {
        run.exitWatch = ExitWatch(child, system) { [unowned self] in finish(run, child, token, $0) }
        if let errors = child.takeErrors() {
            run.errors = ErrorLines(errors, of: run.name, for: run.invocation, isLogged: run.command.logsOutput, system)
        }
        unsettled.append((token, EventLoop.nowNanoseconds + Self.settleAge))
        if unsettled.count == 1 { armSettling() }
    }

    private func armSettling() {
        guard let due = unsettled.first?.due else { return }
        do throws(SystemError) {
            if settleTimer == nil { settleTimer = try TimerSource(loop: system.loop) { [unowned self] in settle() } }
            settleTimer?.arm(at: due)
        } catch {
            preconditionFailure("cannot make a timer: \(error)")
        }
    }

    /// Sets oom_score_adj of the programs that are old enough, and begins to read their output.
    private func settle() {
        let now = EventLoop.nowNanoseconds
        while let (token, due) = unsettled.first, due <= now {
            _ = unsettled.popFirst()
            guard let run = runs[token], let child = run.child else { continue }
            if !child.settle() { unsettled.append((token, now + Self.settleAge)) }
            readOutputs(of: run, child)
        }
        armSettling()
    }

    private func readOutputs(of run: Run, _ child: ChildProcess) {
        guard !run.isStopped, !run.isRead, let output = child.standardOutput else { return }
        run.isRead = true
        do throws(SystemError) {
            run.outputSource = try IOSource(loop: system.loop, descriptor: output, interest: .read) {
                [unowned self] _ in
                if readOutput(of: child, into: run).hasEnded { run.outputSource = nil }
            }
            try run.errors?.begin()
        } catch {
            // Nothing would read its output, and it might block for ever.
            run.readFailure = "its output cannot be read: \(error)"
            child.killGroup()
        }
    }

    private func readOutput(of child: ChildProcess, into run: Run) -> OutputProgress {
        let progress = child.readOutput(into: &run.output, using: system.buffer.storage)
        run.outputDiscarded += progress.discarded
        return progress
    }

    private func finish(_ run: Run, _ child: ChildProcess, _ token: UInt64, _ status: ExitStatus) {
        _ = readOutput(of: child, into: run)
        let errors = forget(run, token)
        system.sweeper.sweep()
        if let failure = child.startFailure {
            if !run.isStopped { report(.failedToStart(run.invocation, reason: failure.description)) }
            return
        }
        system.observe?(.output(run.output, discarded: run.outputDiscarded))
        guard !run.isStopped else { return }
        system.observe?(.ended(status))
        var facts = RunFacts(output: errors, hasLeftProcesses: child.hasLeftProcesses)
        if case .exited(let code) = status { facts.status = Int(code) }
        if facts.isWorthTelling { report(.observed(run.invocation, facts)) }
        switch status {
        case .exited(let code):
            let answer = HandlerAnswer(
                exitStatus: code, output: run.output, discarded: run.outputDiscarded, errors: errors)
            report(.finished(run.invocation, answer))
        case .signaled(let signal):
            report(.finished(run.invocation, run.readFailure.map { .lost(reason: $0) } ?? .signaled(signal)))
        }
    }

    /// - Returns: its output to standard error.
    @discardableResult
    private func forget(_ run: Run, _ token: UInt64) -> ErrorOutput? {
        run.exitWatch = nil
        run.outputSource = nil
        run.errors?.finish()
        let errors = run.errors?.handOver(to: nil)
        run.errors = nil
        runs[token] = nil
        starting[token] = nil
        if tokens[run.invocation] == token { tokens[run.invocation] = nil }
        return errors
    }
}

/// Watches a child, reports its exit status once, when it is reaped, and keeps the child until then.
///
/// A timer polls a child whose pidfd cannot be watched. It also polls a child whose exit a tracer (ptrace) has not
/// released yet: its pidfd would stay readable, and the source would take all of the loop's time.
final class ExitWatch {
    /// The interval of the polls, in nanoseconds.
    private static let pause: Int64 = 20_000_000

    private let child: ChildProcess
    private let loop: EventLoop
    private let take: (ExitStatus) -> Void
    private var source: IOMember?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - child: the child.
    ///   - system: the services for runs.
    ///   - take: gets the exit status; may release this object.
    init(_ child: ChildProcess, _ system: InstanceSystem, take: @escaping (ExitStatus) -> Void) {
        self.child = child
        loop = system.loop
        self.take = take
        do throws(SystemError) {
            // Unowned: this object owns the source, which makes no call after its release.
            source = try IOMember(of: system.exits, descriptor: child.pidfd, interest: .read) {
                [unowned self] _ in check()
            }
        } catch {
            scheduleCheck()
        }
    }

    private func check() {
        if let status = child.reap() { return take(status) }
        source?.interest = []
        scheduleCheck()
    }

    private func scheduleCheck() {
        do throws(SystemError) {
            // Unowned, as the source.
            if timer == nil { timer = try TimerSource(loop: loop) { [unowned self] in check() } }
            timer?.arm(at: EventLoop.nowNanoseconds + Self.pause)
        } catch {
            preconditionFailure("cannot watch a handler's process: \(error)")
        }
    }
}
