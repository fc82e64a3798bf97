import CMicroHTTPD
import Glibc
public import LinuxSystem
import Synchronization

/// An HTTP/1.1 server on the caller's thread, which adds connections one by one and may answer requests later.
///
/// The caller watches ``descriptor``, and calls ``run()`` when it is readable, once a second, and after answers.
public final class HTTPConnections {
    /// Identifies a request until it is answered.
    public struct RequestNumber: Hashable, Sendable {
        let value: UInt64
        /// The key of its connection, as ``HTTPConnections/add(_:key:)`` got it.
        public let connection: UInt64
    }

    /// One complete request. Its target is not decoded.
    public struct Arrival: Sendable {
        /// Identifies the request for the answer.
        public let number: RequestNumber
        /// The method, unchanged.
        public let method: String
        /// The target of the request line, path and query, unchanged.
        public let target: String
        /// All headers in their order, unchanged.
        public let headers: [(name: String, value: String)]
        /// The body; empty if there is none, or if it is too long.
        public let body: [UInt8]
        /// Whether the body was longer than the limit: it was read, and discarded.
        public let isTooLong: Bool
    }

    /// The limits for clients.
    public struct Limits: Sendable {
        /// The number of connections.
        public var connections: UInt32 = 4096
        /// The bytes of a connection for the request line and the headers, and for each read and write.
        var connectionBytes = 16 << 10
        /// The bytes of a request's body. A longer one is discarded, and the request says so.
        public var bodyBytes = 256 << 10
        /// The bytes of a body that is discarded. A longer one is answered 413, or its connection is closed.
        var discardedBytes = 4 << 20
        /// The bytes of all incomplete bodies. A connection that exceeds them is closed.
        public var heldBytes = Int.max
        /// The seconds after which an idle connection is closed.
        public var idleSeconds: UInt32 = 300
        /// The time for a complete request to arrive, and for its answer to be read, in nanoseconds; `nil` means no
        /// limit. A streamed body has no limit.
        public var requestNanoseconds: Int64?
        /// The bytes of a streamed body that may wait for a client that does not read; beyond them the body ends.
        var streamBytes = 256 << 10

        /// The limits of a push gateway.
        public init() {}
    }

    /// A request under way. The library retains it until the request is over.
    fileprivate final class Pending {
        let target: String
        var hasBegun = false
        var method = ""
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// The bytes of a body that is too long, so far.
        var discarded = 0
        var number: RequestNumber?
        var response: HTTPResponse?
        var stream: StreamedBody?

        init(target: String) { self.target = target }

        /// The status and the text for a head that the library takes and a server must not; `nil` for a good one. A
        /// proxy in front could read it otherwise, and take a part of the body for the next request.
        ///
        /// - Parameter length: gets the value of Content-Length.
        func headFault(_ length: inout String?) -> (status: Int, text: String)? {
            var hosts = 0
            for (name, value) in headers {
                // RFC 9110, 5.5.
                if value.utf8.contains(0) { return (400, "a header has a NUL\n") }
                switch name.lowercased() {
                case "host":
                    hosts += 1
                    // RFC 9112, 3.2.
                    if hosts > 1 { return (400, "the request has more than one Host\n") }
                case "content-length":
                    // RFC 9112, 6.3.
                    if let length, length != value { return (400, "the lengths of the body differ\n") }
                    length = value
                case "transfer-encoding" where value.lowercased() != "chunked":
                    // RFC 9112, 6.1.
                    let coding = value.prefix(40).filter(\.isLetter)
                    return (501, "Transfer-Encoding is chunked or left out, not \(coding)\n")
                default: break
                }
            }
            return nil
        }
    }

