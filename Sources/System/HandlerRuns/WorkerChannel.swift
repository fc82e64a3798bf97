import HandlerProcess
import LinuxSystem
import PushModel
import PushRouter

/// A resident program that reads and writes lines.
final class WorkerChannel: InstanceChannel {
    /// The time for a program to exit after it has closed its output, in nanoseconds.
    private static let patience: Int64 = 100_000_000
    /// The time for the end of its socket after its exit, in nanoseconds.
    private static let patienceAfterExit: Int64 = 1_000_000_000

    private let command: Handler.Command
    private let name: String
    private let mark: String
    private let token: UInt64
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var errors: ErrorLines?
    /// The one invocation that the program works for; `nil` if there is none, or more than one.
    private var owner: InvocationID?
    private var child: ChildProcess?
    private var stream: LineStream?
    private var exitWatch: ExitWatch?
    private var endTimer: TimerSource?
    private var isClosed = false
    /// Its exit status, while its socket has not ended.
    private var ended: ExitStatus?
    /// Whether its input is to be closed; a program that is still being started gets this once it is up.
    private var isInputFinished = false

    /// - Parameters:
    ///   - command: the program.
    ///   - name: the handler's name.
    ///   - mark: the mark of the program's processes.
    ///   - token: the token of the program's start.
    ///   - system: the services for instances.
    ///   - report: takes reports, until `close`.
    init(
        _ command: Handler.Command, name: String, mark: String, token: UInt64,
        system: InstanceSystem, report: @escaping (ChannelReport) -> Void
    ) {
        self.command = command
        self.name = name
        self.mark = mark
        self.token = token
        self.system = system
        self.report = report
    }

    func open() {
        system.starter.start(
            command, facts: [("PUSH_HANDLER", name)],
            streams: .conversation(readsErrors: true), mark: mark, token: token)
    }

    /// Takes the result of the start.
    func wasSpawned(_ outcome: Result<ChildProcess, SpawnError>) {
        switch outcome {
        case .failure(let error):
            report(.gone)
            if !isClosed { report(.failedToOpen(error.description)) }
        case .success(let child):
            self.child = child
            if isClosed { child.killGroup() }
            watch(child)
            if !isClosed { report(.opened) }
        }
    }

    func send(_ line: [UInt8]) { stream?.send(line) }

    func handOverErrors(to next: InvocationID?) -> ErrorOutput? {
        owner = next
        return errors?.handOver(to: next)
    }

    func finishInput() {
        isInputFinished = true
        stream?.finishSending()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        stream?.close()
        stream = nil
        endTimer = nil
        if ended != nil {
            exitWatch = nil
        } else if let child {
            child.killGroup()
            system.sweeper.sweep()
        } else if system.starter.cancel(token) {
            report(.gone)
        }
    }

    private func watch(_ child: ChildProcess) {
        // The watch retains this object until the child is reaped, even after its owner has released it.
        exitWatch = ExitWatch(child, system) { self.exited($0) }
        guard !isClosed, let conversation = child.takeConversation() else { return }
        do throws(SystemError) {
            if let errors = child.takeErrors() {
                self.errors = ErrorLines(errors, of: name, isLogged: command.logsOutput, system)
                try self.errors?.begin()
                _ = self.errors?.handOver(to: owner)
            }
            // Unowned: this object owns the stream, which makes no report after its release.
            stream = try LineStream(Connection(conversation), buffer: system.buffer, loop: system.loop) {
                [unowned self] in
                switch $0 {
                case .line(let line): report(.line(line))
                case .end: closedOutput(child)
                case .fault(let reason):
                    close()
                    report(.closed(reason))
                }
            }
            if isInputFinished { stream?.finishSending() }
        } catch {
            // Its lines could not be read.
            child.killGroup()
        }
    }

    /// Waits for the exit of a program that closed its output: its exit status is the better reason.
    private func closedOutput(_ child: ChildProcess) {
        let leavesLast = stream?.hasUnreadLine == true
        stream = nil
        report(.acceptsNoLines(leavesLast: leavesLast))
        if let ended { return conclude(ended) }
        do throws(SystemError) {
            endTimer = try TimerSource(loop: system.loop) { [unowned self] in
                close()
                report(.closed("closed its output, and did not end"))
            }
            endTimer?.arm(at: EventLoop.nowNanoseconds + Self.patience)
        } catch {
            child.killGroup()
        }
    }

    private func exited(_ status: ExitStatus) {
        if !isClosed { report(.acceptsNoLines(leavesLast: false)) }
        // Lines that it wrote before its exit count, unless it was stopped.
        stream?.drain()
        errors?.finish()
        system.sweeper.sweep()
        report(.gone)
        guard !isClosed else {
            exitWatch = nil
            return
        }
        guard stream != nil else { return conclude(status) }
        // A process that it left, or one that is between clone and exec, has a copy of the socket for a moment: only the
        // end of the last copy tells whether the last line was read.
        do throws(SystemError) {
            // Unowned: this object owns the timer, which makes no call after its release.
            endTimer = try TimerSource(loop: system.loop) { [unowned self] in conclude(status) }
            endTimer?.arm(at: EventLoop.nowNanoseconds + Self.patienceAfterExit)
            ended = status
        } catch {
            conclude(status)
        }
    }

    /// Reports the exit, once all lines are read that it wrote.
    private func conclude(_ status: ExitStatus) {
        // A copy of the socket that stays open shows unsent lines alone.
        if let stream, stream.hasUnreadLine { report(.acceptsNoLines(leavesLast: true)) }
        stream?.close()
        stream = nil
        endTimer = nil
        isClosed = true
        // The watch may hold the last reference to this object.
        defer { exitWatch = nil }
        system.observe?(.ended(status))
        switch status {
        case .exited(let code): report(.closed("ended with exit status \(code)"))
        case .signaled(let signal): report(.closed("ended by \(signalText(Int(signal)))"))
        }
    }
}
