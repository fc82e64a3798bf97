import Glibc
import Gzip
import HTTP2
import HTTPServer
import LinuxSystem
import PushGateway
import PushModel
import PushSettings
import TLS

/// A request without a response: its ticket, and the facts about its sender for the status.
struct PendingRequest {
    let ticket: Ticket
    let client: String?
    let service: String
}

/// The running program: one loop thread with the clients' connections, the desk that decides, and the daemon's link.
final class Service: LoopService {
    static let canReload = true

    /// A response that is delayed.
    private struct Delayed: Comparable {
        let at: Int64
        let pending: PendingRequest
        let response: GatewayResponse

        static func == (left: Delayed, right: Delayed) -> Bool { left.at == right.at }
        static func < (left: Delayed, right: Delayed) -> Bool { left.at < right.at }
    }

    private let loop: EventLoop
    private let log: (JournalEntry) -> Void
    private let transport: Transport
    private let certificates: CertificateStore
    /// Owns the sockets, and removes their paths at the end.
    private let entrances: Entrances
    private var desk: GatewayDesk
    private var random = SecureRandom()
    private let reread: () throws -> (GatewayDesk, [String])
    private var link: InjectLink?
    private var delayed: [Delayed] = []
    private var delayTimer: TimerSource?
    private var renewalTimer: RepeatingTimer?
    private var endTimer: TimerSource?
    private var linkProblem: String?
    private(set) var isStopping = false
    let status: String

    /// How long SIGTERM waits for the daemon's replies and for slow clients, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - loop: the event loop.
    ///   - desk: decides on requests.
    ///   - injectSocket: the daemon's socket.
    ///   - certificates: the certificates.
    ///   - entrances: the sockets that listen.
    ///   - limits: the limits of clients.
    ///   - status: the status text for the service manager.
    ///   - log: logs the events that an operator must know.
    ///   - reread: reads the configuration again; returns its desk, and the warnings about it.
    init(
        loop: EventLoop, desk: GatewayDesk, injectSocket: String, certificates: CertificateStore,
        entrances: Entrances, limits: TransportLimits, status: String, log: @escaping (JournalEntry) -> Void,
        reread: @escaping () throws -> (GatewayDesk, [String])
    ) throws {
        self.loop = loop
        self.log = log
        self.desk = desk
        self.certificates = certificates
        self.entrances = entrances
        self.status = status
        self.reread = reread
        guard let context = try certificates.renew(at: Int64(time(nil))) else {
            throw StartFailure("there is no certificate", exitStatus: StartFailure.system)
        }
        transport = try Transport(loop: loop, context: context, limits: limits)
        // `unowned` is safe: this object owns all of these.
        transport.handler = { [unowned self] in begin($0, $1, $2) }
        transport.ended = { loop.exit(code: 0) }
        link = try InjectLink(
            loop: loop, path: injectSocket, take: { [unowned self] in proceed($0, $1) },
            report: { [unowned self] in note($0) })
        delayTimer = try TimerSource(loop: loop) { [unowned self] in answerDelayed() }
        renewalTimer = try RepeatingTimer(loop: loop, every: .seconds(3600)) { [unowned self] in renew() }
        endTimer = try TimerSource(loop: loop) { [unowned self] in
            transport.endAll()
            loop.exit(code: 0)
        }
        for socket in entrances.descriptors { try transport.listen(on: socket) }
    }

    func begin() { link?.connect() }

    func reload() -> String {
        do {
            let (other, remarks) = try reread()
            desk.configure(other)
            for remark in remarks { log(JournalEntry(.warning, remark)) }
            renew()
            log(JournalEntry(.notice, "the configuration was read again"))
            return status
        } catch let failure as StartFailure {
            for line in failure.lines { log(JournalEntry(.error, line)) }
        } catch {
            log(JournalEntry(.error, "\(error)"))
        }
        log(JournalEntry(.error, "the previous configuration stays in force"))
        return status + "; the configuration has an error, the previous one is in force"
    }

    func stop() {
        guard !isStopping else { return loop.exit(code: 0) }
        isStopping = true
        endTimer?.arm(at: EventLoop.nowNanoseconds + Self.patience)
        transport.stop()
    }

    // MARK: Requests

