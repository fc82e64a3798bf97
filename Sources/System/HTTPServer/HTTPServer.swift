import CMicroHTTPD
import Glibc
public import LinuxSystem

/// An HTTP/1.1 server for few clients that need not be trusted: connections, bytes and time are bounded.
///
/// It has threads of its own, on which requests are answered one by one; who answers may wait, for less than
/// ``Limits/seconds``. Each answer may have any path: who answers looks at ``HTTPRequest/path``.
public final class HTTPServer: Sendable {
    /// What a client can take of the server.
    public struct Limits: Sendable {
        /// How many requests are answered at a time, each on a thread; at least 2.
        public var threads: UInt32 = 4
        /// How many connections there are at most. The others wait in the kernel until there is room.
        public var connections: UInt32 = 32
        /// Bytes that a connection may take for the request line, the headers and what is read or sent at a time. A request
        /// whose headers are longer is answered 431.
        public var connectionBytes = 16 << 10
        /// Bytes of a request's body. A longer one is answered 413, or not at all where its length was not announced.
        public var bodyBytes = 0
        /// How long a request and its answer may take, and how long a connection may rest between two, in seconds.
        public var seconds: UInt32 = 10

        /// As they are for a page that takes no bodies.
        public init() {}
    }

    // The context outlives the daemon, which is stopped, with its threads, before it is released: in deinit.
    private let daemon: OpaquePointerBox
    private let context: RequestContext

    /// Begins to serve.
    ///
    /// - Parameters:
    ///   - socket: a socket that listens; the server keeps it and closes it.
    ///   - limits: what clients can take.
    ///   - answer: called for each request, on one of the server's threads.
    /// - Throws: that the system has no thread, descriptor or memory left.
    public init(
        listeningOn socket: consuming ListeningSocket, limits: Limits = Limits(),
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        let context = RequestContext(
            bodyBytes: limits.bodyBytes, deadlines: ConnectionDeadlines(limit: Int64(limits.seconds) * 1_000_000_000),
            answer: answer)
        self.context = context
        let descriptor = socket.release()
        guard
            let started = CMicroHTTPD_start(
                descriptor, max(2, limits.threads), limits.connections, limits.connectionBytes, limits.seconds,
                RequestContext.handle, RequestContext.completed, RequestContext.connectionChanged,
                Unmanaged.passUnretained(context).toOpaque())
            // The library may have closed the socket by now, or not: who could not begin ends soon.
        else { throw SystemError(operation: "start the HTTP server", errno: errno) }
        daemon = OpaquePointerBox(address: UInt(bitPattern: started))
    }

    // Waits for the answers that are being made, and closes all connections.
    deinit {
        if let started = OpaquePointer(bitPattern: daemon.address) { MHD_stop_daemon(started) }
        withExtendedLifetime(context) {}
    }

    /// Ends the connections that take too long; to be called every second or so.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: how many there were.
    @discardableResult
    public func endOverdue(at now: Int64) -> Int { context.deadlines.endOverdue(at: now) }
}

/// The address of the daemon of libmicrohttpd, whose functions may be called from any thread.
private struct OpaquePointerBox: Sendable {
    let address: UInt
}
