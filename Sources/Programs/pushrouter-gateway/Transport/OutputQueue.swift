import Glibc
import LinuxSystem

/// Bytes to be sent to a socket.
struct OutputQueue {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// The number of unsent bytes.
    var count: Int { bytes.count - sent }

    mutating func append(_ more: [UInt8]) {
        guard count > 0 else {
            bytes = more
            sent = 0
            return
        }
        // The unsent bytes are moved to the front only if they are the smaller part.
        if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes += more
    }

    /// Sends until the socket's buffer is full.
    ///
    /// - Returns: whether the connection still works.
    mutating func flush(to socket: Int32) -> Bool {
        while count > 0 {
            let result = bytes.withUnsafeBytes { bytes in
                retryingInterrupts {
                    send(
                        socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
            }
            guard result >= 0 else { return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM }
            sent += result
        }
        bytes = []
        sent = 0
        return true
    }
}
