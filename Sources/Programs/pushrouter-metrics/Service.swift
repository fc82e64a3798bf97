import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews
import Synchronization

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

/// Asks the daemon. Safe on any thread: each question has its own connection.
struct DaemonSource: Sendable {
    /// The path of `read.sock`.
    var socket: String

    /// The time limit of the daemon in milliseconds: to accept the connection, and to reply.
    static let patience = 2000

    /// The metrics as text.
    func metrics(_ format: MetricsFormat) throws(DaemonError) -> String {
        let reply = try ask(.metrics(format))
        guard let text = reply.root["metrics"]?.string else {
            throw .unreadable(path: socket, reason: "metrics is missing")
        }
        return text
    }

    /// Why the daemon accepts no requests for now; `nil`: it does.
    func problem() throws(DaemonError) -> String? {
        let reply = try ask(.status)
        guard let status = reply.root["status"] else { throw .unreadable(path: socket, reason: "status is missing") }
        return Self.elsewhere(status) ?? status["store_problem"]?.string
    }

    /// Why requests must go to another machine; `nil`: the daemon leads, or is the only one. A full disk is no such
    /// reason: the daemon still leads, and its refusals say when to retry.
    func follows() throws(DaemonError) -> String? {
        let answer: Result<ControlReply, DaemonError>
        do throws(DaemonError) { answer = .success(try ask(.status)) } catch { answer = .failure(error) }
        return try Self.follows(answer)
    }

    /// Interprets a reply to `status` for ``follows()``.
    static func follows(_ answer: Result<ControlReply, DaemonError>) throws(DaemonError) -> String? {
        do throws(DaemonError) {
            return elsewhere(try answer.get().root["status"])
        } catch .refused(let refusal) where refusal.code == .unavailable {
            return refusal.leader.map { "\($0) leads" } ?? refusal.message
        }
    }

    private static func elsewhere(_ status: JSONNode?) -> String? {
        let state = status?["state"]?.string
        if state == "running" { return nil }
        guard state == "following" else { return "the daemon is \(state ?? "in no state")" }
        return status?["fleet"]?["leader"]?.string.map { "\($0) leads" } ?? "no machine leads yet"
    }

    private func ask(_ operation: ControlRequest.Operation) throws(DaemonError) -> ControlReply {
        let daemon = try DaemonConnection(socket, timeoutMilliseconds: Self.patience)
        return try daemon.ask(operation, timeoutMilliseconds: Self.patience)
    }
}

/// Logs a problem once, again when it changes, and when it is over. Safe on any thread.
final class ProblemLog: Sendable {
    private let last = Mutex<String?>(nil)
    private let end: String
    private let log: @Sendable (JournalEntry) -> Void

    /// - Parameters:
    ///   - end: the message when the problem is over.
    ///   - log: logs an entry.
    init(end: String, log: @escaping @Sendable (JournalEntry) -> Void) {
        self.end = end
        self.log = log
    }

    /// - Parameter problem: the present problem; `nil`: none.
    func note(_ problem: String?) {
        let isNew = last.withLock { last in
            defer { last = problem }
            return last != problem
        }
        guard isNew else { return }
        log(problem.map { JournalEntry(.warning, $0) } ?? JournalEntry(.notice, end))
    }
}