    fileprivate let limits: Limits
    fileprivate let deadlines: ConnectionDeadlines?
    /// Takes the number of a request whose streamed answer has ended, or whose connection is gone.
    public var streamEnded: (RequestNumber) -> Void = { _ in }
    /// Takes the key of a connection that was closed.
    public var connectionEnded: (UInt64) -> Void = { _ in }
    fileprivate var streams: [RequestNumber: StreamedBody] = [:]
    // nil only while the server is being made.
    private var daemon: OpaquePointer?
    /// The descriptor for a loop's source; `nil` only while the server is being made.
    public private(set) var descriptor: SharedDescriptor?
    fileprivate var keys: [Int32: UInt64] = [:]
    /// The descriptors of the connections, by their keys.
    fileprivate var sockets: [UInt64: Int32] = [:]
    fileprivate var waiting: [RequestNumber: (connection: OpaquePointer, pending: Pending)] = [:]
    fileprivate var arrivals: [Arrival] = []
    fileprivate var lastNumber: UInt64 = 0
    /// The bytes of incomplete bodies, by the keys of their connections.
    private var bodies: [UInt64: Int] = [:]
    /// The bytes of all incomplete bodies.
    public private(set) var heldBytes = 0

    /// Starts the server.
    ///
    /// - Throws: if the system has no descriptor or memory left.
    public init(_ limits: Limits = Limits()) throws(SystemError) {
        self.limits = limits
        deadlines = limits.requestNanoseconds.map { ConnectionDeadlines(limit: $0) }
        daemon = CMicroHTTPD_start(
            limits.connections, limits.connectionBytes, limits.idleSeconds, Self.handle, Self.completed,
            Self.connectionChanged, Self.begin, Unmanaged.passUnretained(self).toOpaque())
        guard let daemon else { throw SystemError(operation: "start the HTTP server", errno: errno) }
        descriptor = try SharedDescriptor(copying: CMicroHTTPD_epoll(daemon))
    }

    // The library refuses to stop while requests are suspended, so deinit answers them first.
    deinit {
        streamEnded = { _ in }
        connectionEnded = { _ in }
        for stream in streams.values { stream.end() }
        for number in waiting.keys {
            respond(to: number, with: HTTPResponse(status: 503, body: []))
        }
        guard let daemon else { return }
        MHD_run(daemon)
        MHD_stop_daemon(daemon)
    }

    /// Takes over a connection: a nonblocking stream socket.
    ///
    /// - Parameter key: identifies the connection in its requests.
    /// - Returns: whether there was room; otherwise the socket is closed.
    public func add(_ socket: consuming FileDescriptor, key: UInt64) -> Bool {
        let number = socket.release()
        (keys[number], sockets[key]) = (key, number)
        deadlines?.begin(number, at: Self.now)
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        // On failure the library closes the socket.
        guard MHD_add_connection(daemon, number, &address, socklen_t(MemoryLayout<sa_family_t>.size)) == .YES else {
            (keys[number], sockets[key]) = (nil, nil)
            deadlines?.end(number)
            return false
        }
        return true
    }

    /// Shuts a connection down, which is closed during the next ``run()``.
    public func shutDown(_ key: UInt64) {
        // The descriptor is this connection's: it leaves `sockets` before it is closed.
        if let number = sockets[key] { shutdown(number, Int32(SHUT_RDWR)) }
    }

    /// Serves ready connections.
    ///
    /// - Returns: the requests that are complete now.
    public func run() -> [Arrival] {
        // A step may make the next one ready without any event on a descriptor, such as the close after an answer.
        var milliseconds: UInt64 = 0
        for _ in 0..<Self.stepsAtOnce {
            MHD_run(daemon)
            guard MHD_get_timeout(daemon, &milliseconds) == .YES, milliseconds == 0 else { break }
        }
        return exchange(&arrivals, with: [])
    }

    /// The largest number of MHD_run calls in one run. A connection needs fewer for one request.
    private static let stepsAtOnce = 8

    /// Answers a request, unless its connection is gone. The answer is sent during the next ``run()``.
    public func respond(to number: RequestNumber, with response: HTTPResponse) {
        guard let (connection, pending) = waiting.removeValue(forKey: number) else { return }
        pending.response = response
        deadlines?.begin(CMicroHTTPD_descriptor(connection), at: Self.now)
        MHD_resume_connection(connection)
    }

