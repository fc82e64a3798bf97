import Glibc
import HTTP2
import HTTPServer
import LinuxSystem
import PushGateway
import PushModel
import PushSettings
import TLS

/// The id of a request until its response.
struct Ticket: Hashable, Sendable {
    /// The place of a request in its connection.
    enum Place: Hashable, Sendable {
        case stream(Int32)
        case message(HTTPConnections.RequestNumber)
    }

    let connection: UInt64
    let place: Place
}

/// All connections of clients, on one loop thread. The handler gets each request with a ticket, which the response
/// needs.
final class Transport {
    let limits: TransportLimits
    private let loop: EventLoop
    /// The certificate of new connections.
    var context: TLSContext
    /// Called with each request.
    var handler: (GatewayRequest, ConnectionFacts, Ticket) -> Void = { _, _, _ in }
    /// Called when the last connection ends after ``stop()``.
    var ended: () -> Void = {}
    let group: IOGroup
    let http1: HTTPConnections
    /// The counters since the start.
    var counts = GatewayStatus()
    /// The bytes that all connections hold, without those in libmicrohttpd.
    var heldBytes = 0
    /// The time of this turn, exact enough for time limits.
    var now = EventLoop.nowNanoseconds
    private(set) var isStopping = false
    /// Scratch memory of all connections.
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    private var acceptors: [(acceptor: Acceptor, source: IOSource)] = []
    private var connections: [UInt64: ServedConnection] = [:]
    private var connectionsOfPeers: [ClientPeer: Int] = [:]
    private var lastNumber: UInt64 = 0
    /// The most connections since malloc's free memory was returned.
    private var mostConnections = 0
    private var http1Source: IOSource?
    private var timer: RepeatingTimer?
    private var willRunHTTP1 = false
    private var producing: [UInt64: ServedConnection] = [:]

    /// How many clients are accepted in one turn.
    private static let acceptedAtOnce = 32

