import CLinux
import Glibc

/// A Unix stream socket that accepts connections. Used on one thread. Its path is removed with it.
public final class Listener {
    /// The result of ``Listener/accept()``.
    public enum Accepted {
        /// A client; nonblocking.
        case connection(Connection)
        /// No client is waiting. Try again when the listener is readable.
        case wouldBlock
        /// No descriptor or memory was left for a waiting client. If possible, the client was sent the refusal and
        /// closed, so that the listener does not stay readable for it.
        case refused(errno: Int32)
        /// The system could not accept a client, and the listener may stay readable. Try again after a while.
        case failed(errno: Int32)
    }

    /// The socket's path.
    public let path: String
    /// The descriptor for a loop's source.
    public let descriptor: SharedDescriptor

    /// `nil` if another process owns the path.
    private let binding: SocketBinding?
    private let refusal: [UInt8]
    /// A spare descriptor, freed to accept and refuse a client when there is no other left.
    private var reserve: FileDescriptor?

    /// Listens on `path`. Replaces a socket there without a listener; leaves anything else unchanged.
    ///
    /// - Parameters:
    ///   - path: at most ``SocketPath/maximumLength`` bytes. Its directory must exist.
    ///   - mode: permission bits; a process needs write permission to connect.
    ///   - group: the numeric group of the socket; nil keeps the one that the kernel chooses.
    ///   - refusal: the bytes for a client that is refused because no descriptor is left.
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

    /// Takes over a listening socket from a service manager. Its path stays after this object's release.
    ///
    /// - Parameters:
    ///   - descriptor: the socket, which this listener owns from now on.
    ///   - refusal: the bytes for a client that is refused because no descriptor is left.
    /// - Throws: ``ListenError`` if it is not a listening Unix stream socket.
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

    /// Accepts the next waiting client. Never waits.
    public func accept() -> Accepted {
        while true {
            let accepted = CLinux_accept4(descriptor.rawValue)
            if accepted >= 0 { return .connection(Connection(owning: FileDescriptor(owning: accepted))) }
            switch errno {
            case EAGAIN: return .wouldBlock
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE: return turnAway(errno)
            case EBADF, ENOTSOCK, EFAULT:
                preconditionFailure("accept4 on \(path): \(reason(errno)); report this error of pushrouterd")
            default: return .failed(errno: errno)
            }
        }
    }

    /// Returns the advice for a failed accept, as the end of a message; empty if there is none.
    public static func advice(for number: Int32) -> String {
        switch number {
        case EMFILE: "; raise LimitNOFILE= of the unit"
        case ENFILE: "; raise the kernel's fs.file-max"
        // Another process that has the socket, such as the service manager, called shutdown(2).
        case EINVAL: "; the socket does not listen any more: restart the socket unit"
        default: ""
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
            // The kernel needs a free descriptor before it checks for a waiting client.
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
