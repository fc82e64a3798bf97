import Glibc

/// The path of a Unix socket.
public enum SocketPath {
    /// The longest path in bytes: `sun_path` has 108, and the last is a NUL (unix(7)).
    public static let maximumLength = 107

    static func fits(_ path: String) -> Bool { !path.isEmpty && path.utf8.count <= maximumLength }

    /// Calls `body` with `path` as an address, for `bind` and `connect`.
    static func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        precondition(fits(path), "the caller checks the length")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Returns the path to which a socket is bound; `nil` if it is bound to none.
    static func ofSocket(_ descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return path.isEmpty ? nil : path
    }

    static func tooLong(_ path: String) -> String {
        "the socket path \(path) has \(path.utf8.count) bytes; Linux takes 1 to \(maximumLength)"
    }
}

/// Returns the text of an error number, with the number.
func reason(_ number: Int32) -> String { "\(errorText(number)) (errno \(number))" }
