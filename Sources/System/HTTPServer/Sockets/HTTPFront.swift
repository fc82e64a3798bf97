import Glibc
public import LinuxSystem
import PushModel

/// The HTTP server of a service: its listening sockets, connections and time limits, on the service's loop.
///
/// Each client gets its share of the connections (``ConnectionShares``).
public final class HTTPFront {
    /// Takes each complete request, with its client. To be set before the loop runs.
    public var arrived: (HTTPConnections.Arrival, ClientPeer) -> Void = { _, _ in }
    /// Takes the number of a request whose streamed answer has ended, or whose connection is gone.
    public var streamEnded: (HTTPConnections.RequestNumber) -> Void = { _ in }

    private let loop: EventLoop
    private let entrances: Entrances
    private let http: HTTPConnections
    private var shares: ConnectionShares<ClientPeer>
    private var source: IOSource?
    private var acceptors: [(acceptor: Acceptor, source: IOSource)] = []
    private var timer: RepeatingTimer?
    private var lastConnection: UInt64 = 0
    private var willRun = false

    /// How many clients are accepted in one turn.
    private static let acceptedAtOnce = 32

    /// Listens and serves from the loop's next turn on.
    ///
    /// - Parameters:
    ///   - loop: the service's loop, which outlives this object.
    ///   - entrances: the listening sockets.
    ///   - limits: the limits for clients.
    /// - Throws: if the system has no descriptor or memory left.
    public init(loop: EventLoop, entrances: Entrances, limits: HTTPConnections.Limits) throws(SystemError) {
        (self.loop, self.entrances) = (loop, entrances)
        shares = ConnectionShares(limit: Int(limits.connections))
        var limits = limits
        // A connection that gives way takes its place until the library has closed it.
        limits.connections += UInt32(2 * Self.acceptedAtOnce)
        http = try HTTPConnections(limits)
        // Unowned: all of these are properties of this object.
        http.connectionEnded = { [unowned self] key in shares.close(key) }
        http.streamEnded = { [unowned self] number in
            shares.answered(number.connection, at: EventLoop.nowNanoseconds)
            streamEnded(number)
        }
        if let descriptor = http.descriptor {
            source = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in run() }
        }
        timer = try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in
            endOverdue(at: EventLoop.nowNanoseconds)
        }
        for descriptor in entrances.descriptors {
            let acceptor = Acceptor(descriptor)
            let source = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in
                accept(from: acceptor)
            }
            acceptors.append((acceptor, source))
        }
    }

    /// Accepts no further clients.
    public func stopAccepting() {
        for (_, source) in acceptors { source.cancel() }
    }

    /// Answers a request, unless its connection is gone; the answer is sent at the end of the turn.
    public func respond(to number: HTTPConnections.RequestNumber, with response: HTTPResponse) {
        http.respond(to: number, with: response)
        shares.answered(number.connection, at: EventLoop.nowNanoseconds)
        runAtEndOfTurn()
    }

    /// Begins a streamed answer, as ``HTTPConnections/beginStream(_:with:)``.
    public func beginStream(_ number: HTTPConnections.RequestNumber, with head: HTTPResponse) -> Bool {
        http.beginStream(number, with: head)
    }

    /// Adds a part to a streamed answer, sent during the next ``run()``.
    ///
    /// - Returns: whether there was room for it; otherwise the body ends.
    public func send(_ part: [UInt8], to number: HTTPConnections.RequestNumber) -> Bool {
        http.send(part, to: number)
    }

    /// Ends a streamed answer.
    public func endStream(_ number: HTTPConnections.RequestNumber) {
        http.endStream(number)
        runAtEndOfTurn()
    }

    /// Serves ready connections; to be called after parts of streams.
    public func run() {
        for arrival in http.run() {
            shares.asks(arrival.number.connection)
            arrived(arrival, shares.peer(of: arrival.number.connection) ?? .address("unknown"))
        }
    }

    /// Shuts down the connections whose request, or whose client in reading an answer, takes too long.
    ///
    /// - Returns: how many there were.
    @discardableResult
    func endOverdue(at now: Int64) -> Int {
        let count = http.endOverdue(at: now)
        if count > 0 { run() }
        return count
    }

    /// The number of open connections.
    var connectionCount: Int { shares.count }

    private func runAtEndOfTurn() {
        guard !willRun else { return }
        willRun = true
        loop.atEndOfTurn { [weak self] in
            self?.willRun = false
            self?.run()
        }
    }

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
                let idle = shares.open(lastConnection, of: peer, at: EventLoop.nowNanoseconds)
                if let idle { http.shutDown(idle) }
                if !http.add(FileDescriptor(owning: copy), key: lastConnection) { shares.close(lastConnection) }
            }
        }
        run()
    }
}
