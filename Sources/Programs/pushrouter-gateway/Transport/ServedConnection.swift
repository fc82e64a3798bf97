import Glibc
import HTTP2
import HTTPServer
import LinuxSystem
import PushGateway
import TLS

/// A client's connection: detects the protocol, and carries bytes between the client's socket, TLS and HTTP.
///
///     socket -> [CONNECT] -> [TLS] -> HTTP/2, or HTTP/1.1 over a pair of sockets to its library
final class ServedConnection {
    /// The protocol of the client.
    private enum ClientProtocol {
        /// There are too few bytes to detect it.
        case unknown
        case http2(HTTP2Session)
        case http1(Pipe)
        /// The last bytes are sent, and then the connection ends.
        case ending
    }

    /// A socket pair to libmicrohttpd, which serves HTTP/1.1 on the other end.
    private final class Pipe {
        let socket: SharedDescriptor
        var member: IOMember?
        var toLibrary = OutputQueue()

        init(_ socket: SharedDescriptor) { self.socket = socket }
    }

    let number: UInt64
    let peer: ClientPeer
    /// The peer and the number, for people.
    private let name: String
    /// `nil` once the connection has ended.
    private var socket: SharedDescriptor?
    private var member: IOMember?
    private unowned let transport: Transport
    private var tls: TLSLayer?
    private var isTunnel = false
    private var clientProtocol = ClientProtocol.unknown
    private var input: [UInt8] = []
    private var output = OutputQueue()
    /// The times of its beginning, of its last complete or answered request, and since when the client reads no bytes.
    private let began: Int64
    private var lastRequest: Int64?
    private var blockedSince: Int64?
    private var unansweredOfHTTP1 = 0
    /// Whether the client shut down its sending side, and its responses are still to come.
    private var isHalfClosed = false
    /// When the end of a session of HTTP/2 was announced.
    private var endAnnounced: Int64?
    /// The bytes that the connection holds: of incomplete requests, and of unread responses.
    private(set) var heldBytes = 0

    /// Prepares a connection; ``watch(in:)`` begins to serve it.
    ///
    /// - Parameter transport: owns the connection, and outlives it.
    init(_ socket: SharedDescriptor, _ peer: ClientPeer, number: UInt64, of transport: Transport, at now: Int64) {
        self.socket = socket
        self.peer = peer
        self.number = number
        name = "\(peer) #\(number)"
        self.transport = transport
        began = now
    }

    /// Adds the socket to the event loop's group.
    func watch(in group: IOGroup) throws(SystemError) {
        guard let socket else { return }
        member = try IOMember(of: group, descriptor: socket, interest: .read) { [unowned self] events in
            if events.contains(.write) { flush() }
            if !events.subtracting(.write).isEmpty { receive() }
        }
    }

    /// The facts about the connection for the handler of a request.
    var facts: ConnectionFacts {
        let isHTTP2 = if case .http2 = clientProtocol { true } else { false }
        let isUnix = if case .user = peer { true } else { false }
        var facts = ConnectionFacts(
            name: name, number: number, certificateTopics: tls?.certificateTopics,
            isLocal: peer.isLocal, isUnix: isUnix, isHTTP2: isHTTP2)
        facts.unanswered = unanswered
        return facts
    }

    /// The number of requests without a response.
    var unanswered: Int {
        if case .http2(let session) = clientProtocol { session.unanswered } else { unansweredOfHTTP1 }
    }

    // MARK: In

