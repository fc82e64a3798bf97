import EventLoop
import HandlerProcess
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import UnixSockets

/// A program that stays, and is talked to by lines.
final class WorkerChannel: InstanceChannel {
    /// How long a program that has closed its output has to end, in nanoseconds.
    private static let patience: Int64 = 100_000_000

    private let command: Handler.Command
    private let name: String
    private let mark: String
    private let token: UInt64
    private let system: InstanceSystem
    private let report: (ChannelReport) -> Void
    private var errors: ErrorLines?
    /// For whom the program works; `nil`: for nobody, or for more than one.
    private var owner: InvocationID?
    private var child: ChildProcess?
    private var stream: LineStream?
    private var exitWatch: ExitWatch?
    private var endTimer: TimerSource?
    private var isClosed = false
    /// Whether no more lines will come; a program that is still being started is told once it is up.
    private var isInputFinished = false

    /// - Parameters:
    ///   - command: the program.
    ///   - name: of the handler.
    ///   - mark: what marks the program's processes.
    ///   - token: under which the program is started.
    ///   - system: what instances work with.
    ///   - report: takes what happens, until `close`.
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

    /// Takes in what became of the start.
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
        if let child {
            child.killGroup()
            system.sweeper.sweep()
        } else if system.starter.cancel(token) {
            report(.gone)
        }
    }

    private func watch(_ child: ChildProcess) {
        // Until it is reaped it must stay, whoever has let go of it: the watch holds it.
        exitWatch = ExitWatch(child, system) { self.exited($0) }
        guard !isClosed, let conversation = child.takeConversation() else { return }
        do throws(SystemError) {
            if let errors = child.takeErrors() {
                self.errors = ErrorLines(errors, of: name, isLogged: command.logsOutput, system)
                try self.errors?.begin()
                _ = self.errors?.handOver(to: owner)
            }
            // Unowned: the stream is a property of this object, and reports no more once it is gone.
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
            // Nobody would hear what it says.
            child.killGroup()
        }
    }

    /// A program that ends closes its output first, and how it ends is the better reason.
    private func closedOutput(_ child: ChildProcess) {
        let leavesLast = stream?.hasUnreadLine == true
        stream = nil
        report(.takesNoMore(leavesLast: leavesLast))
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
        if !isClosed { report(.takesNoMore(leavesLast: false)) }
        // What it wrote before it ended counts, as far as nobody has stopped it.
        stream?.drain()
        // What it left behind may keep the socket open: then only what was not sent is known to be unread.
        if let stream, !isClosed, stream.hasUnreadLine { report(.takesNoMore(leavesLast: true)) }
        errors?.finish()
        stream?.close()
        stream = nil
        endTimer = nil
        system.sweeper.sweep()
        let wasClosed = isClosed
        isClosed = true
        // This may be the last reference.
        defer { exitWatch = nil }
        report(.gone)
        guard !wasClosed else { return }
        system.observe?(.ended(status))
        switch status {
        case .exited(let code): report(.closed("ended with exit status \(code)"))
        case .signaled(let signal): report(.closed("ended by \(signalText(Int(signal)))"))
        }
    }
}
