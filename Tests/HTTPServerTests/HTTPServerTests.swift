import Glibc
import Synchronization
import Testing

@testable import HTTPServer
@testable import LinuxSystem

@Suite("HTTP server", .timeLimit(.minutes(30)))
struct HTTPServerTests {
    private static func server(
        _ limits: HTTPServer.Limits = .init(), answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws -> (HTTPServer, UInt16) {
        let socket = try ListeningSocket(try #require(ListenAddress("127.0.0.1:0")))
        let port = socket.port
        return (try HTTPServer(listeningOn: socket, limits: limits, answer: answer), port)
    }

    private static let fine: @Sendable (HTTPRequest) -> HTTPResponse = { _ in HTTPResponse(status: 200, text: "fine") }

    @Test("gives the handler the method, the path, the headers and the body, and sends its answer")
    func exchange() throws {
        let seen = Mutex<[HTTPRequest]>([])
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 10
        let (server, port) = try Self.server(limits) { request in
            seen.withLock { $0.append(request) }
            return HTTPResponse(status: 201, text: "made", headers: [("X-A", "b")])
        }
        let client = try HTTPTestClient(port)
        client.send("POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nAccept: x\r\nAccept: y\r\nContent-Length: 3\r\n\r\nabc")
        let answer = client.receiveAnswer()
        #expect(
            answer.hasPrefix("HTTP/1.1 201 ") && answer.contains("\r\nX-A: b\r\n") && answer.hasSuffix("\r\n\r\nmade"))
        // The next request uses the same connection.
        client.send("HEAD /e HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let head = client.receiveToEnd()
        #expect(head.hasPrefix("HTTP/1.1 201 ") && head.hasSuffix("\r\n\r\n") && head.contains("Content-Length: 4"))
        let requests = seen.withLock { $0 }
        #expect(requests.map(\.method) == ["POST", "HEAD"] && requests.map(\.path) == ["/a b", "/e"])
        #expect(requests[0].headers["accept"] == "x, y" && requests[0].body == Array("abc".utf8))
        withExtendedLifetime(server) {}
    }

    @Test("refuses a body that is too long: by its length, or while it arrives in chunks")
    func longBody() throws {
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 4
        let (server, port) = try Self.server(limits, answer: Self.fine)
        let announced = try HTTPTestClient(port)
        announced.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde")
        #expect(announced.receiveToEnd().hasPrefix("HTTP/1.1 413 "))
        let chunked = try HTTPTestClient(port)
        chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        #expect(!chunked.receiveToEnd().contains("fine"))
        // Many short chunks have the same limit, and the longest allowed body is accepted in either form.
        let pieces = try HTTPTestClient(port)
        pieces.send(
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "1\r\na\r\n", count: 5) + "0\r\n\r\n")
        #expect(!pieces.receiveToEnd().contains("fine"))
        for body in ["Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", "Content-Length: 4\r\n\r\nabcd"] {
            let fitting = try HTTPTestClient(port)
            fitting.send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(body)")
            #expect(fitting.receiveToEnd().hasSuffix("fine"), "\(body)")
        }
        withExtendedLifetime(server) {}
    }

    @Test("refuses headers above the limit, whatever their full length")
    func longHeaders() throws {
        let (server, port) = try Self.server(answer: Self.fine)
        for request in [
            "GET /\(String(repeating: "a", count: 60_000)) HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n" + (0..<4000).map { "X-\($0): a\r\n" }.joined() + "\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 60_000))\r\n\r\n",
        ] {
            let client = try HTTPTestClient(port)
            client.send(request)
            #expect(!client.receiveToEnd().contains("fine"))
        }
        let client = try HTTPTestClient(port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(client.receiveToEnd().hasSuffix("fine"))
        withExtendedLifetime(server) {}
    }

    @Test("ends a client that is too slow, and one that idles too long, and no other")
    func slow() throws {
        let (server, port) = try Self.server(answer: Self.fine)
        let slow = try HTTPTestClient(port)
        slow.send("GET / HTTP/1.1\r\nHo")
        let resting = try HTTPTestClient(port)
        resting.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(resting.receiveAnswer().hasSuffix("fine"))
        // The server has accepted both connections, in order.
        let now = SystemClock.monotonicNanoseconds
        #expect(server.endOverdue(at: now) == 0)
        #expect(server.endOverdue(at: now + 11_000_000_000) == 2)
        #expect(slow.receiveToEnd().contains("fine") == false && resting.receiveToEnd() == "")
        #expect(server.endOverdue(at: now + 11_000_000_000) == 0)
    }

    @Test("serves others while some clients send nothing, up to its limit of connections")
    func many() throws {
        var limits = HTTPServer.Limits()
        (limits.connections, limits.threads) = (8, 2)
        let (server, port) = try Self.server(limits, answer: Self.fine)
        var silent: [HTTPTestClient] = []
        // More connections than the server accepts wait in the kernel's backlog.
        for _ in 0..<40 { silent.append(try HTTPTestClient(port)) }
        let client = try HTTPTestClient(port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        // The silent connections time out one after the other, until it is the client's turn.
        var answer = ""
        while answer.isEmpty, client.isOpen {
            #expect(server.endOverdue(at: .max) <= 8)
            answer = client.receiveToEnd(waitingMilliseconds: 50)
        }
        silent = []
        let next = try HTTPTestClient(port)
        next.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(next.receiveToEnd().hasSuffix("fine"))
    }

    @Test("answers malformed HTTP with an error or not at all, and serves the next client")
    func rubbish() throws {
        let (server, port) = try Self.server(answer: Self.fine)
        for request in [
            "\u{16}\u{3}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            let client = try HTTPTestClient(port)
            client.send(request)
            client.finish()
            #expect(!client.receiveToEnd().contains("fine"), "\(request.debugDescription)")
        }
        withExtendedLifetime(server) {}
    }

    @Test("can be stopped while clients are in the middle of a request")
    func stops() throws {
        var server: HTTPServer?
        let port: UInt16
        (server, port) = try Self.server(answer: Self.fine)
        let client = try HTTPTestClient(port)
        client.send("GET / HTTP/1.1\r\nHo")
        _ = server
        server = nil
        #expect(!client.receiveToEnd().contains("fine"))
    }

    @Test("keeps the service manager's socket listening when it ends: the next server answers who connected meanwhile")
    func sharedSocket() throws {
        let listening = try ListeningSocket(try #require(ListenAddress("127.0.0.1:0")))
        let port = listening.port
        // The descriptor that the service manager keeps.
        let kept = listening.release()
        defer { close(kept) }
        for _ in 0..<3 {
            let waiting = try HTTPTestClient(port)
            waiting.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let handed = try ListeningSocket(inherited: fcntl(kept, F_DUPFD_CLOEXEC, 0))
            let server = try HTTPServer(listeningOn: handed, answer: Self.fine)
            #expect(waiting.receiveToEnd().hasSuffix("fine"))
            withExtendedLifetime(server) {}
        }
        #expect(descriptors(of: kept) == 1)
    }

    /// The number of this process's descriptors of the same socket.
    private func descriptors(of socket: Int32) -> Int {
        func facts(_ descriptor: Int32) -> (dev_t, ino_t)? {
            var facts = stat()
            return fstat(descriptor, &facts) == 0 ? (facts.st_dev, facts.st_ino) : nil
        }
        // Tests beside this one may have thousands of descriptors open.
        guard let directory = opendir("/proc/self/fd"), let wanted = facts(socket) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let descriptor = Int32(name), let found = facts(descriptor), found == wanted { count += 1 }
        }
        return count
    }
}

@Suite("Addresses to listen on")
struct ListenAddressTests {
    @Test(
        "an address to listen on is numeric, with a port",
        arguments: ["127.0.0.1:9771", "[::1]:9771", "0.0.0.0:1", "[2001:db8::1]:65535"])
    func good(text: String) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.description == text)
        #expect(address.isLoopback == (text.hasPrefix("127.") || text.hasPrefix("[::1]")))
    }

    @Test(
        "an address to listen on without a port, or with a host name, is refused",
        arguments: ["", "localhost:1", "127.0.0.1", "127.0.0.1:", "::1:80", "1.2.3:1", "1.2.3.4:65536"])
    func bad(text: String) { #expect(ListenAddress(text) == nil) }

    @Test("report a port in use, and accept only a listening socket")
    func errors() throws {
        let first = try ListeningSocket(try #require(ListenAddress("127.0.0.1:0")))
        let taken = try #require(ListenAddress("127.0.0.1:\(first.port)"))
        do {
            _ = try ListeningSocket(taken)
            Issue.record("a taken address was given away")
        } catch {
            #expect(error.description == "cannot listen on \(taken): Address already in use")
        }
        do {
            _ = try ListeningSocket(inherited: open("/dev/null", O_RDONLY))
            Issue.record("a file is no socket")
        } catch {
            #expect(error.description.contains("not a listening TCP socket"))
        }
        let again = try ListeningSocket(inherited: dup(first.release()))
        #expect(again.port > 0)
    }
}
