import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews

/// The running program: the loop has signals and timers; the HTTP server has its own threads.
final class Service: LoopService {
    private let loop: EventLoop
    private let source: DaemonSource
    private let file: TextFile?
    let status: String
    private let server: HTTPServer?
    private var timers: [RepeatingTimer] = []
    /// Logs the problems of the file and of the daemon.
    private let problems: ProblemLog

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - source: asks the daemon.
    ///   - server: the HTTP server; `nil`: none.
    ///   - file: the text file; `nil`: none.
    ///   - interval: the time between two writes of the file.
    ///   - status: the status text for the service manager.
    ///   - log: logs the events that an operator must know.
    init(
        loop: EventLoop, source: DaemonSource, server: HTTPServer?, file: TextFile?, interval: Duration, status: String,
        log: @escaping @Sendable (JournalEntry) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.source = source
        self.server = server
        self.file = file
        self.status = status
        problems = ProblemLog(end: "\(file?.path ?? "") has the daemon's metrics again", log: log)
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

    func stop() { loop.exit(code: 0) }

    private func writeFile() {
        guard let file else { return }
        var problem: String?
        var text = OpenMetrics.textOfNoAnswer(as: .prometheus)
        do { text = try source.metrics(.prometheus) } catch { problem = "\(error)" }
        do { try file.replace(with: text) } catch { problem = "\(error)" }
        problems.note(problem)
    }
}
