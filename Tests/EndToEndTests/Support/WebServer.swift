import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PushModel

/// The web server of `Tests/Fixtures/http-server.py`.
final class WebServer {
    /// The directory of its files.
    let directory: String
    let port: Int
    private let service: Service
    private let scheme: String

    /// The directory of the scripts.
    static let fixtures = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Fixtures"

    /// - Parameters:
    ///   - directory: created for its files.
    ///   - port: its port; 0: any free port.
    ///   - certificate: the server's certificate with its key; `nil`: no TLS.
    init(in directory: String, port: Int = 0, certificate: (file: String, key: String)? = nil) throws {
        self.directory = directory
        scheme = certificate == nil ? "http" : "https"
        mkdir(directory, 0o755)
        let script = Self.fixtures + "/http-server.py"
        let files = certificate.map { [$0.file, $0.key] } ?? []
        service = try Service(["/usr/bin/python3", script, directory, String(port)] + files)
        try waitUntil("the web server listens") { readFile("\(directory)/port") != nil }
        self.port = Int(String(decoding: readFile("\(directory)/port") ?? [], as: UTF8.self)) ?? 0
    }

    func url(_ path: String) -> String { "\(scheme)://127.0.0.1:\(port)/\(path)" }

    /// The requests that the server received, in order.
    var requests: [JSONNode] {
        (readFile("\(directory)/requests") ?? []).split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDocument(scanning: Array($0)).root
        }
    }

    /// Returns the requests to a path.
    func requests(to path: String) -> [JSONNode] { requests.filter { $0["path"]?.string == "/\(path)" } }
}

extension JSONNode {
    /// Returns a request's header by its name in lower case.
    func header(_ name: String) -> String? { self["headers"]?[name]?.string }
}

/// The next port that `freePort` tries; other runs of the tests start elsewhere.
private let nextPort = Mutex(10_000 + Int(getpid()) % 20_000)

/// Returns a free local port for a server that must be told its port. No other test gets it, and it is outside of the
/// range that the system assigns to clients (`ip_local_port_range`).
func freePort() throws -> Int {
    while true {
        let port = nextPort.withLock { next in
            defer { next += 1 }
            return next
        }
        try #require(port < 32_768, "no port is free")
        if SilentPort(port) != nil { return port }
    }
}

/// A local port that refuses connections and that no other process gets: its socket is bound and does not listen.
final class SilentPort {
    let number: Int
    private let socket: Int32

    /// - Parameter wanted: the port, with `nil` as the result if it is taken; 0: any free port.
    init?(_ wanted: Int = 0) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(wanted)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else { return nil }
    }

    deinit { close(socket) }
}

/// Returns whether a process listens on a local port.
func isListening(_ port: Int) -> Bool {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(socket) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

private func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