    /// Begins a streamed answer, unless its connection is gone.
    ///
    /// - Parameter head: the status, the headers, and the first part of the body.
    /// - Returns: whether it has begun; ``streamEnded`` reports its end.
    public func beginStream(_ number: RequestNumber, with head: HTTPResponse) -> Bool {
        guard let (connection, pending) = waiting.removeValue(forKey: number) else { return false }
        let stream = StreamedBody(on: connection, limit: limits.streamBytes)
        _ = stream.add(head.body)
        pending.response = head
        pending.stream = stream
        streams[number] = stream
        MHD_resume_connection(connection)
        return true
    }

    /// Adds a part to a streamed answer, sent during the next ``run()``.
    ///
    /// - Returns: whether there was room for it; otherwise the body ends.
    public func send(_ part: [UInt8], to number: RequestNumber) -> Bool {
        streams[number]?.add(part) ?? false
    }

    /// Ends a streamed answer.
    public func endStream(_ number: RequestNumber) { streams[number]?.end() }

    /// The number of streamed answers under way.
    var streamCount: Int { streams.count }

    /// Shuts down the connections whose request, or whose client in reading an answer, takes too long.
    ///
    /// - Returns: how many there were.
    public func endOverdue(at now: Int64) -> Int { deadlines?.endOverdue(at: now) ?? 0 }

    fileprivate static var now: Int64 { SystemClock.monotonicNanoseconds }

    /// The number of requests without an answer.
    public var unanswered: Int { waiting.count }

    /// Returns the bytes of a connection's incomplete body.
    public func heldBytes(of key: UInt64) -> Int { bodies[key] ?? 0 }

    /// Stops counting a connection's body, because it is complete or the connection is being closed.
    public func forget(_ key: UInt64) { heldBytes -= bodies.removeValue(forKey: key) ?? 0 }

    fileprivate func hold(_ count: Int, of key: UInt64) {
        bodies[key, default: 0] += count
        heldBytes += count
    }
}

// The callbacks of the library, on the caller's thread.
extension HTTPConnections {
    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPConnections? {
        // The pointer is valid: the library stops before this object is freed.
        context.map { Unmanaged<HTTPConnections>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called with the request line.
    private static let begin: CMicroHTTPD_TargetCallback = { _, target, _ in
        Unmanaged.passRetained(Pending(target: String(cString: target))).toOpaque()
    }

    /// Called after the headers, for each part of the body, after the complete request, and after its resumption.
    private static let handle: MHD_AccessHandlerCallback = { context, connection, _, method, _, bytes, count, slot in
        guard let server = server(context), let connection, let method, let count, let held = slot?.pointee else {
            return .NO
        }
        let pending = Unmanaged<Pending>.fromOpaque(held).takeUnretainedValue()
        if let response = pending.response { return response.queue(on: connection, body: pending.stream) }
        guard pending.hasBegun else {
            pending.hasBegun = true
            pending.method = String(cString: method)
            return server.begin(pending, connection)
        }
        guard count.pointee > 0 else { return server.finish(pending, connection) }
        guard let key = server.keys[CMicroHTTPD_descriptor(connection)] else { return .NO }
        // A client that sends reads no answer before the end of its body: a body that is too long is read on.
        if pending.discarded > 0 || pending.body.count + count.pointee > server.limits.bodyBytes {
            pending.discarded += pending.body.count + count.pointee
            pending.body = []
            server.forget(key)
            count.pointee = 0
            return pending.discarded <= server.limits.discardedBytes ? .YES : .NO
        }
        // A body that is under way allows no answer: the connection is closed.
        guard server.heldBytes + count.pointee <= server.limits.heldBytes else { return .NO }
        server.hold(count.pointee, of: key)
        pending.body += UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        count.pointee = 0
        return .YES
    }

    /// Called once for each request with a ``Pending``.
    private static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
        guard let held = slot?.pointee else { return }
        let pending = Unmanaged<Pending>.fromOpaque(held).takeRetainedValue()
        slot?.pointee = nil
        guard let server = server(context) else { return }
        if let connection { server.deadlines?.begin(CMicroHTTPD_descriptor(connection), at: now) }
        guard let number = pending.number else { return }
        server.waiting[number] = nil
        if server.streams.removeValue(forKey: number) != nil { server.streamEnded(number) }
    }

    /// Called when a connection is opened, and before its socket is closed.
    private static let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, _, change in
        guard let connection, change == .CONNECTION_NOTIFY_CLOSED, let server = server(context) else { return }
        server.deadlines?.end(CMicroHTTPD_descriptor(connection))
        guard let key = server.keys.removeValue(forKey: CMicroHTTPD_descriptor(connection)) else { return }
        server.sockets[key] = nil
        server.forget(key)
        server.connectionEnded(key)
    }