    private func begin(_ request: GatewayRequest, _ facts: ConnectionFacts, _ ticket: Ticket) {
        let pending = PendingRequest(
            ticket: ticket, client: request.client, service: request.service)
        guard let link, mayWait(facts, link) else {
            transport.counts.overloaded += 1
            let response = GatewayResponse(status: 503).retried(afterSeconds: 1)
            return answer(pending, with: response)
        }
        var whole = request
        if request.isGzipped, request.bodyFault == nil {
            let limit = transport.limits.http2.bodyBytes
            do throws(Gzip.Fault) {
                whole = request.with(body: try Gzip.inflate(request.body, limit: limit))
            } catch {
                switch error {
                case .tooLong: whole = request.with(.tooLong(limit: limit))
                case .malformed: whole = request.with(.notGzip("its bytes are damaged, or of another format"))
                case .cutOff: whole = request.with(.notGzip("it is cut off"))
                case .trailingBytes: whole = request.with(.notGzip("bytes follow its end"))
                }
            }
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let microseconds = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        let step = desk.begin(
            whole, from: facts,
            at: GatewayDesk.Now(
                wall: WallTime(milliseconds: microseconds / 1000), monotonic: transport.now,
                microseconds: microseconds),
            using: &random)
        take(step, pending, isContinuation: false)
        tellRefusals()
    }

    /// Tells the operator of refused requests, and lets the daemon keep the refused sends.
    private func tellRefusals() {
        guard desk.hasNews else { return }
        for remark in desk.takeRemarks() { log(JournalEntry(.warning, remark)) }
        // Without a daemon a refused send has no row: the journal and the status have it.
        for line in desk.takeRefusedSends() { link?.send(line, nil, isContinuation: true) }
    }

    /// Whether there is room for a request: while the gateway is half full, only connections with few requests get
    /// room.
    private func mayWait(_ facts: ConnectionFacts, _ link: InjectLink) -> Bool {
        let limits = transport.limits
        let isCrowded =
            link.waiting >= limits.waitingRequests / 2 || link.waitingBytes >= limits.waitingBytes / 2
        guard !isCrowded || facts.unanswered <= limits.waitingOfConnection else { return false }
        return link.waiting < limits.waitingRequests && link.waitingBytes < limits.waitingBytes
    }

    private func proceed(_ waiting: InjectLink.Waiting, _ line: [UInt8]?) {
        defer { tellRefusals() }
        take(desk.proceed(waiting.exchange, reply: line, using: &random), waiting.pending, isContinuation: true)
    }

    private func take(_ step: GatewayDesk.Step, _ pending: PendingRequest, isContinuation: Bool) {
        switch step {
        case .query(let line, let exchange):
            link?.send(
                line, InjectLink.Waiting(exchange: exchange, pending: pending), isContinuation: isContinuation)
        case .answer(let response, .zero): answer(pending, with: response)
        case .status:
            var status = transport.counts
            status.connections = transport.connectionCount
            status.daemonProblem = linkProblem
            status.overQuota = desk.sendsOverQuota
            status.refusals = desk.refusals
            status.credentials = desk.credentials
            status.certificateEnds = certificates.leafEnds.map { WallTime(milliseconds: $0 * 1000) }
            status.authorityEnds = WallTime(milliseconds: certificates.ends * 1000)
            status.hasNextAuthority = certificates.nextEnds != nil
            status.authorities = String(decoding: certificates.trusted, as: UTF8.self)
            let type = GatewayRequest.Header("content-type", "application/json")
            // The status request does not count itself.
            transport.counts.requests -= 1
            transport.answer(pending.ticket, with: GatewayResponse(status: 200, headers: [type], body: status.json))
        case .answer(let response, let delay):
            let answer = Delayed(
                at: EventLoop.nowNanoseconds + delay.nanoseconds, pending: pending, response: response)
            let place = delayed.firstIndex { answer < $0 } ?? delayed.endIndex
            delayed.insert(answer, at: place)
            if let first = delayed.first { delayTimer?.arm(at: first.at) }
        }
    }

    private func answer(_ pending: PendingRequest, with response: GatewayResponse) {
        let now = WallTime(milliseconds: Int64(time(nil)) * 1000)
        transport.counts.note(response.status, client: pending.client, service: pending.service, at: now)
        transport.answer(pending.ticket, with: response)
    }

    private func answerDelayed() {
        let now = EventLoop.nowNanoseconds
        while let first = delayed.first, first.at <= now {
            delayed.removeFirst()
            answer(first.pending, with: first.response)
        }
        if let first = delayed.first { delayTimer?.arm(at: first.at) }
    }

    // MARK: Daemon and certificates

    private func note(_ problem: String?) {
        guard problem != linkProblem else { return }
        if let problem {
            log(JournalEntry(.warning, "\(problem); requests are answered 503 until the daemon is back"))
        } else if linkProblem != nil {
            log(JournalEntry(.notice, "the daemon takes requests again"))
        }
        linkProblem = problem
    }

    private func renew() {
        do {
            if let context = try certificates.renew(at: Int64(time(nil))) { transport.context = context }
        } catch {
            log(JournalEntry(.error, "the certificate was not renewed: \(error)"))
        }
    }
}
