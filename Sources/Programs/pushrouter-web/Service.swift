import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews

/// The running program. The loop has the connections. One thread reads pages, one feeds streams and waits, and one acts and asks
/// the daemon, so that neither a search nor the daemon delays an event.
final class Service: LoopService {
    static let canReload = true

    private struct PendingRequest {
        let number: HTTPConnections.RequestNumber
        let peer: WebPeer
        /// When a request with `wait=` gets an empty answer.
        var end: Int64?
    }

    private let loop: EventLoop
    private let access: WebAccess
    private let http: HTTPFront
    private let streamsMax: Int
    private let reader: JobThread<WorkerJob>
    private let actor: JobThread<WorkerJob>
    private let feeder: JobThread<WorkerJob>
    private let log: (JournalEntry) -> Void
    private var resultSource: IOSource?
    private var timers: [RepeatingTimer] = []
    private var pending: [UInt64: PendingRequest] = [:]
    /// The ids of the subscriptions: streams, and requests with `wait=`.
    private var listening: StreamShares
    private var streams: [HTTPConnections.RequestNumber: UInt64] = [:]
    private var limiter = ActLimiter()
    /// The last request that the API's list leaves out: that of a DELETE.
    private var clearedThrough: SequenceNumber?
    private var lastAsked: UInt64 = 0
    private var isPolling = false
    private var isIndexing = false
    private var stopEnd: Int64 = 0
    private(set) var isStopping = false
    let status: String

    /// The most requests that may wait for the threads.
    private static let askedMax = 512
    /// How long SIGTERM waits for unfinished answers, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000
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
        (self.loop, self.status, self.log) = (loop, status, log)
        access = plan.facts.access
        streamsMax = streams
        listening = StreamShares(limit: streams)
        var limits = HTTPConnections.Limits()
        limits.connections = UInt32(connections)
        limits.bodyBytes = 1 << 20
        limits.heldBytes = 16 << 20
        limits.idleSeconds = 60
        limits.requestNanoseconds = Self.requestTime
        http = try HTTPFront(loop: loop, entrances: entrances, limits: limits)
        reader = JobThread("web-reader") { plan.begin() }
        actor = JobThread("web-actor") { plan.begin() }
        feeder = JobThread("web-feeder") { plan.begin() }
        // Unowned: all of these are properties of this object.
        http.arrived = { [unowned self] arrival, peer in begin(arrival, of: peer) }
        http.streamEnded = { [unowned self] number in end(number) }
        resultSource = try plan.results.receive(on: loop) { [unowned self] results in
            for result in results { take(result) }
            http.run()
            endIfDone()
        }
        timers = [
            try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in endIfDone() },
            try RepeatingTimer(loop: loop, every: Self.pollInterval) { [unowned self] in poll() },
            try RepeatingTimer(loop: loop, every: Self.indexInterval) { [unowned self] in index() },
            try RepeatingTimer(loop: loop, every: LiveFeeds.heartbeatInterval) { [unowned self] in beat() },
        ]
    }

    /// Has each thread read the configuration again. A change of web.conf takes effect only at the next start.
    func reload() -> String {
        for thread in [reader, actor, feeder] { submit(.readConfiguration, to: thread) }
        return status
    }

    func stop() {
        guard !isStopping else { return loop.exit(code: 0) }
        isStopping = true
        stopEnd = EventLoop.nowNanoseconds + Self.patience
        http.stopAccepting()
        for number in streams.keys { http.endStream(number) }
        for (id, waiting) in pending where waiting.end != nil {
            pending[id] = nil
            respond(waiting.number, LiveFeeds.nothing)
        }
        http.run()
        endIfDone()
    }

    /// Ends the loop once all requests are answered, or at `stopEnd`.
    private func endIfDone() {
        guard isStopping, pending.isEmpty || EventLoop.nowNanoseconds >= stopEnd else { return }
        loop.atEndOfTurn { [weak self] in
            self?.http.run()
            self?.loop.exit(code: 0)
        }
    }

    // MARK: Requests

    private func begin(_ arrival: HTTPConnections.Arrival, of client: ClientPeer) {
        let uid: UInt32? = if case .user(let id) = client { id } else { nil }
        let peer = WebPeer(name: client.description, uid: uid)
        let asked = arrival.number
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
        pending[lastAsked] = PendingRequest(number: asked, peer: peer)
        // The daemon may be slow: a request that needs only the ledger does not wait for it.
        submit(.answer(lastAsked, request), to: WebDesk.asksDaemon(request) ? actor : reader)
    }

    private func submit(_ job: WorkerJob, to thread: JobThread<WorkerJob>) {
        do throws(SystemError) { try thread.submit(job) } catch {
            log(JournalEntry(.error, "\(error)"))
            switch job {
            case .answer(let id, _):
                if let pending = pending.removeValue(forKey: id) {
                    respond(pending.number, WebResponse(503, "no thread is left\n"))
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
            if let pending = pending.removeValue(forKey: id) { respond(pending.number, response) }
        case .answer(let id, .cleared(let last, let response)):
            clearedThrough = last
            if let pending = pending.removeValue(forKey: id) { respond(pending.number, response) }
        case .answer(let id, .stream(let subscription)):
            guard let asked = pending.removeValue(forKey: id) else { return }
            guard makeRoom(for: asked.peer) else { return respond(asked.number, LiveFeeds.tooMany) }
            let number = asked.number
            guard http.beginStream(number, with: HTTPResponse(LiveFeeds.head)) else { return }
            streams[number] = id
            listen(id, subscription, of: asked.peer)
        case .answer(let id, .wait(let subscription, let time)):
            guard let asked = pending[id] else { return }
            guard makeRoom(for: asked.peer) else {
                pending[id] = nil
                return respond(asked.number, LiveFeeds.tooMany)
            }
            pending[id]?.end = EventLoop.nowNanoseconds + time.nanoseconds
            listen(id, subscription, of: asked.peer)
        case .feed(let id, .part(let bytes)):
            guard let number = streams.first(where: { $0.value == id })?.key else { return }
            if !http.send(bytes, to: number) { end(number) }
        case .feed(let id, .answer(let response)):
            _ = listening.close(id)
            if let pending = pending.removeValue(forKey: id) { respond(pending.number, response) }
        case .polled: isPolling = false
        case .indexed: isIndexing = false
        }
    }

    private func respond(_ number: HTTPConnections.RequestNumber, _ response: WebResponse) {
        http.respond(to: number, with: HTTPResponse(response))
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
        guard let id = streams.removeValue(forKey: number) else { return }
        http.endStream(number)
        leave(id)
    }

    /// Ends a stream or a waiting request of a client with many, if one more of this client needs that.
    ///
    /// - Returns: whether there is a place.
    private func makeRoom(for peer: WebPeer) -> Bool {
        switch listening.place(for: peer) {
        case .free: return true
        case .none: return false
        case .instead(of: let id):
            if let number = streams.first(where: { $0.value == id })?.key {
                end(number)
            } else {
                leave(id)
                if let waiting = pending.removeValue(forKey: id) { respond(waiting.number, LiveFeeds.tooMany) }
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
            respond(waiting.number, LiveFeeds.nothing)
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
        http.run()
    }
}

extension HTTPResponse {
    /// Makes a response of the page, with the headers that all have.
    init(_ response: WebResponse) {
        self.init(status: response.status, headers: response.headers + WebResponse.safety, body: response.body)
    }
}
