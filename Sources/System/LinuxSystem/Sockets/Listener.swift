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

/// The path of a Unix socket.
public enum SocketPath {
    /// The longest path in bytes: `sun_path` has 108, and the last is a NUL (unix(7)).
    public static let maximumLength = 107

    static func fits(_ path: String) -> Bool { !path.isEmpty && path.utf8.count <= maximumLength }

    /// Calls `body` with `path` as an address, for `bind` and `connect`.
    static func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        precondition(fits(path), "the caller checks the length")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Returns the path to which a socket is bound; `nil` if it is bound to none.
    static func ofSocket(_ descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return path.isEmpty ? nil : path
    }

    static func tooLong(_ path: String) -> String {
        "the socket path \(path) has \(path.utf8.count) bytes; Linux takes 1 to \(maximumLength)"
    }
}

/// Returns the text of an error number, with the number.
func reason(_ number: Int32) -> String { "\(errorText(number)) (errno \(number))" }

/// The name of a listening socket in the file system, from its creation to its removal.
///
/// A client finds at the path either the earlier file, or a listening socket with its mode and group. So the socket is
/// bound to a name beside the path, prepared there, and renamed over the path.
struct SocketBinding {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Gives `socket` its name and makes it listen.
    init(_ socket: borrowing FileDescriptor, path: String, mode: UInt32, group: UInt32?) throws(ListenError) {
        let name = SocketBinding.temporaryName(for: path)
        // Two processes that start at once take turns, so that neither replaces the other's unfinished socket.
        let lock = try SocketBinding.lockDirectory(of: path)
        defer { withExtendedLifetime(lock) {} }
        try SocketBinding.checkReplaceable(path)

        unlinkSocket(name)
        let descriptor = socket.rawValue
        let bound = SocketPath.withAddress(of: name) { address, length in bind(descriptor, address, length) }
        guard bound == 0 else { throw .system(operation: "bind a socket to", path: name, errno: errno) }
        do throws(ListenError) {
            guard chmod(name, mode) == 0 else { throw .system(operation: "set the mode of", path: path, errno: errno) }
            if let group, chown(name, UInt32.max, group) != 0 {
                throw .system(operation: "set the group (\(group)) of", path: path, errno: errno)
            }
            guard listen(descriptor, SOMAXCONN) == 0 else {
                throw .system(operation: "listen on", path: path, errno: errno)
            }
            guard let status = fileStatus(name), rename(name, path) == 0 else {
                throw .system(operation: "put the new socket at", path: path, errno: errno)
            }
            self.path = path
            device = status.st_dev
            inode = status.st_ino
        } catch {
            unlinkSocket(name)
            throw error
        }
    }

    /// Removes the name, unless another socket has replaced it.
    func remove() {
        guard let status = fileStatus(path), status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    /// Returns a name beside the path, of the same length, so that it fits into an address if the path does.
    static func temporaryName(for path: String) -> String {
        let (directory, name) = split(path)
        return directory + (name.first == "~" ? "#" : "~") + name.dropFirst()
    }

    /// Splits a path into the directory, with its slash, and the name.
    private static func split(_ path: String) -> (directory: Substring, name: Substring) {
        let nameStart = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return (path[..<nameStart], path[nameStart...])
    }

    /// The lock file beside the sockets. It is never removed: a process that starts at the same time waits on it.
    static let lockName = ".sockets.lock"

    private static func lockDirectory(of path: String) throws(ListenError) -> FileDescriptor {
        let (prefix, _) = split(path)
        // A separate file: a process with read permission could hold the directory's own lock, and block each start.
        let path = String(prefix) + Self.lockName
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(operation: "open", path: path, errno: errno) }
        let owner = FileDescriptor(owning: descriptor)
        guard retryingInterrupts({ Int(flock(descriptor, LOCK_EX)) }) == 0 else {
            throw .system(operation: "lock", path: path, errno: errno)
        }
        return owner
    }

    /// Throws unless the path is free, or a socket without a listener.
    private static func checkReplaceable(_ path: String) throws(ListenError) {
        guard let status = fileStatus(path) else {
            guard errno == ENOENT else { throw .system(operation: "look at", path: path, errno: errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        guard let probe = FileDescriptor.streamSocket(nonblocking: true) else {
            throw .system(operation: "create a socket to probe", path: path, errno: errno)
        }
        let descriptor = probe.rawValue
        let connected = SocketPath.withAddress(of: path) { address, length in connect(descriptor, address, length) }
        // EAGAIN: its backlog is full. EPROTOTYPE: it is a datagram socket. In both cases its process is alive.
        if connected == 0 || errno == EAGAIN || errno == EPROTOTYPE { throw .alreadyListening(path: path) }
        guard errno == ECONNREFUSED else { throw .system(operation: "probe", path: path, errno: errno) }
    }
}

/// Returns the status of the path, links not followed; nil with `errno` set if that fails.
private func fileStatus(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
}

private func unlinkSocket(_ path: String) {
    if let status = fileStatus(path), status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
}

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
