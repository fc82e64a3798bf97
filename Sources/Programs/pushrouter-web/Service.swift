import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews

/// The running program. The loop has the connections. One thread reads pages, one feeds streams and waits, and one acts and asks
/// the daemon, so that neither a search nor the daemon delays an event.
final class Service: LoopService {
    static let canReload = true

    /// A request under way, with the key of its connection.
    private struct Asked {
        let number: HTTPConnections.RequestNumber
        let connection: UInt64
    }

    private struct PendingRequest {
        let request: Asked
        let peer: WebPeer
        /// When a request with `wait=` gets an empty answer.
        var end: Int64?
    }

    private let loop: EventLoop
    private let access: WebAccess
    private let http: HTTPConnections
    private let entrances: Entrances
    private let streamsMax: Int
    private var shares: ConnectionShares
    private let reader: JobThread<WorkerJob>
    private let actor: JobThread<WorkerJob>
    private let feeder: JobThread<WorkerJob>
    private let log: (JournalEntry) -> Void
    private var httpSource: IOSource?
    private var resultSource: IOSource?
    private var acceptors: [(acceptor: Acceptor, source: IOSource)] = []
    private var timers: [RepeatingTimer] = []
    private var pending: [UInt64: PendingRequest] = [:]
    /// The ids of the subscriptions: streams, and requests with `wait=`.
    private var listening: StreamShares
    private var streams: [HTTPConnections.RequestNumber: (id: UInt64, connection: UInt64)] = [:]
    private var limiter = ActLimiter()
    private var lastConnection: UInt64 = 0
    /// The last request that the API's list leaves out: that of a DELETE.
    private var clearedThrough: SequenceNumber?
    private var lastAsked: UInt64 = 0
    private var isPolling = false
    private var isIndexing = false
    private var willRun = false
    private var stopEnd: Int64 = 0
    private(set) var isStopping = false
    let status: String

    /// The most requests that may wait for the threads.
    private static let askedMax = 512
    /// How long SIGTERM waits for unfinished answers, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000
    /// How many clients are accepted in one turn.
    private static let acceptedAtOnce = 32
    /// How often the ledger is read for subscriptions while there are any.
    private static let pollInterval: Duration = .milliseconds(20)
    private static let indexInterval: Duration = .milliseconds(100)
    /// How long the index may be built in one go, in nanoseconds: requests wait behind it.
    private static let indexSlices: (idle: Int64, busy: Int64) = (50_000_000, 5_000_000)
    /// How long a request may take to come, and its answer to be read.
    private static let requestTime: Int64 = 20_000_000_000

