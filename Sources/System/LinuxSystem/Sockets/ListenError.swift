import Glibc

/// The reason why a process cannot listen on a socket.
public enum ListenError: Error, Equatable, CustomStringConvertible {
    /// The path is empty or longer than ``SocketPath/maximumLength``.
    case pathTooLong(path: String)
    /// A process accepts connections at the path. Its socket is unchanged.
    case alreadyListening(path: String)
    /// The file at the path is no socket. It is unchanged.
    case notASocket(path: String)
    /// The descriptor from the service manager is not a listening Unix stream socket.
    case notListening(descriptor: Int32)
    /// A system call failed.
    case system(operation: String, path: String, errno: Int32)

    /// One sentence for the log: the fault, the place, and the advice.
    public var description: String {
        switch self {
        case .pathTooLong(let path): SocketPath.tooLong(path) + ": use a shorter directory"
        case .alreadyListening(let path): "another process is listening on \(path): stop it, or use another directory"
        case .notASocket(let path): "\(path) exists and is not a socket: move it away"
        case .notListening(let descriptor):
            "descriptor \(descriptor) of the service manager is not a listening Unix stream socket: use ListenStream="
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(reason(errno))"
                + (errno == EACCES ? ": its directory must be writable for this user, \(geteuid())" : "")
        }
    }
}