    private func begin(_ pending: Pending, _ connection: OpaquePointer) -> MHD_Result {
        withUnsafeMutablePointer(to: &pending.headers) { headers in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { headers, _, name, length, value, valueLength in
                    guard let headers, let name else { return .YES }
                    func text(_ bytes: UnsafePointer<CChar>?, _ length: Int) -> String {
                        String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
                    }
                    headers.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
                        (text(name, length), text(value, valueLength)))
                    return .YES
                }, headers)
        }
        var lengthInHead: String?
        if let (status, text) = pending.headFault(&lengthInHead) {
            return HTTPResponse(status: status, text: text, headers: [("Connection", "close")]).queue(on: connection)
        }
        guard let length = lengthInHead.flatMap({ Int($0) }), length > max(limits.bodyBytes, limits.discardedBytes)
        else { return .YES }
        let text = "the body has \(length) bytes; the limit is \(limits.bodyBytes)\n"
        return HTTPResponse(status: 413, text: text).queue(on: connection)
    }

    private func finish(_ pending: Pending, _ connection: OpaquePointer) -> MHD_Result {
        guard let key = keys[CMicroHTTPD_descriptor(connection)] else { return .NO }
        forget(key)
        // No deadline applies while the program works on the answer.
        deadlines?.end(CMicroHTTPD_descriptor(connection))
        lastNumber += 1
        let number = RequestNumber(value: lastNumber, connection: key)
        pending.number = number
        waiting[number] = (connection, pending)
        arrivals.append(
            Arrival(
                number: number, method: pending.method, target: pending.target,
                headers: pending.headers, body: exchange(&pending.body, with: []),
                isTooLong: pending.discarded > 0))
        MHD_suspend_connection(connection)
        return .YES
    }
}

extension HTTPResponse {
    /// Queues the response with the library.
    ///
    /// - Parameter stream: the body, if it is streamed.
    func queue(on connection: OpaquePointer, body stream: StreamedBody? = nil) -> MHD_Result {
        guard let response = stream.map({ $0.response() }) ?? copied else { return .NO }
        defer { MHD_destroy_response(response) }
        for (name, value) in headers { _ = MHD_add_response_header(response, name, value) }
        return MHD_queue_response(connection, UInt32(status), response)
    }

    private var copied: OpaquePointer? {
        var body = body
        return body.withUnsafeMutableBytes {
            MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
        }
    }
}

/// The deadlines of connections for their next answer. libmicrohttpd itself ends idle connections only: a client that
/// sends a byte at intervals would keep its place for ever.
///
/// May be used from any thread. `shutdown` and the removal of a descriptor happen under the same lock, and the removal
/// precedes its close, so the descriptor cannot be another connection's by then.
final class ConnectionDeadlines: Sendable {
    private let limit: Int64
    private let due = Mutex<[Int32: Int64]>([:])

    /// - Parameter limit: the time for a request and its answer, from the first byte or the previous answer on, in
    ///   nanoseconds.
    init(limit: Int64) { self.limit = limit }

    /// Begins the deadline of a connection that was opened, or whose answer was completely sent.
    func begin(_ descriptor: Int32, at now: Int64) {
        guard descriptor >= 0 else { return }
        due.withLock { $0[descriptor] = now + limit }
    }

    /// Removes a connection that is about to be closed.
    func end(_ descriptor: Int32) { due.withLock { _ = $0.removeValue(forKey: descriptor) } }

    /// Shuts down the connections past their deadline; the server then closes them.
    ///
    /// - Returns: how many there were.
    func endOverdue(at now: Int64) -> Int {
        due.withLock { due in
            let overdue = due.filter { $0.value <= now }.keys
            for descriptor in overdue {
                shutdown(descriptor, Int32(SHUT_RDWR))
                due[descriptor] = nil
            }
            return overdue.count
        }
    }
}
