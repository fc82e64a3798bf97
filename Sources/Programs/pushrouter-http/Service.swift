import Glibc
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The source of the daemon's connections.
enum Entrance {
    /// The parent process passes connections over a socket (SCM_RIGHTS).
    case handedOver(socket: SharedDescriptor)
    /// The daemon connects to a socket of the service manager.
    case listening(Listener)

    fileprivate var descriptor: SharedDescriptor {
        switch self {
        case .handedOver(let socket): socket
        case .listening(let listener): listener.descriptor
        }
    }
}

/// The running program: one loop thread, the sessions with the daemon, and a client for each handler.
final class Service: LoopService {
    static let canReload = true

    private let loop: EventLoop
    private let configuration: Configuration
    private let log: (JournalEntry) -> Void
    private let entrance: Entrance
    private let source: String
    private let buffer = ReadBuffer()
    private var endpoints: [String: ConfiguredEndpoint]
    private var clients: [String: EndpointClient] = [:]
    /// Clients of earlier configurations that may still have requests.
    private var retired: [EndpointClient] = []
    private var sessions: [ObjectIdentifier: Session] = [:]
    private var entranceSource: IOSource?
    /// Ends a pause of accepting.
    private var entranceTimer: TimerSource?
    /// Whether the journal has an entry that connections cannot be accepted.
    private var hasLoggedShortage = false
    private var endTimer: TimerSource?
    private(set) var isStopping = false
    private var configurationProblem: [String] = []

    /// How long SIGTERM waits for responses, in nanoseconds: no handler has more than 9 s.
    private static let patience: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - configuration: reads the configuration again.
    ///   - endpoints: the `http` handlers of the configuration.
    ///   - entrance: the source of connections.
    ///   - log: logs the events that an operator must know.
    init(
        loop: EventLoop, configuration: Configuration, endpoints: [String: ConfiguredEndpoint], entrance: Entrance,
        log: @escaping (JournalEntry) -> Void
    ) throws {
        self.loop = loop
        self.configuration = configuration
        self.endpoints = endpoints
        self.entrance = entrance
        self.log = log
        source = HTTPInvocation.source(ofHost: HostName.current)
        entranceSource = try IOSource(loop: loop, descriptor: entrance.descriptor, interest: .read) {
            [unowned self] _ in
            enter()
        }
        entranceTimer = try TimerSource(loop: loop) { [unowned self] in entranceSource?.interest = .read }
        endTimer = try TimerSource(loop: loop) { loop.exit(code: 0) }
    }

    var status: String { "http handlers: \(endpoints.count)" }

    // MARK: Sessions

    private func enter() {
        while true {
            switch entrance {
            case .handedOver(let socket):
                switch Connection.received(over: socket) {
                case .connection(let connection): begin(connection)
                case .wouldBlock: return
                // The daemon has closed its end: the program ends.
                case .end, .failed: return stop()
                }
            case .listening(let listener):
                switch listener.accept() {
                case .connection(let connection):
                    hasLoggedShortage = false
                    begin(connection)
                case .wouldBlock, .refused: return
                case .failed(let number): return pause(because: number)
                }
            }
        }
    }

    /// Pauses accepting: the listener stays readable, so the loop would do nothing but call accept(2).
    private func pause(because number: Int32) {
        if !hasLoggedShortage {
            hasLoggedShortage = true
            let reason = errorText(number) + Listener.advice(for: number)
            log(JournalEntry(.error, "a connection was not accepted: \(reason); retried every 100 ms"))
        }
        entranceSource?.interest = []
        entranceTimer?.arm(at: EventLoop.nowNanoseconds + Self.entrancePause)
    }

    private static let entrancePause: Int64 = 100_000_000

    private func begin(_ connection: Connection) {
        // The daemon reconnects for a handler whose file has changed.
        refresh()
        do throws(SystemError) {
            let session = try Session(connection, buffer: buffer, loop: loop) {
                [unowned self] name throws(PostFailure) in
                try client(for: name)
            } isStopping: { [unowned self] in
                isStopping
            } ended: { [unowned self] in
                noteIdle($0)
            }
            sessions[ObjectIdentifier(session)] = session
        } catch {
            log(JournalEntry(.error, "cannot serve a connection: \(error)"))
        }
    }

    /// Drops a closed session, and clients of earlier configurations once no session has a request.
    private func noteIdle(_ session: Session) {
        if session.isClosed { sessions[ObjectIdentifier(session)] = nil }
        if !sessions.values.contains(where: \.isBusy) { retired = [] }
        if isStopping { exitWhenDone() }
    }

    private func client(for name: String) throws(PostFailure) -> EndpointClient {
        if let client = clients[name] { return client }
        guard let configured = endpoints[name] else {
            throw PostFailure(description: "the configuration of pushrouter-http has no http handler \(name)")
        }
        do {
            let client = try EndpointClient(
                configured, name: name, source: source, credentials: configuration.credentials, loop: loop,
                log: log)
            clients[name] = client
            return client
        } catch {
            throw PostFailure(description: "\(error)")
        }
    }

