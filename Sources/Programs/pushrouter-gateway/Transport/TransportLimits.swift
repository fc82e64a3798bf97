import HTTP2
import HTTPServer
import PushGateway

/// Bounds of what clients can take of the gateway.
struct TransportLimits: Sendable {
    /// Connections at a time, all together.
    var connections = 4096
    /// Connections of one peer: half of all. On loopback, where each peer has the same address, it does not count.
    var connectionsOfPeer: Int { connections / 2 }
    /// How long a connection may take until its first request is complete, and a request of HTTP/2 to come, in nanoseconds.
    var firstRequest: Int64 = 30_000_000_000
    /// How long it may rest without a request, in nanoseconds.
    var idle: Int64 = 300_000_000_000
    /// How long a client may leave its answers unread, in nanoseconds.
    var unread: Int64 = 30_000_000_000
    /// Bytes of answers that wait for one client before no more of its requests are read.
    var outputBytes = 128 << 10
    /// Bytes of requests that have not come as a whole and of answers that were not taken, of all clients. Beyond them the
    /// connection that holds most is ended.
    var heldBytes: Int { max(16 << 20, 2 * http2.bodyBytes) }
    /// Bytes of requests that wait for the daemon, of all clients; beyond them a request is answered 503.
    var waitingBytes = 16 << 20
    /// Requests that wait for the daemon, of all clients. From the half on a connection may have ``waitingOfConnection``.
    var waitingRequests = 10_000
    var waitingOfConnection = 10
    /// Those of HTTP/2.
    var http2 = HTTP2Limits()
    /// Those of HTTP/1.1.
    var http1 = HTTPConnections.Limits()
}
