import Glibc
import Testing

@testable import HTTPServer

/// A client that sends any bytes, valid or invalid.
final class HTTPTestClient {
    /// Whether the connection is still open at the server.
    private(set) var isOpen = true
    private let socket: Int32

    init(_ port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(socket) }

    /// Sends all bytes, as far as the server accepts them.
    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Shuts down the sending side.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// The bytes that come until the server closes the connection, or until none comes for so long.
    func receiveToEnd(waitingMilliseconds: Int32 = -1) -> String {
        var all: [UInt8] = []
        while let bytes = receive(waitingMilliseconds) { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// The bytes that come until the body has the length of its `Content-Length` header.
    func receiveAnswer() -> String {
        var all = ""
        while let bytes = receive(-1) {
            all += String(decoding: bytes, as: UTF8.self)
            let parts = all.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            let length = parts[0].split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                .flatMap { Int($0.dropFirst(16)) }
            if parts.count == 2, let length, parts[1].utf8.count >= length { break }
        }
        return all
    }

    private func receive(_ milliseconds: Int32) -> [UInt8]? {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else {
            isOpen = false
            return nil
        }
        return Array(bytes[..<count])
    }
}
