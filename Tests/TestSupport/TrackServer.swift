import Glibc
import Synchronization

/// A server of `POST /users/track` on a local port: it checks every request against the limits, and answers by a
/// script. Each connection has a thread, which ends with the server.
public final class TrackServer: Sendable {
    /// Returns the answer to a request; runs on the threads of the connections.
    public typealias Script = @Sendable (TrackRequest) -> TrackAnswer

    private let exchange: Exchange

    /// `http://127.0.0.1:PORT`
    public var url: String { "http://127.0.0.1:\(exchange.port)" }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - limits: the limits of a request.
    ///   - script: returns the answer to each request.
    public init(limits: TrackRequest.Limits = TrackRequest.Limits(), script: @escaping Script = { _ in .success }) {
        exchange = Exchange(limits: limits, script: script)
        runThread(exchange) { $0.accept() }
    }

    deinit { exchange.stop() }

    /// All requests so far, in order of arrival.
    public var requests: [TrackRequest] { exchange.state.withLock(\.requests) }

    /// The elements taken so far, in order.
    public var taken: [TrackRequest.Element] { exchange.state.withLock(\.taken) }

    /// The violations so far: limits, keys, and concurrent requests for the same user.
    public var violations: [String] { exchange.state.withLock(\.violations) }

    /// The number of connections so far.
    public var connections: Int { exchange.state.withLock(\.connections) }
}

/// The state that a server's threads share.
private final class Exchange: Sendable {
    struct State: Sendable {
        var requests: [TrackRequest] = []
        var taken: [TrackRequest.Element] = []
        var violations: [String] = []
        var connections = 0
        var open: Set<Int32> = []
        var usersUnderway: [String: Int] = [:]
        var isStopping = false
    }

    let state = Mutex(State())
    let port: UInt16
    private let listener: Int32
    private let limits: TrackRequest.Limits
    private let script: TrackServer.Script

    init(limits: TrackRequest.Limits, script: @escaping TrackServer.Script) {
        self.limits = limits
        self.script = script
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        precondition(isListening, "cannot listen on 127.0.0.1: \(systemReason())")
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(listener) }

    func stop() {
        state.withLock { state in
            state.isStopping = true
            for socket in state.open { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    func accept() {
        while true {
            let socket = acceptConnection(of: listener)
            guard socket >= 0 else { return }
            let isWanted = state.withLock { state in
                guard !state.isStopping else { return false }
                state.connections += 1
                state.open.insert(socket)
                return true
            }
            guard isWanted else {
                close(socket)
                return
            }
            runThread(self) { $0.serve(socket) }
        }
    }

    private func serve(_ socket: Int32) {
        var reader = HTTPReader(socket: socket)
        while let (start, headers, body) = reader.next() {
            let request = state.withLock { state in
                let request = TrackRequest(
                    number: state.requests.count, start: start, headers: headers, body: body, limits: limits)
                state.begin(request)
                return request
            }
            let answer = script(request)
            state.withLock { $0.end(request, answer) }
            guard answer.send(for: request, to: socket) else { break }
        }
        state.withLock { _ = $0.open.remove(socket) }
        close(socket)
    }
}

extension Exchange.State {
    fileprivate mutating func begin(_ request: TrackRequest) {
        requests.append(request)
        violations += request.violations
        for user in Set(request.elements.map(\.user)) {
            if usersUnderway[user, default: 0] > 0 { violations.append("two requests at once have \(user)") }
            usersUnderway[user, default: 0] += 1
        }
    }

    fileprivate mutating func end(_ request: TrackRequest, _ answer: TrackAnswer) {
        for user in Set(request.elements.map(\.user)) { usersUnderway[user, default: 0] -= 1 }
        guard answer.takesIn else { return }
        var refused: Set<String> = []
        if case .partial(let errors) = answer { refused = Set(errors.map { "\($0.array) \($0.index)" }) }
        var counts: [String: Int] = [:]
        for element in request.elements {
            let index = counts[element.array, default: 0]
            counts[element.array] = index + 1
            if !refused.contains("\(element.array) \(index)") { taken.append(element) }
        }
    }
}

/// Reads the requests of a connection.
private struct HTTPReader {
    let socket: Int32
    private var input: [UInt8] = []

    init(socket: Int32) { self.socket = socket }

    /// Returns the next request; `nil` at the end of the connection, and for other input.
    mutating func next() -> (start: String, headers: [String: String], body: [UInt8])? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let place = input.indices.first(where: { input[$0...].starts(with: end) }) {
                let lines = String(decoding: input[..<place], as: UTF8.self).split(separator: "\r\n").map(String.init)
                input.removeFirst(place + end.count)
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                    headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
                }
                guard let length = headers["content-length"].flatMap({ Int($0) }) else { return nil }
                while input.count < length { guard receive() else { return nil } }
                let body = Array(input.prefix(length))
                input.removeFirst(length)
                return (lines[0], headers, body)
            }
            guard receive() else { return nil }
        }
    }

    private mutating func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &chunk, chunk.count, 0)
        input += chunk.prefix(max(count, 0))
        return count > 0
    }
}

/// Runs a function on a new thread, which keeps `object` alive.
private func runThread<Object: AnyObject>(_ object: Object, _ body: @escaping @Sendable (Object) -> Void) {
    let box = Unmanaged.passRetained(ThreadStart { body(object) }).toOpaque()
    var thread = pthread_t()
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
    precondition(pthread_create(&thread, nil, start, box) == 0, "cannot start a thread")
    pthread_detach(thread)
}

private final class ThreadStart {
    let run: () -> Void

    init(run: @escaping () -> Void) { self.run = run }
}
