import HTTP2
import HTTPServer
import PushGateway

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