    /// - Parameters:
    ///   - loop: the event loop of the calling thread.
    ///   - context: the context with the certificate.
    ///   - limits: the limits of clients.
    init(loop: EventLoop, context: TLSContext, limits: TransportLimits = TransportLimits()) throws(SystemError) {
        self.loop = loop
        self.context = context
        self.limits = limits
        group = try IOGroup(loop: loop)
        http1 = try HTTPConnections(limits.http1)
        if let descriptor = http1.descriptor {
            http1Source = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in
                runHTTP1()
            }
        }
        timer = try RepeatingTimer(loop: loop, every: .seconds(1)) { [unowned self] in tick() }
    }

    /// The number of connections.
    var connectionCount: Int { connections.count }

    /// Accepts connections on a socket.
    func listen(on descriptor: SharedDescriptor) throws(SystemError) {
        let acceptor = Acceptor(descriptor)
        let source = try IOSource(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] _ in
            accept(from: acceptor)
        }
        acceptors.append((acceptor, source))
    }

    private func accept(from acceptor: Acceptor) {
        now = EventLoop.nowNanoseconds
        for _ in 0..<Self.acceptedAtOnce {
            switch acceptor.accept() {
            case .none: return
            case .refused: return counts.refused += 1
            case .connection(let socket, let peer): add(socket, peer)
            }
        }
    }

    private func add(_ socket: SharedDescriptor, _ peer: ClientPeer) {
        let ofPeer = connectionsOfPeers[peer] ?? 0
        let isShared = if case .loopback = peer { true } else { false }
        guard connections.count < limits.connections, isShared || ofPeer < limits.connectionsOfPeer else {
            counts.refused += 1
            return
        }
        lastNumber += 1
        let connection = ServedConnection(socket, peer, number: lastNumber, of: self, at: now)
        do throws(SystemError) { try connection.watch(in: group) } catch { return counts.refused += 1 }
        counts.accepted += 1
        connections[lastNumber] = connection
        connectionsOfPeers[peer] = ofPeer + 1
    }

    /// Removes a connection that has ended.
    func remove(_ connection: ServedConnection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        producing[connection.number] = nil
        http1.forget(connection.number)
        let left = (connectionsOfPeers[connection.peer] ?? 1) - 1
        connectionsOfPeers[connection.peer] = left > 0 ? left : nil
        // libmicrohttpd sees the end of its socket.
        runHTTP1AtEndOfTurn()
        if isStopping, connections.isEmpty { loop.atEndOfTurn { [weak self] in self?.ended() } }
    }

    // MARK: Requests

    /// Passes a complete request to the handler.
    func take(_ request: GatewayRequest, _ ticket: Ticket, of connection: ServedConnection) {
        counts.requests += 1
        handler(request, connection.facts, ticket)
    }

    /// Sends a response, unless the connection has ended.
    func answer(_ ticket: Ticket, with response: GatewayResponse) {
        switch ticket.place {
        case .stream(let stream): connections[ticket.connection]?.respond(to: stream, with: response)
        case .message(let number):
            if let frames = response.framesForHTTP1 {
                connections[ticket.connection]?.endHTTP1(with: frames)
                return
            }
            connections[ticket.connection]?.endHTTP1Request()
            http1.respond(
                to: number,
                with: HTTPResponse(
                    status: response.status, headers: response.headers.map { ($0.name, $0.value) }, body: response.body)
            )
            runHTTP1AtEndOfTurn()
        }
    }

    /// Sends the responses of a connection at the end of the turn, all of a turn together.
    func produceAtEndOfTurn(_ connection: ServedConnection) {
        if producing.isEmpty { loop.atEndOfTurn { [weak self] in self?.produce() } }
        producing[connection.number] = connection
    }

    private func produce() {
        for connection in exchange(&producing, with: [:]).values { connection.endTurn() }
    }

    /// Runs libmicrohttpd at the end of the turn.
    func runHTTP1AtEndOfTurn() {
        guard !willRunHTTP1 else { return }
        willRunHTTP1 = true
        loop.atEndOfTurn { [weak self] in self?.runHTTP1() }
    }

    private func runHTTP1() {
        willRunHTTP1 = false
        now = EventLoop.nowNanoseconds
        for arrival in http1.run() {
            let ticket = Ticket(connection: arrival.number.connection, place: .message(arrival.number))
            guard let connection = connections[arrival.number.connection] else {
                http1.respond(to: arrival.number, with: HTTPResponse(status: 503, body: []))
                continue
            }
            connection.beginHTTP1Request()
            take(
                GatewayRequest(
                    method: arrival.method, target: arrival.target, headers: arrival.headers, body: arrival.body,
                    fault: arrival.isTooLong ? .tooLong(limit: limits.http1.bodyBytes) : nil),
                ticket, of: connection)
        }
        closeLargestConnections()
    }

    /// Closes the connections that hold most bytes, as long as all together hold too many.
    func closeLargestConnections() {
        while heldBytes + http1.heldBytes > limits.heldBytes {
            let largest = connections.values.max { held(by: $0) < held(by: $1) }
            guard let largest, held(by: largest) > 0 else { return }
            counts.floods += 1
            largest.close()
        }
    }

    private func held(by connection: ServedConnection) -> Int {
        connection.heldBytes + http1.heldBytes(of: connection.number)
    }

    // MARK: Time

    private func tick() {
        now = EventLoop.nowNanoseconds
        // A crowd of TLS connections leaves memory that malloc would keep.
        mostConnections = max(mostConnections, connections.count)
        if mostConnections > 2 * connections.count + 256 {
            FreedMemory.trim()
            mostConnections = connections.count
        }
        for connection in connections.values where connection.endIfOverdue(at: now) { counts.tooSlow += 1 }
        // libmicrohttpd has time limits, too.
        runHTTP1()
    }

    /// Accepts no more connections and requests; earlier requests get their responses.
    func stop() {
        isStopping = true
        acceptors = []
        for connection in connections.values { connection.goAway() }
        if connections.isEmpty { ended() }
    }

    /// Closes all connections.
    func endAll() { for connection in connections.values { connection.close() } }

    // MARK: Failures

    /// Counts a failed TLS handshake.
    func noteFailedTLS(_ reason: String, isHandshake: Bool) {
        guard isHandshake else { return }
        // OpenSSL has some hundred reasons, so the dictionary stays small.
        counts.failedHandshakes[reason, default: 0] += 1
    }

    /// Counts an HTTP/2 session that ended as a flood.
    func noteFailure(of connection: ServedConnection, _ failure: HTTP2Failure) {
        if failure == .flood { counts.floods += 1 }
    }
}

