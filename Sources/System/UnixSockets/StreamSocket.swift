import Glibc
import LinuxSystem

extension FileDescriptor {
    /// A Unix stream socket, close-on-exec from birth; nil with `errno` set when there is none left.
    static func streamSocket(nonblocking: Bool) -> FileDescriptor? {
        let flags = SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        return FileDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0))
    }
}
