import Glibc
import LinuxSystem

/// A listening TCP socket.
public struct ListeningSocket: ~Copyable {
    private let socket: FileDescriptor
    /// The port that it listens on.
    public let port: UInt16
    /// Whether only this machine can reach it.
    public let isLoopback: Bool
    /// The backlog of connections in the kernel.
    private static let backlog: Int32 = 64

    /// Binds a socket and listens.
    ///
    /// - Parameter address: the address.
    /// - Throws: the error of a system call.
    public init(_ address: ListenAddress) throws(ListenError) {
        guard
            let socket = FileDescriptor(
                Glibc.socket(
                    address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0))
        else { throw ListenError("cannot create a socket for \(address): \(errorText(errno))") }
        var yes: Int32 = 1
        // SO_REUSEADDR: a restart need not wait for the connections of the last run in TIME_WAIT.
        setsockopt(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let descriptor = socket.rawValue
        guard address.withSystemAddress({ Glibc.bind(descriptor, $0, $1) }) == 0, listen(descriptor, Self.backlog) == 0
        else { throw ListenError("cannot listen on \(address): \(errorText(errno))") }
        (port, isLoopback) = try Self.place(of: descriptor)
        self.socket = socket
    }

    /// Takes over a socket from the service manager, which is closed with this value.
    ///
    /// - Throws: if it is not a listening TCP socket.
    public init(inherited descriptor: Int32) throws(ListenError) {
        let socket = FileDescriptor(owning: descriptor)
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1,
            [AF_INET, AF_INET6].contains(Self.option(SO_DOMAIN, of: descriptor))
        else {
            throw ListenError("the socket from the service manager is not a listening TCP socket (ListenStream=)")
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw ListenError("cannot use the service manager's socket: \(errorText(errno))")
        }
        (port, isLoopback) = try Self.place(of: descriptor)
        self.socket = socket
    }

    /// Gives up ownership: the caller must close the descriptor.
    consuming func release() -> Int32 { socket.release() }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : -1
    }

    /// Returns the port, and whether the address is a loopback address.
    private static func place(of descriptor: Int32) throws(ListenError) -> (UInt16, Bool) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw ListenError("cannot ask for the address of a socket: \(errorText(errno))") }
        // The port is at the same place in both families.
        return withUnsafeBytes(of: &storage) { bytes in
            let isLoopback =
                Int32(bytes.load(as: sa_family_t.self)) == AF_INET
                ? bytes[4] == 127 : bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
            return (UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)), isLoopback)
        }
    }
}

/// The reason why a socket cannot listen.
public struct ListenError: Error, Equatable, CustomStringConvertible {
    /// One sentence without a full stop.
    public let description: String

    init(_ description: String) { self.description = description }
}

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
