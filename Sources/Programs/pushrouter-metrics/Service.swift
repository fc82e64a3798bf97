import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews
import Synchronization

/// The running program: the loop has clients, signals and timers. One thread asks the daemon for clients, one for the
/// file, so that neither waits for the other.
final class Service: LoopService {
    private let loop: EventLoop
    private let file: TextFile?
    let status: String
    private let front: HTTPFront
    private let asker: JobThread<PageRequest>
    private let writer: JobThread<TextFile>
    private var resultSource: IOSource?
    private var timer: RepeatingTimer?
    private var isWriting = false
    /// The clients of a question: those whose question the thread has, and those who asked meanwhile and get the next
    /// answer.
    private typealias Clients = (asked: [HTTPConnections.RequestNumber], waiting: [HTTPConnections.RequestNumber])
    private var clients: [PageRequest: Clients] = [:]
    /// Logs the problems of the file and of the daemon.
    private let problems: ProblemLog

    private enum Answer: Sendable {
        case page(PageRequest, HTTPResponse)
        /// The file is written, or the problem.
        case file(String?)
    }

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - source: asks the daemon.
    ///   - others: asks what stands beside the daemon.
    ///   - pages: the pages.
    ///   - entrances: the listening sockets.
    ///   - file: the text file; `nil`: none.
    ///   - interval: the time between two writes of the file.
    ///   - log: logs the events that an operator must know.
    init(
        loop: EventLoop, source: DaemonSource, others: OtherPrograms, pages: Pages, entrances: Entrances,
        file: TextFile?, interval: Duration,
        log: @escaping @Sendable (JournalEntry) -> Void
    ) throws {
        (self.loop, self.file) = (loop, file)
        let serves = entrances.names.isEmpty ? nil : "serves \(entrances.names.joined(separator: ", "))"
        let writes = file.map { "writes \($0.path) every \(interval.components.seconds) s" }
        status = [serves, writes].compactMap(\.self).joined(separator: ", ")
        problems = ProblemLog(end: "\(file?.path ?? "") has the daemon's metrics again", log: log)
        var limits = HTTPConnections.Limits()
        (limits.connections, limits.bodyBytes, limits.idleSeconds) = (32, 0, 10)
        limits.requestNanoseconds = 10_000_000_000
        front = try HTTPFront(loop: loop, entrances: entrances, limits: limits)
        let answers = try Mailbox<Answer>()
        asker = JobThread("metrics-asker") { { answers.post(.page($0, pages.answer($0))) } }
        writer = JobThread("metrics-file") { { answers.post(.file(Self.write($0, from: source, others))) } }
        // Unowned: all of these are properties of this object.
        front.arrived = { [unowned self] arrival, _ in take(arrival) }
        resultSource = try answers.receive(on: loop) { [unowned self] results in
            for case .page(let request, let response) in results { tell(response, to: request) }
            for case .file(let problem) in results {
                isWriting = false
                problems.note(problem)
            }
        }
        if file != nil {
            timer = try RepeatingTimer(loop: loop, after: .zero, every: interval) { [unowned self] in writeFile() }
        }
    }

    private func take(_ arrival: HTTPConnections.Arrival) {
        guard !arrival.isTooLong else {
            return front.respond(to: arrival.number, with: HTTPResponse(status: 413, text: "no page takes a body\n"))
        }
        let request = PageRequest(
            method: arrival.method, path: String(arrival.target.prefix { $0 != "?" }),
            format: MetricsFormat(
                accepting: arrival.headers.filter { $0.name.lowercased() == "accept" }.map(\.value)
                    .joined(separator: ", ")))
        clients[request, default: ([], [])].waiting.append(arrival.number)
        ask(request)
    }

    private func ask(_ request: PageRequest) {
        guard let (asked, waiting) = clients[request], asked.isEmpty else { return }
        clients[request] = nil
        guard !waiting.isEmpty else { return }
        do throws(SystemError) {
            try asker.submit(request)
            clients[request] = (waiting, [])
        } catch {
            for client in waiting { front.respond(to: client, with: HTTPResponse(status: 503, text: "\(error)\n")) }
        }
    }

    private func tell(_ response: HTTPResponse, to request: PageRequest) {
        for client in clients[request]?.asked ?? [] { front.respond(to: client, with: response) }
        clients[request]?.asked = []
        ask(request)
    }

    func stop() { loop.exit(code: 0) }

    private func writeFile() {
        guard let file, !isWriting else { return }
        do throws(SystemError) {
            try writer.submit(file)
            isWriting = true
        } catch {
            problems.note("\(error)")
        }
    }

    /// - Returns: the problem; `nil`: the file has the daemon's metrics.
    private static func write(_ file: TextFile, from source: DaemonSource, _ others: OtherPrograms) -> String? {
        var problem: String?
        var text = OpenMetrics.textOfNoAnswer(as: .prometheus)
        do { text = try source.metrics(.prometheus) } catch { problem = "\(error)" }
        do { try file.replace(with: others.metrics(behind: text, .prometheus)) } catch { problem = "\(error)" }
        return problem
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
