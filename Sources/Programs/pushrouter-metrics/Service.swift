import EventLoop
import Glibc
import HTTPServer
import JournalLog
import LinuxSystem
import PushModel
import PushReporting

/// The running program: the loop has the signals and the timers, the HTTP server its own threads.
final class Service {
    private let loop: EventLoop
    private let source: DaemonSource
    private let file: TextFile?
    private let status: String
    private let server: HTTPServer?
    private var signals: [SignalSource] = []
    private var timers: [RepeatingTimer] = []
    /// Tells of the file and of the daemon.
    private let problems: ProblemLog

    /// - Parameters:
    ///   - source: asks the daemon.
    ///   - server: serves the pages; `nil`: nothing is served.
    ///   - file: the file that is written; `nil`: none.
    ///   - interval: how often it is written.
    ///   - status: what the service manager is told of all this.
    ///   - log: takes what an operator must know.
    init(
        source: DaemonSource, server: HTTPServer?, file: TextFile?, interval: Duration, status: String,
        log: @escaping @Sendable (JournalEntry) -> Void
    ) throws(SystemError) {
        loop = try EventLoop()
        self.source = source
        self.server = server
        self.file = file
        self.status = status
        problems = ProblemLog(end: "\(file?.path ?? "") has the daemon's metrics again", log: log)
        signals = [
            try SignalSource(loop: loop, signal: SIGTERM) { [unowned self] in loop.exit(code: 0) },
            try SignalSource(loop: loop, signal: SIGINT) { [unowned self] in loop.exit(code: 0) },
        ]
        if server != nil {
            timers.append(
                try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in
                    self.server?.endOverdue(at: EventLoop.nowNanoseconds)
                })
        }
        if file != nil {
            timers.append(
                try RepeatingTimer(loop: loop, after: .zero, every: interval) { [unowned self] in writeFile() })
        }
    }

    /// Runs until it is told to stop.
    ///
    /// - Returns: the exit status.
    func run() throws(SystemError) -> Int32 {
        let watchdog = try loop.answerWatchdog()
        defer { withExtendedLifetime(watchdog) {} }
        Notify.ready(status: status)
        return try loop.run()
    }

    private func writeFile() {
        guard let file else { return }
        var problem: String?
        var text = OpenMetrics.textOfNoAnswer(as: .prometheus)
        do { text = try source.metrics(.prometheus) } catch { problem = "\(error)" }
        do { try file.replace(with: text) } catch { problem = "\(error)" }
        problems.note(problem)
    }
}
