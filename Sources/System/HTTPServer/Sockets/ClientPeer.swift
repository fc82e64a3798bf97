/// The peer of a connection.
public enum ClientPeer: Hashable, Sendable, CustomStringConvertible {
    /// A user on a Unix socket.
    case user(UInt32)
    /// An address; for IPv6 its first 64 bits, the network of one customer.
    case address(String)
    /// This machine over TCP.
    case loopback(String)

    public var description: String {
        switch self {
        case .user(let id): "uid \(id)"
        case .address(let text), .loopback(let text): text
        }
    }

    /// Whether it may request a tunnel to a push service.
    public var isLocal: Bool {
        switch self {
        case .user, .loopback: true
        case .address: false
        }
    }
}
