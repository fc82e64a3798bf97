import Glibc

extension FileDescriptor {
    /// Creates a Unix stream socket, close-on-exec; nil with `errno` set if there is no descriptor left.
    static func streamSocket(nonblocking: Bool) -> FileDescriptor? {
        let flags = SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        return FileDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0))
    }
}
