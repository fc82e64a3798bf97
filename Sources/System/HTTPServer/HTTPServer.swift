import CMicroHTTPD
import Glibc
public import LinuxSystem

/// An HTTP/1.1 server for a few untrusted clients: connections, bytes and time are limited.
///
/// Its own threads answer requests one by one; the answering closure may block, for less than ``Limits/seconds``. It
/// gets requests with any path, and must check ``HTTPRequest/path``.
public final class HTTPServer: Sendable {
    /// The limits for clients.
    public struct Limits: Sendable {
        /// The number of requests answered at a time, each on a thread; at least 2.
        public var threads: UInt32 = 4
        /// The largest number of connections. Further ones wait in the kernel until there is room.
        public var connections: UInt32 = 32
        /// The bytes of a connection for the request line and the headers, and for each read and write. A request with
        /// longer headers is answered 431.
        var connectionBytes = 16 << 10
        /// The bytes of a request's body. A longer one is answered 413; if its length was not announced, the connection
        /// is closed.
        public var bodyBytes = 0
        /// The time for a request and its answer, and for a connection between two requests, in seconds.
        public var seconds: UInt32 = 10

        /// The limits of a page that accepts no bodies.
        public init() {}
    }

    // The context must outlive the daemon: deinit stops the daemon and its threads first.
    private let daemon: OpaquePointerBox
    private let context: RequestContext

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - socket: a listening socket, which the server owns and closes. The server does not shut it down: another
    ///     process may listen on it too.
    ///   - limits: the limits for clients.
    ///   - answer: called for each request, on one of the server's threads.
    /// - Throws: if the system has no thread, descriptor or memory left.
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
            // Whether the library has closed the socket is unknown, so it may leak; a program that cannot serve ends
            // soon.
        else { throw SystemError(operation: "start the HTTP server", errno: errno) }
        daemon = OpaquePointerBox(address: UInt(bitPattern: started))
    }

    // MHD_stop_daemon waits for answers under way, and closes all connections. It would also shut down the listening
    // socket, which the service manager shares. MHD_quiesce_daemon takes the socket from the library first. Only after
    // the stop no thread uses the socket.
    deinit {
        if let started = OpaquePointer(bitPattern: daemon.address) {
            let socket = MHD_quiesce_daemon(started)
            MHD_stop_daemon(started)
            if socket >= 0 { close(socket) }
        }
        withExtendedLifetime(context) {}
    }

    /// Shuts down the connections that take too long; to be called about every second.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: how many there were.
    @discardableResult
    public func endOverdue(at now: Int64) -> Int { context.deadlines.endOverdue(at: now) }
}

/// The address of libmicrohttpd's daemon, whose functions are thread-safe.
private struct OpaquePointerBox: Sendable {
    let address: UInt
}