/// The limits of the resources that clients can take.
struct TransportLimits: Sendable {
    /// The most connections, of all clients together.
    var connections = 4096
    /// The most connections of one peer: half of all. It does not apply to loopback, where all peers have one address.
    var connectionsOfPeer: Int { connections / 2 }
    /// The time until a connection's first request, or any HTTP/2 request, must be complete, in nanoseconds.
    var firstRequest: Int64 = 30_000_000_000
    /// The longest time without a request, in nanoseconds.
    var idle: Int64 = 300_000_000_000
    /// The time for a client of HTTP/2 to see that its connection will end, before the last GOAWAY, in nanoseconds.
    var announced: Int64 = 1_000_000_000
    /// The longest time in which a client may read no bytes of its responses, in nanoseconds.
    var unread: Int64 = 30_000_000_000
    /// With more unread bytes than this no more requests of a client are read.
    var outputBytes = 128 << 10
    /// The bytes of incomplete requests and unread responses, of all clients. Above this the connection with the most
    /// bytes is closed.
    var heldBytes: Int { max(16 << 20, 2 * http2.bodyBytes) }
    /// The bytes of requests that wait for the daemon, of all clients; above this the response is 503.
    var waitingBytes = 16 << 20
    /// The requests that wait for the daemon, of all clients. Above half of it a connection may have
    /// ``waitingOfConnection``.
    var waitingRequests = 10_000
    var waitingOfConnection = 10
    /// The limits of HTTP/2.
    var http2 = HTTP2Limits()
    /// The limits of HTTP/1.1.
    var http1 = HTTPConnections.Limits()
}

/// Bytes to be sent to a socket.
struct OutputQueue {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// The number of unsent bytes.
    var count: Int { bytes.count - sent }

    mutating func append(_ more: [UInt8]) {
        guard count > 0 else {
            bytes = more
            sent = 0
            return
        }
        // The unsent bytes are moved to the front only if they are the smaller part.
        if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes += more
    }

    /// Sends until the socket's buffer is full.
    ///
    /// - Returns: whether the connection still works.
    mutating func flush(to socket: Int32) -> Bool {
        while count > 0 {
            let result = bytes.withUnsafeBytes { bytes in
                retryingInterrupts {
                    send(
                        socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
            }
            guard result >= 0 else { return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM }
            sent += result
        }
        bytes = []
        sent = 0
        return true
    }
}

/// The request of a client for a tunnel (`CONNECT`, RFC 9110, 9.3.6).
enum ProxyRequest: Equatable {
    /// The request is incomplete.
    case incomplete
    /// The tunnel leads to a push service; the length of the request in bytes.
    case granted(length: Int)
    /// The tunnel leads elsewhere, or the request is wrong; the response.
    case refused([UInt8])

    static let mark = Array("CONNECT ".utf8)
    static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
    /// The longest request, in bytes.
    static let longest = 8192

    /// - Parameters:
    ///   - bytes: the input so far, beginning with ``mark``.
    ///   - isLocal: whether the client is on this machine.
    ///   - ownPort: the port that the client connected to; `nil` for a Unix socket.
    init(_ bytes: [UInt8], isLocal: Bool, ownPort: UInt16? = nil) {
        guard let end = Self.end(of: bytes) else {
            self = bytes.count > Self.longest ? .refused(Self.answer(431, "the request is too long")) : .incomplete
            return
        }
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), let colon = words[1].lastIndex(of: ":") else {
            self = .refused(Self.answer(400, "the request is no CONNECT HOST:PORT HTTP/1.1"))
            return
        }
        let (host, port) = (words[1][..<colon], words[1][words[1].index(after: colon)...])
        guard isLocal else {
            self = .refused(Self.answer(403, "tunnels are for clients on this machine"))
            return
        }
        // Apple's service listens on 2197, too, for networks that block 443.
        let service = host.contains(":") ? .other : PushHost(authority: String(host))
        let hasPort = port == "443" || port == "2197" && service.has(.apns(isSandbox: false)) && service != .other
        // The endpoints of web push are at this machine: a tunnel to the gateway's own port ends here, too.
        let isOwn = ["localhost", "127.0.0.1", "[::1]"].contains(host) && ownPort.map(String.init) == String(port)
        guard service != .other && hasPort || isOwn else {
            self = .refused(
                Self.answer(403, "\(words[1]) is no push service: set NO_PROXY for it, or use another proxy"))
            return
        }
        self = .granted(length: end)
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (3..<bytes.count).first { place in
            bytes[place] == 0x0A && bytes[place - 1] == 0x0D && bytes[place - 2] == 0x0A && bytes[place - 3] == 0x0D
        }.map { $0 + 1 }
    }

    private static func answer(_ status: Int, _ sentence: String) -> [UInt8] {
        let text = "pushrouter-gateway: \(sentence)\n"
        let phrase = [400: "Bad Request", 403: "Forbidden", 431: "Request Header Fields Too Large"][status] ?? ""
        return Array(
            ("HTTP/1.1 \(status) \(phrase)\r\ncontent-type: text/plain; charset=utf-8\r\n"
                + "content-length: \(text.utf8.count)\r\nconnection: close\r\n\r\n\(text)").utf8)
    }
}
