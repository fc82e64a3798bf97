import Glibc
import Testing

@testable import HTTPServer
@testable import LinuxSystem

/// A server's connections on the calling thread, and the client's end of one.
private final class StreamScene {
    let server: HTTPConnections
    let client: Int32
    private(set) var ended: [HTTPConnections.RequestNumber] = []

    init(_ limits: HTTPConnections.Limits = .init()) throws {
        server = try HTTPConnections(limits)
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        client = pair[0]
        let flags = fcntl(pair[1], F_GETFL)
        try #require(fcntl(pair[1], F_SETFL, flags | O_NONBLOCK) == 0)
        let isTaken = server.add(FileDescriptor(owning: pair[1]), key: 7)
        try #require(isTaken)
        server.streamEnded = { [unowned self] in ended.append($0) }
    }

    deinit {
        server.streamEnded = { _ in }
        close(client)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// The next request.
    func arrival() throws -> HTTPConnections.Arrival {
        for _ in 0..<1000 {
            if let arrival = server.run().first { return arrival }
        }
        throw Missing()
    }

    struct Missing: Error {}

    /// The bytes that the client has received once they end with `end`.
    func received(until end: String) -> String {
        var text = ""
        for _ in 0..<10_000 where !text.hasSuffix(end) {
            _ = server.run()
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count == 0 { break }
            if count > 0 { text += String(decoding: bytes[..<count], as: UTF8.self) }
        }
        return text
    }
}

@Suite("Answers in parts", .timeLimit(.minutes(30)))
struct StreamTests {
    private static let head = HTTPResponse(status: 200, text: "first\n", type: "text/event-stream")

    @Test("reach the client part by part, until they are ended")
    func parts() throws {
        let scene = try StreamScene()
        scene.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        let number = try scene.arrival().number
        #expect(scene.server.beginStream(number, with: Self.head))
        #expect(scene.received(until: "first\n\r\n").contains("Transfer-Encoding: chunked"))
        for part in ["second\n", "third\n"] {
            #expect(scene.server.send(Array(part.utf8), to: number))
            #expect(scene.received(until: "\(part)\r\n").contains(part))
        }
        #expect(scene.server.streamCount == 1 && scene.ended.isEmpty)
        scene.server.endStream(number)
        #expect(scene.received(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
        #expect(scene.ended == [number] && scene.server.streamCount == 0)
        #expect(!scene.server.send([1], to: number) && !scene.server.beginStream(number, with: Self.head))
        // The connection serves the next request.
        scene.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let next = try scene.arrival().number
        scene.server.respond(to: next, with: HTTPResponse(status: 200, text: "whole"))
        #expect(scene.received(until: "whole").hasSuffix("whole"))
    }

    @Test("have a bounded buffer for a client that does not read")
    func unread() throws {
        var limits = HTTPConnections.Limits()
        limits.streamBytes = 64 << 10
        let scene = try StreamScene(limits)
        scene.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        let number = try scene.arrival().number
        #expect(scene.server.beginStream(number, with: Self.head))
        var sent = 0
        let part = [UInt8](repeating: 0x61, count: 4096)
        while scene.server.send(part, to: number), sent < 64 << 20 {
            sent += part.count
            _ = scene.server.run()
        }
        // The sockets of both ends hold the rest in kernel buffers.
        #expect(sent < 4 << 20)
    }

    @Test("end when the client is gone")
    func gone() throws {
        let scene = try StreamScene()
        scene.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        let number = try scene.arrival().number
        #expect(scene.server.beginStream(number, with: Self.head))
        _ = scene.received(until: "first\n\r\n")
        shutdown(scene.client, Int32(SHUT_RDWR))
        for _ in 0..<1000 where scene.ended.isEmpty {
            _ = scene.server.send([0x0A], to: number)
            _ = scene.server.run()
        }
        #expect(scene.ended == [number])
    }

    @Test("have no time limit, while an incomplete request has one")
    func overdue() throws {
        var limits = HTTPConnections.Limits()
        limits.requestNanoseconds = 1_000_000_000
        let stream = try StreamScene(limits)
        stream.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        let number = try stream.arrival().number
        #expect(stream.server.beginStream(number, with: Self.head))
        _ = stream.received(until: "first\n\r\n")
        let late = SystemClock.monotonicNanoseconds + 5_000_000_000
        #expect(stream.server.endOverdue(at: late) == 0)
        let half = try StreamScene(limits)
        half.send("GET / HTTP/1.1\r\nHo")
        _ = half.server.run()
        #expect(half.server.endOverdue(at: late) == 1)
    }
}
