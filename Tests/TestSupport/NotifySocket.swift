import Glibc

/// The service manager's end of sd_notify(3): it collects a daemon's messages in order.
public final class NotifySocket {
    /// The value for `NOTIFY_SOCKET`.
    public let path: String
    let descriptor: Int32
    /// The received messages, each a list of assignments such as `READY=1`.
    public private(set) var messages: [[String]] = []

    /// Makes the socket.
    ///
    /// - Parameter path: short enough for a socket address; nothing may exist there.
    public init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "cannot create a socket: \(systemReason())")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "\(path) is too long for a socket")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "cannot bind \(path): \(systemReason())")
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Reads the pending messages without waiting.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            messages.append(text.split(separator: "\n").map(String.init))
        }
    }
}
