import Glibc
import HTTPClient
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The running program: the loop's thread orders events, the forwarder decides, the daemon's socket and the HTTP client
/// act.
final class Service: LoopService {
    static let canReload = true

    private let loop: EventLoop
    private let configuration: Configuration
    private let log: (JournalEntry) -> Void
    private let sender: Sender
    private var destination: HTTPDestination
    private var forwarder: Forwarder
    private var link: WatchedLink?
    private var clockTimer: TimerSource?
    private var endTimer: TimerSource?

    /// The id of this run, by which the daemon knows the entries that it handed over.
    private let instance = UUID128(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
    private var random = SystemRandomNumberGenerator()
    /// Events that are not handled yet: an effect may cause an event at once.
    private var events = Queue<ForwarderEvent>()
    /// The send times of `depart` requests without a reply, on CLOCK_BOOTTIME.
    private var askedAt = Queue<Instant>()
    private var isHandling = false
    private(set) var isStopping = false
    private var outage = DaemonOutage()
    private var reportedState: SendingState

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - configuration: reads the configuration again.
    ///   - settings: the configuration as it is.
    ///   - destination: the destination of requests.
    ///   - controlSocket: the path of the daemon's socket.
    ///   - log: logs the events that an operator must know.
    init(
        loop: EventLoop, configuration: Configuration, settings: ForwardingSettings, destination: HTTPDestination,
        controlSocket: String, log: @escaping (JournalEntry) -> Void
    ) throws {
        self.loop = loop
        self.configuration = configuration
        self.destination = destination
        self.log = log
        sender = try Sender(loop: loop)
        forwarder = Forwarder(settings: settings, now: .now())
        reportedState = forwarder.state
        // Unowned: this object owns the link, which makes no call after its release.
        link = try WatchedLink(loop: loop, path: controlSocket) { [unowned self] in take($0) }
        clockTimer = try TimerSource(loop: loop, priority: .important) { [unowned self] in handle(.clock) }
        endTimer = try TimerSource(loop: loop) { [unowned self] in giveUp() }
    }

    func endOfTurn() { link?.flush() }

    func begin() {
        log(JournalEntry(.info, "ready: sends to \(destination.url)"))
        link?.connect()
        link?.flush()
    }

    // MARK: Events in, effects out

    private func take(_ news: DaemonLink.News) {
        switch news {
        case .connected:
            handle(.connected)
        case .disconnected(let reason):
            if outage.begin(reason) {
                log(JournalEntry(.warning, "the daemon cannot be asked for entries: \(reason)"))
            }
            askedAt = Queue()
            handle(.disconnected)
        case .answered(let operation, let reply): take(reply, to: operation)
        }
    }

    private func take(_ reply: ControlReply, to operation: ControlRequest.Operation) {
        do throws(ControlReplyError) {
            switch operation {
            case .claim:
                let claimed = try reply.claimed()
                endOutage()
                handle(.claimed(claimed.entries, claimed.sending))
            case .depart:
                let departed = try reply.departed()
                let asked = askedAt.popFirst()
                // Counted from before the request: the daemon's count begins later.
                let until = departed.valid.flatMap { valid in asked.map { $0 + valid } }
                handle(.departed(departed.entries, until: until))
            case .settle: handle(.settled)
            case .sending: endOutage()
            default:
                preconditionFailure("a forwarder claims, departs, settles and reports")
            }
        } catch {
            link?.fail("the daemon's reply cannot be read: \(error)")
        }
    }

    private func endOutage() {
        if outage.end() { log(JournalEntry(.notice, "the daemon is reachable again")) }
    }

    private func handle(_ event: ForwarderEvent) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while let event = events.popFirst() {
            for effect in forwarder.handle(event, now: .now(), using: &random) { carryOut(effect) }
        }
        if let due = forwarder.nextDue { clockTimer?.arm(at: due.nanoseconds) } else { clockTimer?.disarm() }
        reportState()
    }

    private func carryOut(_ effect: ForwarderEffect) {
        switch effect {
        case .settle(let settlements):
            link?.send(.settle(SettleRequest(instance: instance, entries: settlements)))
        case .report(let state):
            link?.send(
                .sending(
                    SendingReport(
                        instance: instance, phase: state.phase, reason: state.reason, failures: state.failures,
                        until: state.until)))
        case .claim(let limit, let holding):
            // The first claim of a connection does not wait: its reply says that the daemon takes claims from this run.
            let waits = holding == nil
            link?.send(
                .claim(
                    ClaimRequest(instance: instance, limit: limit, waits: waits, holding: holding, reserves: true)))
        case .depart(let numbers):
            askedAt.append(Instant(nanoseconds: SystemClock.bootNanoseconds))
            link?.send(.depart(DepartRequest(instance: instance, entries: numbers)))
        case .send(let request, let content, let until): send(request, content.body, until)
        case .finish: loop.exit(code: 0)
        }
    }

    private func send(_ request: Int, _ body: [UInt8], _ until: Instant?) {
        var destination = destination
        destination.expiryNanoseconds = until?.nanoseconds
        do throws(HTTPClientError) {
            try sender.post(body, to: destination) { [unowned self] in
                handle(.answered(request: request, EndpointAnswer($0)))
            }
        } catch {
            handle(.answered(request: request, .failure(wasSent: false, reason: error.description)))
        }
    }

