import Glibc

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
