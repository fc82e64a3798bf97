import Glibc

/// Tests whether a process listens at a socket, and sends nothing.
public enum SocketProbe {
    /// Returns why no process can be reached at a socket; `nil` if one listens. It does not wait: a full backlog is
    /// `system` with `EAGAIN`.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - datagrams: whether it is a datagram socket rather than a stream socket.
    public static func problem(at path: String, datagrams: Bool = false) -> ClientError? {
        guard SocketPath.fits(path) else { return .pathTooLong(path: path) }
        let kind = datagrams ? SOCK_DGRAM : SOCK_STREAM
        let flags = Int32(kind.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard let probe = FileDescriptor(socket(AF_UNIX, flags, 0)) else {
            return .system(operation: "create a socket for", path: path, errno: errno)
        }
        let result = SocketPath.withAddress(of: path) { connect(probe.rawValue, $0, $1) }
        guard result != 0 else { return nil }
        return switch errno {
        case ENOENT, ENOTDIR: .noSuchSocket(path: path)
        case ECONNREFUSED: .noListener(path: path)
        case EACCES, EPERM: .permissionDenied(path: path)
        case let number: .system(operation: "connect to", path: path, errno: number)
        }
    }
}
