import Glibc
import LinuxSystem

/// A listening socket's name in the file system: how it comes and how it goes.
///
/// A client finds at the path either what was there before, or a socket that has its mode and group and
/// listens. So the socket is bound to a name beside the path, made ready there, and renamed over.
struct SocketBinding {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Gives `socket` its name and makes it listen.
    init(_ socket: borrowing FileDescriptor, path: String, mode: UInt32, group: UInt32?) throws(ListenError) {
        let name = SocketBinding.temporaryName(for: path)
        // Two processes that start at once take turns, so that neither replaces what the other is making.
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

    /// Removes the name, unless another socket has taken its place.
    func remove() {
        guard let status = fileStatus(path), status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    /// A name beside the path and no longer, so that it fits into an address whenever the path does.
    static func temporaryName(for path: String) -> String {
        let (directory, name) = split(path)
        return directory + (name.first == "~" ? "#" : "~") + name.dropFirst()
    }

    /// The directory, with its slash, and the name in it.
    private static func split(_ path: String) -> (directory: Substring, name: Substring) {
        let nameStart = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return (path[..<nameStart], path[nameStart...])
    }

    /// Beside the sockets, and stays: who starts at the same time waits at it.
    static let lockName = ".sockets.lock"

    private static func lockDirectory(of path: String) throws(ListenError) -> FileDescriptor {
        let (prefix, _) = split(path)
        // Not the directory itself: whoever may read that could hold its lock, and keep us from ever starting.
        let path = String(prefix) + Self.lockName
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(operation: "open", path: path, errno: errno) }
        let owner = FileDescriptor(owning: descriptor)
        guard retryingInterrupts({ Int(flock(descriptor, LOCK_EX)) }) == 0 else {
            throw .system(operation: "lock", path: path, errno: errno)
        }
        return owner
    }

    /// Nothing may be at the path but a socket that nobody listens on.
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
        // EAGAIN: its backlog is full. EPROTOTYPE: it is a datagram socket. Both belong to a process that lives.
        if connected == 0 || errno == EAGAIN || errno == EPROTOTYPE { throw .alreadyListening(path: path) }
        guard errno == ECONNREFUSED else { throw .system(operation: "probe", path: path, errno: errno) }
    }
}

/// What is at the path itself, links not followed; nil with `errno` set when it cannot be told.
private func fileStatus(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
}

private func unlinkSocket(_ path: String) {
    if let status = fileStatus(path), status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
}