    private func receive() {
        // After the end of its input a socket reports only that the client has left.
        guard !isHalfClosed else { return close() }
        guard let socket, !isBlocked else { return }
        var plain: [UInt8] = []
        let count = transport.buffer.withUnsafeMutableBytes { buffer -> Int in
            let count = retryingInterrupts {
                recv(socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
            if count > 0 { plain = Array(buffer.prefix(count)) }
            return count
        }
        if count < 0 {
            guard errno != EAGAIN else { return }
            return close()
        }
        take(plain)
        if count == 0 { endOfInput() }
        updateHeldBytes()
        transport.closeLargestConnections()
    }

    /// Handles the end of the client's input. A client may shut down its sending side and wait for its responses.
    private func endOfInput() {
        guard !isHalfClosed else { return }
        switch clientProtocol {
        case .http2(let session) where session.unanswered > 0 || output.count > 0:
            isHalfClosed = true
            watchSocket()
        case .http1(let pipe):
            isHalfClosed = true
            flush(pipe)
        case .unknown, .http2, .ending: close()
        }
    }

    /// Handles bytes from the socket.
    private func take(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        guard let tls else { return takePlain(bytes) }
        var plain: [UInt8] = []
        let progress = tls.receive(bytes, into: &plain)
        queue(tls.takeOutput())
        if tls.isEstablished, case .unknown = clientProtocol, tls.applicationProtocol == "h2" { beginHTTP2() }
        takePlain(plain)
        switch progress {
        case .waiting: break
        case .closed: endOfInput()
        case .failed(let reason):
            transport.noteFailedTLS(reason, isHandshake: !tls.isEstablished)
            end()
        }
        flush()
    }

    /// Handles bytes that are not encrypted, or decrypted already.
    private func takePlain(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        switch clientProtocol {
        case .unknown:
            input += bytes
            decide()
        case .http2(let session):
            transport.now = EventLoop.nowNanoseconds
            do throws(HTTP2Failure) {
                let requests = try bytes.withUnsafeBufferPointer { (buffer) throws(HTTP2Failure) in
                    try session.receive(buffer, at: transport.now)
                }
                for request in requests { take(request) }
                if session.isReadyToGoAway { session.goAway() }
                produce()
            } catch {
                transport.noteFailure(of: self, error)
                produce()
                end()
            }
            if session.isOver { end() }
        case .http1(let pipe):
            pipe.toLibrary.append(bytes)
            flush(pipe)
        case .ending: break
        }
    }

    private func decide() {
        if tls == nil, input.first == 0x16 { return beginTLS() }
        if tls == nil, !isTunnel, Self.mayBegin(ProxyRequest.mark, input) {
            guard input.count >= ProxyRequest.mark.count else { return }
            return beginTunnel()
        }
        if Self.mayBegin(HTTP2Session.preface, input) {
            if input.count >= HTTP2Session.preface.count { beginHTTP2() }
            return
        }
        beginHTTP1()
    }

    /// Whether bytes are a prefix of a text, or the text is a prefix of them.
    private static func mayBegin(_ text: [UInt8], _ bytes: [UInt8]) -> Bool {
        zip(text, bytes).allSatisfy { $0 == $1 }
    }

    private func beginTLS() {
        do throws(TLSError) {
            tls = try TLSLayer(transport.context)
        } catch {
            return close()
        }
        take(exchange(&input, with: []))
    }

    private func beginTunnel() {
        switch ProxyRequest(input, isLocal: peer.isLocal, ownPort: ownPort) {
        case .incomplete: break
        case .refused(let answer):
            transport.counts.refusedTunnels += 1
            queue(answer)
            end()
        case .granted(let length):
            isTunnel = true
            input.removeFirst(length)
            queue(ProxyRequest.established)
            flush()
            if !input.isEmpty { decide() }
        }
    }

    /// The port that the client connected to; `nil` for a Unix socket.
    private var ownPort: UInt16? {
        guard let socket else { return nil }
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.rawValue, $0, &length) }
        }
        let family = Int32(address.sin6_family)
        // The port has the same place in both families.
        return result == 0 && [AF_INET, AF_INET6].contains(family) ? UInt16(bigEndian: address.sin6_port) : nil
    }

    // MARK: HTTP/2

    private func beginHTTP2() {
        do throws(HTTP2Failure) {
            clientProtocol = .http2(try HTTP2Session(transport.limits.http2))
        } catch {
            return close()
        }
        if transport.isStopping { goAway() }
        produce()
        takePlain(exchange(&input, with: []))
    }

    private func take(_ request: HTTP2Request) {
        lastRequest = transport.now
        transport.take(
            GatewayRequest(
                method: request.header(":method") ?? "", target: request.header(":path") ?? "",
                headers: request.headers, body: request.body,
                fault: request.isTooLong ? .tooLong(limit: transport.limits.http2.bodyBytes) : nil),
            Ticket(connection: number, place: .stream(request.stream)), of: self)
    }

    /// Sends the session's output, up to the limit of unread bytes.
    private func produce() {
        guard case .http2(let session) = clientProtocol else { return }
        while output.count < transport.limits.outputBytes, session.hasOutput {
            let bytes = session.takeOutput()
            guard !bytes.isEmpty else { break }
            queueEncrypted(bytes)
        }
        flush()
    }

    /// Responds to an HTTP/2 request.
    func respond(to stream: Int32, with response: GatewayResponse) {
        guard case .http2(let session) = clientProtocol else { return }
        lastRequest = transport.now
        session.respond(
            to: stream, status: response.status, headers: response.headers.map { ($0.name, $0.value) },
            body: response.body)
        transport.produceAtEndOfTurn(self)
    }

    /// Sends the responses of a turn.
    func endTurn() {
        produce()
        if case .http2(let session) = clientProtocol, session.isOver { end() }
    }

    /// Tells the client to send its next requests on another connection (GOAWAY). Requests that are on their way are
    /// answered: the last GOAWAY goes when the client has seen the first one, or a second later.
    func goAway() {
        switch clientProtocol {
        case .http2(let session):
            guard !session.isEndAnnounced else { return finishGoingAway(session) }
            session.announceEnd()
            endAnnounced = transport.now
            produce()
        case .http1: if unansweredOfHTTP1 == 0 { end() }
        case .unknown, .ending: end()
        }
    }

    private func finishGoingAway(_ session: HTTP2Session) {
        session.goAway()
        produce()
        if session.isOver { end() }
    }

    // MARK: HTTP/1.1

    private func beginHTTP1() {
        guard let own = SocketPair()?.split({ transport.http1.add($0, key: number) }) else {
            transport.counts.refused += 1
            return close()
        }
        let pipe = Pipe(own)
        do throws(SystemError) {
            pipe.member = try IOMember(of: transport.group, descriptor: own, interest: .read) {
                [unowned self, unowned pipe] events in
                if events.contains(.write) { flush(pipe) }
                if !events.subtracting(.write).isEmpty { receive(from: pipe) }
            }
        } catch {
            return close()
        }
        clientProtocol = .http1(pipe)
        takePlain(exchange(&input, with: []))
    }

    private func flush(_ pipe: Pipe) {
        guard pipe.toLibrary.flush(to: pipe.socket.rawValue) else { return close() }
        // The library closes the pipe after its last response.
        if isHalfClosed, pipe.toLibrary.count == 0 { shutdown(pipe.socket.rawValue, Int32(SHUT_WR)) }
        pipe.member?.interest = pipe.toLibrary.count > 0 ? [.read, .write] : .read
        transport.runHTTP1AtEndOfTurn()
        watchSocket()
    }

    /// Handles output of libmicrohttpd for the client.
    private func receive(from pipe: Pipe) {
        guard output.count < transport.limits.outputBytes else {
            pipe.member?.interest = []
            return
        }
        var bytes: [UInt8] = []
        let count = transport.buffer.withUnsafeMutableBytes { buffer -> Int in
            let count = retryingInterrupts {
                recv(pipe.socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
            if count > 0 { bytes = Array(buffer.prefix(count)) }
            return count
        }
        if count > 0 {
            queueEncrypted(bytes)
            flush()
        } else if count == 0 || errno != EAGAIN {
            end()
        }
    }

    /// Ends the connection with bytes that are no HTTP/1.1.
    func endHTTP1(with bytes: [UInt8]) {
        queueEncrypted(bytes)
        end()
    }

    /// Notes that libmicrohttpd has a complete request.
    func beginHTTP1Request() {
        unansweredOfHTTP1 += 1
        lastRequest = transport.now
    }

    /// Notes that an HTTP/1.1 request gets its response.
    func endHTTP1Request() {
        unansweredOfHTTP1 -= 1
        lastRequest = transport.now
    }

    // MARK: Out

    /// Updates the transport's sum of held bytes.
    private func updateHeldBytes() {
        var held = 0
        if socket != nil {
            held = input.count + output.count
            switch clientProtocol {
            case .http2(let session): held += session.heldBytes
            case .http1(let pipe): held += pipe.toLibrary.count
            case .unknown, .ending: break
            }
        }
        transport.heldBytes += held - heldBytes
        heldBytes = held
    }

    private var isBlocked: Bool {
        if case .http1(let pipe) = clientProtocol, pipe.toLibrary.count > transport.limits.outputBytes { return true }
        return output.count > transport.limits.outputBytes
    }

    private func queueEncrypted(_ bytes: [UInt8]) {
        guard let tls else { return queue(bytes) }
        if tls.write(bytes) { queue(tls.takeOutput()) } else { end() }
    }

    private func queue(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        output.append(bytes)
    }

    private func flush() {
        guard let socket else { return }
        let before = output.count
        guard output.flush(to: socket.rawValue) else { return close() }
        if output.count == 0 {
            blockedSince = nil
            if case .ending = clientProtocol { return close() }
            if before > 0 { resume() }
            if isFinished { return end() }
        } else if output.count < before || blockedSince == nil {
            blockedSince = EventLoop.nowNanoseconds
        }
        updateHeldBytes()
        watchSocket()
    }

    /// Whether a client of HTTP/2 that sends nothing more has all of its responses, as far as its windows allow.
    private var isFinished: Bool {
        guard isHalfClosed, case .http2(let session) = clientProtocol else { return false }
        return session.unanswered == 0 && !session.hasOutput
    }

    /// Continues to produce output: the client has read everything.
    private func resume() {
        switch clientProtocol {
        case .http2(let session): if session.hasOutput { transport.produceAtEndOfTurn(self) }
        case .http1(let pipe): pipe.member?.interest = pipe.toLibrary.count > 0 ? [.read, .write] : .read
        case .unknown, .ending: break
        }
    }

    private func watchSocket() {
        var interest: IOEvents = isHalfClosed ? .hangup : isBlocked ? [] : .read
        if output.count > 0 { interest.insert(.write) }
        if member?.interest != interest { member?.interest = interest }
    }

    // MARK: The end

    /// Ends the connection if a time limit is over.
    ///
    /// - Returns: whether the client was too slow.
    func endIfOverdue(at now: Int64) -> Bool {
        let limits = transport.limits
        if let blockedSince, now - blockedSince > limits.unread {
            close()
            return true
        }
        let isLate =
            if case .http2(let session) = clientProtocol, let began = session.oldestUnfinished {
                now - began > limits.firstRequest
            } else if unanswered > 0 {
                false
            } else if let lastRequest {
                // A client that obeys GOAWAY has left by now.
                now - lastRequest > limits.idle + limits.unread
            } else {
                now - began > limits.firstRequest
            }
        if isLate {
            end()
            return true
        }
        if let endAnnounced {
            if now - endAnnounced >= limits.announced { goAway() }
        } else if unanswered == 0, let lastRequest, now - lastRequest > limits.idle {
            goAway()
        }
        return false
    }

    /// Sends the remaining output, and then closes.
    private func end() {
        if case .ending = clientProtocol { return }
        clientProtocol = .ending
        tls?.close()
        if let tls { queue(tls.takeOutput()) }
        flush()
    }

    /// Closes the connection.
    func close() {
        guard socket != nil else { return }
        clientProtocol = .ending
        member?.leave()
        socket = nil
        updateHeldBytes()
        transport.remove(self)
    }
}

/// A TLS session in a class.
private final class TLSLayer {
    private var session: TLSSession

    init(_ context: TLSContext) throws(TLSError) { session = try TLSSession(context) }

    var isEstablished: Bool { session.isEstablished }
    var applicationProtocol: String? { session.applicationProtocol }
    /// The topics in the client's certificate; `nil`: the client has none.
    var certificateTopics: [String]? { session.clientCertificate?.userIDs }

    func receive(_ bytes: [UInt8], into plain: inout [UInt8]) -> TLSSession.Progress {
        bytes.withUnsafeBytes { session.receive($0) }
        return session.read(into: &plain)
    }

    func write(_ bytes: [UInt8]) -> Bool { session.write(bytes) }
    func takeOutput() -> [UInt8] { session.takeOutput() }
    func close() { session.close() }
}

/// Two connected sockets of this process.
private struct SocketPair: ~Copyable {
    let own: FileDescriptor
    let far: FileDescriptor

    /// Makes the pair; `nil` if no descriptor is left.
    init?() {
        var ends: (Int32, Int32) = (-1, -1)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            socketpair(AF_UNIX, kind, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard result == 0 else { return nil }
        own = FileDescriptor(owning: ends.0)
        far = FileDescriptor(owning: ends.1)
    }

    /// Keeps one socket, and passes on the other.
    consuming func split(_ give: (consuming FileDescriptor) -> Bool) -> SharedDescriptor? {
        guard give(far) else { return nil }
        return SharedDescriptor(own)
    }
}
