import Glibc

/// Why a socket cannot be listened on.
public enum ListenError: Error, Equatable, CustomStringConvertible {
    /// The path is empty or longer than ``SocketPath/maximumLength``.
    case pathTooLong(path: String)
    /// A process accepts connections there. Its socket was left alone.
    case alreadyListening(path: String)
    /// Something that is not a socket is there. It was left alone.
    case notASocket(path: String)
    /// What the service manager handed over is not a listening Unix stream socket.
    case notListening(descriptor: Int32)
    /// The system refused a step.
    case system(operation: String, path: String, errno: Int32)

    /// One sentence for the log: what is wrong, where, and what to do.
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
