import CLinux
import Glibc

extension Connection {
    /// The result of receiving a connection (SCM_RIGHTS).
    public enum ReceivedConnection {
        /// A connection; nonblocking.
        case connection(Connection)
        /// No connection is waiting.
        case wouldBlock
        /// The other end is closed.
        case end
        /// The message held no connection.
        case failed(errno: Int32)
    }

    /// Makes a connection, and sends its other end to the process at the other end of a socket.
    ///
    /// - Parameter socket: a connected Unix stream socket.
    /// - Throws: if there is no descriptor left, or the other process does not accept it.
    public convenience init(handingOverTo socket: SharedDescriptor) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard CLinux_socket_pair(&ends) == 0 else { throw SystemError(operation: "make a connection", errno: errno) }
        self.init(owning: FileDescriptor(owning: ends[0]))
        let theirs = FileDescriptor(owning: ends[1])
        let result = retryingInterrupts { CLinux_send_descriptor(socket.rawValue, theirs.rawValue) }
        guard result == 0 else { throw SystemError(operation: "hand over a connection", errno: errno) }
    }

    /// Receives a connection from another process. Does not wait.
    ///
    /// - Parameter socket: a connected Unix stream socket.
    public static func received(over socket: SharedDescriptor) -> ReceivedConnection {
        let descriptor = retryingInterrupts { CLinux_receive_descriptor(socket.rawValue) }
        guard descriptor >= 0 else {
            if descriptor == -2 { return .end }
            return errno == EAGAIN ? .wouldBlock : .failed(errno: errno)
        }
        let taken = FileDescriptor(owning: descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return .connection(Connection(owning: taken))
    }
}