    // MARK: Configuration

    /// Reads the configuration again.
    ///
    /// - Returns: whether the configuration is valid; otherwise the previous one stays, with one journal entry for the
    ///   errors.
    @discardableResult
    private func refresh() -> Bool {
        do throws(StartFailure) {
            endpoints = try configuration.load()
            configurationProblem = []
            for (name, client) in clients where endpoints[name] != client.configured {
                clients[name] = nil
                retired.append(client)
            }
            return true
        } catch {
            guard error.lines != configurationProblem else { return false }
            configurationProblem = error.lines
            for line in error.lines { log(JournalEntry(.error, line)) }
            log(JournalEntry(.error, "not reloaded: the previous settings stay in force"))
            return false
        }
    }

    func reload() -> String { refresh() ? status : "reload failed, still as before: \(status)" }

    // MARK: The end

    func stop() {
        guard !isStopping else { return }
        isStopping = true
        entranceSource = nil
        Notify.stopping(status: "stopping: waiting for answers")
        endTimer?.arm(at: EventLoop.nowNanoseconds + Self.patience)
        exitWhenDone()
    }

    private func exitWhenDone() {
        if !sessions.values.contains(where: \.isBusy) { loop.exit(code: 0) }
    }
}

/// A connection of the daemon: invocations come in as lines, and answers go out as lines.
final class Session {
    /// The most requests of a connection at the same time. A daemon keeps to `MaxConcurrent=`, which is less.
    private static let requestsMax = 16_384
    /// The longest line: the longest request that the daemon takes, the delivery that it refers to, and the daemon's
    /// additions.
    private static let maximumLineLength = 33 << 20

    private let client: (String) throws(PostFailure) -> EndpointClient
    private let isStopping: () -> Bool
    private let ended: (Session) -> Void
    private var stream: LineStream?
    /// The closures that cancel requests, by the ids of their lines.
    private var underway: [Int64: () -> Void] = [:]

    /// Whether the connection has ended.
    var isClosed: Bool { stream == nil }
    /// Whether a request has no answer yet.
    var isBusy: Bool { !underway.isEmpty }

    /// - Parameters:
    ///   - connection: the connection to the daemon.
    ///   - buffer: scratch memory of the loop's thread.
    ///   - loop: the event loop.
    ///   - client: finds the client of a handler.
    ///   - isStopping: whether nothing new is posted, because the program ends.
    ///   - ended: called when the connection has ended, or when the last request has its answer.
    init(
        _ connection: Connection, buffer: ReadBuffer, loop: EventLoop,
        client: @escaping (String) throws(PostFailure) -> EndpointClient, isStopping: @escaping () -> Bool,
        ended: @escaping (Session) -> Void
    ) throws(SystemError) {
        self.client = client
        self.isStopping = isStopping
        self.ended = ended
        stream = try LineStream(
            connection, buffer: buffer, loop: loop, maximumLineLength: Self.maximumLineLength
        ) { [unowned self] in
            switch $0 {
            case .line(let line): take(line)
            case .end, .fault: close()
            }
        }
        // The daemon sends nothing before it gets this line: it proves that a process reads the connection.
        stream?.send([UInt8(ascii: "\n")])
    }

    /// Cancels all requests, and closes the connection.
    func close() {
        stream?.close()
        stream = nil
        let underway = exchange(&underway, with: [:])
        for cancel in underway.values { cancel() }
        ended(self)
    }

    private func take(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        do throws(LineFault) {
            switch try HTTPLine(line, at: Moment.now().monotonic) {
            case .cancel(let id):
                // A request that is not under way has its answer already, and the daemon will read that.
                guard let cancel = underway.removeValue(forKey: id) else { return }
                cancel()
                stream?.send(HTTPReply.rejection(of: id, "the request was aborted at its deadline"))
                ended(self)
            case .post(let invocation): post(invocation)
            }
        } catch {
            // No daemon writes such a line: the other end is another program.
            close()
        }
    }

    private func post(_ invocation: HTTPInvocation) {
        guard !isStopping() else {
            let reply = HTTPReply.failure(wasSent: false, reason: "pushrouter-http is stopping")
            stream?.send(reply.line(answering: invocation.id, isIdempotent: true, at: Moment.now().wall))
            return
        }
        do throws(PostFailure) {
            guard underway.count < Self.requestsMax, underway[invocation.id] == nil else {
                throw PostFailure(description: "there are too many requests at once")
            }
            underway[invocation.id] = try client(invocation.handler).post(invocation) { [unowned self] answer in
                underway[invocation.id] = nil
                stream?.send(answer)
                ended(self)
            }
        } catch {
            stream?.send(HTTPReply.rejection(of: invocation.id, error.description))
        }
    }
}
