/// Whoever is at the other end of a connection.
public enum ClientPeer: Hashable, Sendable, CustomStringConvertible {
    /// A user on a Unix socket.
    case user(UInt32)
    /// An address; of IPv6 the first 64 bits, which one customer has.
    case address(String)
    /// This machine over TCP.
    case loopback(String)

    public var description: String {
        switch self {
        case .user(let id): "uid \(id)"
        case .address(let text), .loopback(let text): text
        }
    }

    /// Whether it may ask for a tunnel to a push service.
    public var isLocal: Bool {
        switch self {
        case .user, .loopback: true
        case .address: false
        }
    }
}
