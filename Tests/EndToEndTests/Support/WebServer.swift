import Glibc
import PushModel
import Synchronization
import TestSupport
import Testing

/// The web server of `Tests/Fixtures/http-server.py`.
final class WebServer {
    /// Where its files are.
    let directory: String
    let port: Int
    private let service: Service
    private let scheme: String

    /// Where the scripts are.
    static let fixtures = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Fixtures"

    /// - Parameters:
    ///   - directory: for its files; made here.
    ///   - port: where it listens; 0: anywhere.
    ///   - certificate: of the server, with its key; `nil`: no TLS.
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

    /// The requests that it got, in their order.
    var requests: [JSONNode] {
        (readFile("\(directory)/requests") ?? []).split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDocument(scanning: Array($0)).root
        }
    }

    /// Those to a path.
    func requests(to path: String) -> [JSONNode] { requests.filter { $0["path"]?.string == "/\(path)" } }
}

extension JSONNode {
    /// A header of a request, by its name in lower case.
    func header(_ name: String) -> String? { self["headers"]?[name]?.string }
}

/// The port where `freePort` looks next: those of another run of the tests are elsewhere.
private let nextPort = Mutex(10_000 + Int(getpid()) % 20_000)

/// A port of this machine that nobody listens on, for a server that must be told its port. No other test gets it; and it is
/// none of those that the system gives away by itself (`ip_local_port_range`), as it does to every client.
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

/// A port of this machine that refuses connections, and that nobody else gets: its socket does not listen.
final class SilentPort {
    let number: Int
    private let socket: Int32

    /// - Parameter wanted: which, and `nil` comes of it when somebody has it; 0: any that is free.
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

/// Whether somebody listens on a port of this machine.
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
