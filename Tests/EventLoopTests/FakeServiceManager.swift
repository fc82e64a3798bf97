import Glibc

@testable import LinuxSystem

/// The service manager's end of `NOTIFY_SOCKET`, an abstract socket, for a test in its own process.
struct FakeServiceManager {
    let descriptor: SharedDescriptor

    struct Failure: Error {}

    init() throws {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let descriptor = SharedDescriptor(number) else { throw Failure() }
        self.descriptor = descriptor
        // With the family alone as the address, bind(2) picks a free abstract name (unix(7), autobind).
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var length = socklen_t(MemoryLayout<sa_family_t>.size)
        let name = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Bool in
                guard bind(number, address, length) == 0 else { return false }
                length = socklen_t(MemoryLayout<sockaddr_un>.size)
                return getsockname(number, address, &length) == 0
            }
        }
        guard name else { throw Failure() }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0[1..<(Int(length) - 2)]) }
        setenv("NOTIFY_SOCKET", "@" + String(decoding: bytes, as: UTF8.self), 1)
    }

    /// Waits for the next message.
    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor.rawValue, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
