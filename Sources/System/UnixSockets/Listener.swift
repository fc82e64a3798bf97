import CLinux
import Glibc
public import LinuxSystem

/// A Unix stream socket that accepts connections. Used on one thread. Its path goes with it.
public final class Listener {
    /// What ``Listener/accept()`` found.
    public enum Accepted {
        /// A client; nonblocking.
        case connection(Connection)
        /// Nobody waits. Try again when the listener is readable.
        case wouldBlock
        /// No descriptor or memory was left for the client that waited. If it could be, it was sent the refusal
        /// and closed; so the listener does not stay readable for a client that nobody can take.
        case refused(errno: Int32)
        /// The system could not hand over a client, and the listener may stay readable. Try again after a while.
        case failed(errno: Int32)
    }

    /// The socket's path.
    public let path: String
    /// To watch for readiness.
    public let descriptor: SharedDescriptor

    /// `nil`: the name is somebody else's.
    private let binding: SocketBinding?
    private let refusal: [UInt8]
    /// Kept so that one descriptor can be had when there is none left.
    private var reserve: FileDescriptor?

    /// Listens on `path`. A socket there that nobody listens on is replaced; anything else is left alone.
    ///
    /// - Parameters:
    ///   - path: at most ``SocketPath/maximumLength`` bytes. Its directory must exist.
    ///   - mode: permission bits; to connect a process needs to be allowed to write.
    ///   - group: the numeric group it shall belong to, else the one the kernel gives it.
    ///   - refusal: what a client is sent that is turned away because no descriptor is left.
    /// - Throws: ``ListenError``; then nothing has changed.
    public init(path: String, mode: UInt32, group: UInt32? = nil, refusal: [UInt8] = []) throws(ListenError) {
        guard SocketPath.fits(path) else { throw .pathTooLong(path: path) }
        guard let socket = FileDescriptor.streamSocket(nonblocking: true) else {
            throw .system(operation: "create a socket for", path: path, errno: errno)
        }
        binding = try SocketBinding(socket, path: path, mode: mode, group: group)
        self.path = path
        self.refusal = refusal
        descriptor = SharedDescriptor(socket)
        reserve = Listener.openReserve()
    }

    /// Takes over a socket that listens already, as a service manager hands it over. Its path stays when this goes.
    ///
    /// - Parameters:
    ///   - descriptor: the socket; it is this listener's from now on.
    ///   - refusal: what a client is sent that is turned away because no descriptor is left.
    /// - Throws: ``ListenError`` when it is not a listening Unix stream socket.
    public init(inherited descriptor: Int32, refusal: [UInt8] = []) throws(ListenError) {
        let socket = FileDescriptor(owning: descriptor)
        guard Self.isListeningStream(descriptor), let path = SocketPath.ofSocket(descriptor) else {
            throw .notListening(descriptor: descriptor)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        binding = nil
        self.path = path
        self.refusal = refusal
        self.descriptor = SharedDescriptor(socket)
        reserve = Listener.openReserve()
    }

    deinit { binding?.remove() }

    /// Takes the next client that waits. Never waits itself.
    public func accept() -> Accepted {
        while true {
            let accepted = CLinux_accept4(descriptor.rawValue)
            if accepted >= 0 { return .connection(Connection(owning: FileDescriptor(owning: accepted))) }
            switch errno {
            case EAGAIN: return .wouldBlock
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE: return turnAway(errno)
            case EBADF, ENOTSOCK, EFAULT, EINVAL:
                preconditionFailure("cannot accept on \(path): \(reason(errno))")
            default: return .failed(errno: errno)
            }
        }
    }

    private static func isListeningStream(_ descriptor: Int32) -> Bool {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
        }
        return option(SO_ACCEPTCONN) == 1 && option(SO_TYPE) == Int32(SOCK_STREAM.rawValue)
    }

    private func turnAway(_ cause: Int32) -> Accepted {
        reserve = nil
        defer { reserve = Listener.openReserve() }
        let accepted = CLinux_accept4(descriptor.rawValue)
        guard accepted >= 0 else {
            // The kernel wants a free descriptor before it looks whether anybody waits.
            return errno == EAGAIN ? .wouldBlock : .failed(errno: cause)
        }
        let client = FileDescriptor(owning: accepted)
        _ = send(client.rawValue, refusal, refusal.count, Int32(MSG_NOSIGNAL))
        return .refused(errno: cause)
    }

    private static func openReserve() -> FileDescriptor? {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        return descriptor < 0 ? nil : FileDescriptor(owning: descriptor)
    }
}