    init(
        loop: EventLoop, plan: WorkerPlan, entrances: Entrances, connections: Int, streams: Int, status: String,
        log: @escaping (JournalEntry) -> Void
    ) throws {
        (self.loop, self.entrances, self.status, self.log) = (loop, entrances, status, log)
        access = plan.facts.access
        streamsMax = streams
        (shares, listening) = (ConnectionShares(limit: connections), StreamShares(limit: streams))
        var limits = HTTPConnections.Limits()
        // A connection that gives way takes its place until the library has closed it.
        limits.connections = UInt32(connections + 2 * Self.acceptedAtOnce)
        limits.bodyBytes = 1 << 20
        limits.heldBytes = 16 << 20
        limits.idleSeconds = 60
        limits.requestNanoseconds = Self.requestTime
        http = try HTTPConnections(limits)
        reader = JobThread("web-reader") { plan.begin() }
        actor = JobThread("web-actor") { plan.begin() }
        feeder = JobThread("web-feeder") { plan.begin() }
        // Unowned: all of these are properties of this object.
        http.connectionEnded = { [unowned self] key in shares.close(key) }
        http.streamEnded = { [unowned self] number in end(number) }
        if let descriptor = http.descriptor {
            httpSource = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in run() }
        }
        resultSource = try plan.results.receive(on: loop) { [unowned self] results in
            for result in results { take(result) }
            run()
            endIfDone()
        }
        timers = [
            try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in tick() },
            try RepeatingTimer(loop: loop, every: Self.pollInterval) { [unowned self] in poll() },
            try RepeatingTimer(loop: loop, every: Self.indexInterval) { [unowned self] in index() },
            try RepeatingTimer(loop: loop, every: LiveFeeds.heartbeatInterval) { [unowned self] in beat() },
        ]
        for descriptor in entrances.descriptors {
            let acceptor = Acceptor(descriptor)
            let source = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in
                accept(from: acceptor)
            }
            acceptors.append((acceptor, source))
        }
    }

    /// Asks for the configuration again. web.conf counts from a start on.
    func reload() -> String {
        for thread in [reader, actor, feeder] { submit(.readConfiguration, to: thread) }
        return status
    }

    func stop() {
        guard !isStopping else { return loop.exit(code: 0) }
        isStopping = true
        stopEnd = EventLoop.nowNanoseconds + Self.patience
        for (_, source) in acceptors { source.cancel() }
        for number in streams.keys { http.endStream(number) }
        for (id, waiting) in pending where waiting.end != nil {
            pending[id] = nil
            respond(waiting.request, LiveFeeds.nothing)
        }
        run()
        endIfDone()
    }

    /// Ends the loop once all requests are answered, or at `stopEnd`.
    private func endIfDone() {
        guard isStopping, pending.isEmpty || EventLoop.nowNanoseconds >= stopEnd else { return }
        loop.atEndOfTurn { [weak self] in
            self?.run()
            self?.loop.exit(code: 0)
        }
    }

    // MARK: Connections

    private func accept(from acceptor: Acceptor) {
        for _ in 0..<Self.acceptedAtOnce {
            switch acceptor.accept() {
            case .none: return
            case .refused:
                // No descriptor is left.
                if let idle = shares.closeIdle() { http.shutDown(idle) }
                return run()
            case .connection(let socket, let peer):
                lastConnection += 1
                let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 0)
                guard copy >= 0 else { return }
                let uid: UInt32? = if case .user(let id) = peer { id } else { nil }
                let client = WebPeer(name: peer.description, uid: uid)
                if let idle = shares.open(lastConnection, of: client, at: EventLoop.nowNanoseconds) {
                    http.shutDown(idle)
                }
                if !http.add(FileDescriptor(owning: copy), key: lastConnection) { shares.close(lastConnection) }
            }
        }
        run()
    }

    private func run() {
        for arrival in http.run() { begin(arrival) }
    }

    private func tick() {
        if http.endOverdue(at: EventLoop.nowNanoseconds) > 0 { run() }
        endIfDone()
    }

    // MARK: Requests

    private func begin(_ arrival: HTTPConnections.Arrival) {
        let peer = shares.peer(of: arrival.connection) ?? WebPeer(name: "unknown")
        let asked = Asked(number: arrival.number, connection: arrival.connection)
        shares.asks(arrival.connection)
        guard
            var request = WebRequest(
                method: arrival.method, target: arrival.target, headers: arrival.headers, body: arrival.body, peer: peer
            )
        else { return respond(asked, WebResponse(400, "the request's target cannot be read\n")) }
        if let refusal = access.refusal(of: request) { return respond(asked, refusal) }
        guard !arrival.isTooLong else { return respond(asked, WebResponse(413, "the body has more than 1 MiB\n")) }
        if request.isAct, !limiter.takes(peer, at: .now) {
            return respond(asked, WebResponse(429, "more than \(ActLimiter.perSecond) a second; try again\n"))
        }
        guard pending.count < Self.askedMax + streamsMax else {
            return respond(asked, WebResponse(503, "too many requests at once; try again\n"))
        }
        request.clearedThrough = clearedThrough
        lastAsked += 1
        pending[lastAsked] = PendingRequest(request: asked, peer: peer)
        // The daemon may be slow: a request that needs only the ledger does not wait for it.
        submit(.answer(lastAsked, request), to: WebDesk.asksDaemon(request) ? actor : reader)
    }

    private func submit(_ job: WorkerJob, to thread: JobThread<WorkerJob>) {
        do throws(SystemError) { try thread.submit(job) } catch {
            log(JournalEntry(.error, "\(error)"))
            switch job {
            case .answer(let id, _):
                if let pending = pending.removeValue(forKey: id) {
                    respond(pending.request, WebResponse(503, "no thread is left\n"))
                }
            case .poll: isPolling = false
            case .index: isIndexing = false
            case .listen, .leave, .readConfiguration: break
            }
        }
    }

    private func take(_ result: WorkerResult) {
        switch result {
        case .answer(let id, .response(let response)):
            if let pending = pending.removeValue(forKey: id) { respond(pending.request, response) }
        case .answer(let id, .cleared(let last, let response)):
            clearedThrough = last
            if let pending = pending.removeValue(forKey: id) { respond(pending.request, response) }
        case .answer(let id, .stream(let subscription)):
            guard let asked = pending.removeValue(forKey: id) else { return }
            guard makeRoom(for: asked.peer) else { return respond(asked.request, LiveFeeds.tooMany) }
            let number = asked.request.number
            guard http.beginStream(number, with: HTTPResponse(LiveFeeds.head)) else { return }
            streams[number] = (id, asked.request.connection)
            listen(id, subscription, of: asked.peer)
        case .answer(let id, .wait(let subscription, let time)):
            guard let asked = pending[id] else { return }
            guard makeRoom(for: asked.peer) else {
                pending[id] = nil
                return respond(asked.request, LiveFeeds.tooMany)
            }
            pending[id]?.end = EventLoop.nowNanoseconds + time.nanoseconds
            listen(id, subscription, of: asked.peer)
        case .feed(let id, .part(let bytes)):
            guard let number = streams.first(where: { $0.value.id == id })?.key else { return }
            if !http.send(bytes, to: number) { end(number) }
        case .feed(let id, .answer(let response)):
            _ = listening.close(id)
            if let pending = pending.removeValue(forKey: id) { respond(pending.request, response) }
        case .polled: isPolling = false
        case .indexed: isIndexing = false
        }
    }

    private func respond(_ request: Asked, _ response: WebResponse) {
        http.respond(to: request.number, with: HTTPResponse(response))
        shares.answered(request.connection, at: EventLoop.nowNanoseconds)
        guard !willRun else { return }
        willRun = true
        loop.atEndOfTurn { [weak self] in
            self?.willRun = false
            self?.run()
        }
    }

    // MARK: Subscriptions

    private func listen(_ id: UInt64, _ subscription: WebSubscription, of peer: WebPeer) {
        listening.open(id, of: peer)
        submit(.listen(id, subscription), to: feeder)
    }

    private func leave(_ id: UInt64) {
        guard listening.close(id) else { return }
        submit(.leave(id), to: feeder)
    }

    /// Ends a stream, unless it has ended.
    private func end(_ number: HTTPConnections.RequestNumber) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        http.endStream(number)
        shares.answered(stream.connection, at: EventLoop.nowNanoseconds)
        leave(stream.id)
    }

    /// Ends a stream or a waiting request of a client with many, if one more of this client needs that.
    ///
    /// - Returns: whether there is a place.
    private func makeRoom(for peer: WebPeer) -> Bool {
        switch listening.place(for: peer) {
        case .free: return true
        case .none: return false
        case .instead(of: let id):
            if let number = streams.first(where: { $0.value.id == id })?.key {
                end(number)
            } else {
                leave(id)
                if let waiting = pending.removeValue(forKey: id) { respond(waiting.request, LiveFeeds.tooMany) }
            }
            return true
        }
    }

    private func poll() {
        guard !listening.isEmpty else { return }
        let now = EventLoop.nowNanoseconds
        for (id, waiting) in pending where waiting.end.map({ $0 <= now }) ?? false {
            pending[id] = nil
            leave(id)
            respond(waiting.request, LiveFeeds.nothing)
        }
        guard !isPolling else { return }
        isPolling = true
        submit(.poll, to: feeder)
    }

    private func index() {
        guard !isIndexing else { return }
        isIndexing = true
        let isIdle = pending.allSatisfy { $0.value.end != nil }
        submit(.index(nanoseconds: isIdle ? Self.indexSlices.idle : Self.indexSlices.busy), to: reader)
    }

    private func beat() {
        for number in Array(streams.keys) where !http.send(LiveFeeds.heartbeat, to: number) { end(number) }
        run()
    }
}

extension HTTPResponse {
    /// Makes a response of the page, with the headers that all have.
    init(_ response: WebResponse) {
        self.init(status: response.status, headers: response.headers + WebResponse.safety, body: response.body)
    }
}