    /// Reports a change of state to the service manager and the journal.
    private func reportState() {
        let state = forwarder.state
        guard state != reportedState, !isStopping else { return }
        let reason = state.reason ?? ""
        Notify.status(status)
        switch state.phase {
        case .sending:
            if reportedState.phase == .stopped { log(JournalEntry(.notice, "sends again")) }
        case .waiting:
            let until = state.until?.rfc3339 ?? "?"
            let failures = state.failures > 0 ? ", failures in a row: \(state.failures)" : ""
            log(JournalEntry(.notice, "waits until \(until)\(failures): \(reason)"))
        case .stopped:
            log(JournalEntry(.error, "sending has stopped, all entries are kept: \(reason)"))
        }
        reportedState = state
    }

    /// The state of sending, for the service manager.
    var status: String {
        let state = forwarder.state
        let reason = state.reason ?? ""
        return switch state.phase {
        case .sending: "sends to \(destination.url)" + (reason.isEmpty ? "" : "; \(reason)")
        case .waiting: "waits until \(state.until?.rfc3339 ?? "?"): \(reason)"
        case .stopped: "stopped: \(reason)"
        }
    }

    // MARK: Signals

    func stop() {
        guard !isStopping else { return }
        isStopping = true
        let count = forwarder.requestsUnderway
        let message = count > 0 ? "stopping: waiting for answers: \(count)" : "stopping"
        Notify.stopping(status: message)
        log(JournalEntry(.info, message))
        // A request ends within its timeout; the daemon has two seconds more to confirm.
        let longest = forwarder.settings.timeout + .seconds(2)
        endTimer?.arm(at: EventLoop.nowNanoseconds + longest.nanoseconds)
        handle(.draining)
    }

    private func giveUp() {
        log(
            JournalEntry(
                .warning,
                "the daemon did not get the endpoint's answers: the entries that were sent become unknown"
            ))
        loop.exit(code: StartFailure.unavailable)
    }

    func reload() -> String {
        do throws(StartFailure) {
            let settings = try configuration.load()
            destination = try configuration.destination(settings)
            // The service manager copies the credential at the start of the process.
            let key =
                settings.keyFile == nil
                ? "; the key is still the credential of the start: a restart takes a new one" : ""
            log(JournalEntry(.info, "reloaded: sends to \(destination.url)\(key)"))
            handle(.reconfigured(settings))
            return status
        } catch {
            for line in error.lines { log(JournalEntry(.error, line)) }
            log(JournalEntry(.error, "not reloaded: the previous settings and key stay in force"))
            handle(.refused(error.lines.joined(separator: "; ")))
            return status
        }
    }
}

extension EndpointAnswer {
    fileprivate init(_ result: HTTPResult) {
        switch result {
        case .failure(let wasSent, let reason): self = .failure(wasSent: wasSent, reason: reason)
        case .expired: self = .expired
        case .answer(let answer):
            self = .response(
                EndpointResponse(
                    status: answer.status, rateLimitReset: answer.headers["x-ratelimit-reset"],
                    report: EndpointReport(answer.body),
                    damage: answer.damage))
        }
    }
}

/// The link to the daemon on the event loop: watches the socket, and a timer while the connection is down.
final class WatchedLink {
    private let loop: EventLoop
    private let link: DaemonLink
    private var source: IOSource?
    private var timer: TimerSource?

    /// A claim's reply has at most one mebibyte of data, or one entry, and the JSON around it; escapes may double it.
    private static let longestReply = 8 << 20

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - path: the path of the daemon's socket.
    ///   - news: called with each event of the link.
    init(loop: EventLoop, path: String, news: @escaping (DaemonLink.News) -> Void) throws(SystemError) {
        self.loop = loop
        link = DaemonLink(path: path, maximumLineLength: Self.longestReply)
        timer = try TimerSource(loop: loop) { [unowned self] in connect() }
        link.news = { [unowned self] in
            switch $0 {
            case .connected:
                watch()
                guard link.descriptor != nil else { return }
            case .disconnected:
                source = nil
                guard let delay = link.retryDelay else { break }
                timer?.arm(at: EventLoop.nowNanoseconds + delay.nanoseconds)
            case .answered: break
            }
            news($0)
        }
    }

    /// Connects, and reconnects whenever the connection ends.
    func connect() { link.connect() }

    /// Queues a request; to be called while connected.
    func send(_ operation: ControlRequest.Operation) { link.send(operation) }

    /// Drops the connection, and reconnects.
    func fail(_ reason: String) { link.fail(reason) }

    /// Sends queued requests; at the end of each turn.
    func flush() {
        link.flush()
        watch()
    }

    private func watch() {
        guard let descriptor = link.descriptor else { return }
        let interest: IOEvents = link.wants == .readingAndWriting ? [.read, .write] : .read
        guard source == nil else {
            source?.interest = interest
            return
        }
        do throws(SystemError) {
            source = try IOSource(loop: loop, descriptor: descriptor, interest: interest) { [unowned self] _ in
                link.serve()
            }
        } catch {
            link.fail("\(error)")
        }
    }
}
