import Glibc

/// A numeric address and a port: `127.0.0.1:9771`, `[::1]:9771`. Host names are not accepted.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// The text that it was parsed from.
    public let description: String
    /// Whether only this machine can reach it.
    public let isLoopback: Bool
    /// `AF_INET` or `AF_INET6`.
    let family: Int32
    private let bytes: [UInt8]
    private let port: UInt16

    /// Parses an address; `nil` for any other text.
    public init?(_ text: String) {
        description = text
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        self.port = port
        let host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1 else { return nil }
            (family, bytes) = (AF_INET6, withUnsafeBytes(of: &address) { Array($0) })
            isLoopback = bytes == [UInt8](repeating: 0, count: 15) + [1]
        } else {
            var address = in_addr()
            guard inet_pton(AF_INET, host, &address) == 1 else { return nil }
            (family, bytes) = (AF_INET, withUnsafeBytes(of: &address) { Array($0) })
            isLoopback = bytes[0] == 127
        }
    }

    /// Calls `body` with the address as `bind` takes it.
    func withSystemAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var storage = sockaddr_storage()
        let isShort = family == AF_INET
        withUnsafeMutableBytes(of: &storage) { storage in
            storage.storeBytes(of: sa_family_t(family), as: sa_family_t.self)
            storage.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            // sin_addr follows the port; sin6_addr follows the port and the flow label.
            storage[(isShort ? 4 : 8)...].copyBytes(from: bytes)
        }
        let length = socklen_t(isShort ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
