import Glibc

extension Connection {
    /// Creates a connection of this process with itself.
    ///
    /// - Throws: if there is no descriptor left.
    public static func pair() throws(SystemError) -> (Connection, Connection) {
        var ends: (Int32, Int32) = (-1, -1)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let result = withUnsafeMutableBytes(of: &ends) { bytes in
            socketpair(AF_UNIX, kind, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard result == 0, let one = FileDescriptor(ends.0), let other = FileDescriptor(ends.1) else {
            throw SystemError(operation: "create a pair of sockets", errno: errno)
        }
        return (Connection(owning: one), Connection(owning: other))
    }
}
