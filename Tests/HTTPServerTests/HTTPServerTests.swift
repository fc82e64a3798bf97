import Glibc
import Synchronization
import Testing

@testable import HTTPServer
@testable import LinuxSystem

/// A server on a thread of its own, which gives each request the answer of a closure.
private final class FrontScene: Sendable {
    typealias Work = @Sendable (HTTPFront) -> Void

    let port: UInt16
    private let works: Mailbox<Work?>
    private let ended = Monitor(false)

    init(
        _ limits: HTTPConnections.Limits = FrontScene.limits, on listener: Int32? = nil,
        answer: @escaping @Sendable (HTTPConnections.Arrival) -> HTTPResponse = { _ in
            HTTPResponse(status: 200, text: "fine")
        }
    ) throws {
        let works = try Mailbox<Work?>()
        let (port, ended) = (Monitor(UInt16?.none), ended)
        let thread = try WorkerThread("front") {
            do {
                let loop = try EventLoop()
                let rules = Entrances.Rules(program: "test", standard: nil)
                let entrances = try Entrances(
                    listener == nil ? "127.0.0.1:0" : nil, rules, inherited: listener.map { [$0] } ?? [])
                let front = try HTTPFront(loop: loop, entrances: entrances, limits: limits)
                front.arrived = { [unowned front] arrival, _ in front.respond(to: arrival.number, with: answer(arrival))
                }
                let source = try works.receive(on: loop) { works in
                    for work in works { if let work { work(front) } else { loop.exit(code: 0) } }
                }
                port.update { $0 = UInt16(entrances.names.first?.split { !$0.isNumber }.last ?? "") ?? 0 }
                _ = try loop.run()
                withExtendedLifetime(source) {}
            } catch {
                Issue.record("\(error)")
                port.update { $0 = 0 }
            }
            ended.update { $0 = true }
        }
        thread.detach()
        self.works = works
        self.port = try #require(port.wait { $0 })
    }

    deinit { stop() }

    static var limits: HTTPConnections.Limits {
        var limits = HTTPConnections.Limits()
        limits.requestNanoseconds = 10_000_000_000
        return limits
    }

    /// Does something on the server's thread, and waits for it.
    func with<Result: Sendable>(_ work: @escaping @Sendable (HTTPFront) -> Result) -> Result {
        let result = Monitor(Result?.none)
        works.post { front in
            let value = work(front)
            result.update { $0 = value }
        }
        guard let value = result.wait({ $0 }) else { preconditionFailure("the wait has no limit") }
        return value
    }

    func stop() {
        works.post(nil)
        _ = ended.wait { $0 ? true : nil }
    }
}

@Suite("HTTP server", .timeLimit(.minutes(30)))
struct HTTPServerTests {
    @Test("gives the program the method, the target, the headers and the body, and sends its answer")
    func exchange() throws {
        let seen = Mutex<[HTTPConnections.Arrival]>([])
        let server = try FrontScene { request in
            seen.withLock { $0.append(request) }
            return HTTPResponse(status: 201, text: "made", headers: [("X-A", "b")])
        }
        let client = try HTTPTestClient(server.port)
        client.send("POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nAccept: x\r\nAccept: y\r\nContent-Length: 3\r\n\r\nabc")
        let answer = client.receiveAnswer()
        #expect(
            answer.hasPrefix("HTTP/1.1 201 ") && answer.contains("\r\nX-A: b\r\n") && answer.hasSuffix("\r\n\r\nmade"))
        // The next request uses the same connection.
        client.send("HEAD /e HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let head = client.receiveToEnd()
        #expect(head.hasPrefix("HTTP/1.1 201 ") && head.hasSuffix("\r\n\r\n") && head.contains("Content-Length: 4"))
        let requests = seen.withLock { $0 }
        #expect(requests.map(\.method) == ["POST", "HEAD"] && requests.map(\.target) == ["/a%20b?c=d", "/e"])
        #expect(requests[0].headers.filter { $0.name == "Accept" }.map(\.value) == ["x", "y"])
        #expect(requests[0].body == Array("abc".utf8))
    }

    @Test("reads a body that is too long and says so; refuses one that is far too long")
    func longBody() throws {
        var limits = FrontScene.limits
        (limits.bodyBytes, limits.discardedBytes) = (4, 8)
        let server = try FrontScene(limits) { HTTPResponse(status: $0.isTooLong ? 413 : 200, text: "told") }
        let announced = try HTTPTestClient(server.port)
        announced.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabcdefghi")
        #expect(announced.receiveAnswer().hasPrefix("HTTP/1.1 413 "))
        let chunked = try HTTPTestClient(server.port)
        chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabcdefghi\r\n0\r\n\r\n")
        #expect(!chunked.receiveToEnd().contains("told"))
        // Many short chunks have the same limits, and the longest allowed body is taken in either form.
        for (body, status) in [
            ("Transfer-Encoding: chunked\r\n\r\n\(String(repeating: "1\r\na\r\n", count: 5))0\r\n\r\n", 413),
            ("Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", 200),
            ("Content-Length: 4\r\n\r\nabcd", 200),
        ] {
            let client = try HTTPTestClient(server.port)
            client.send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(body)")
            let answer = client.receiveToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("told"), "\(body)")
        }
    }

    @Test("refuses headers above the limit, whatever their full length")
    func longHeaders() throws {
        let server = try FrontScene()
        for request in [
            "GET /\(String(repeating: "a", count: 60_000)) HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n" + (0..<4000).map { "X-\($0): a\r\n" }.joined() + "\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 60_000))\r\n\r\n",
        ] {
            let client = try HTTPTestClient(server.port)
            client.send(request)
            #expect(!client.receiveToEnd().contains("fine"))
        }
        let client = try HTTPTestClient(server.port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(client.receiveToEnd().hasSuffix("fine"))
    }

    @Test("ends a client that is too slow, and one that idles too long")
    func slow() throws {
        let server = try FrontScene()
        let slow = try HTTPTestClient(server.port)
        slow.send("GET / HTTP/1.1\r\nHo")
        let resting = try HTTPTestClient(server.port)
        resting.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(resting.receiveAnswer().hasSuffix("fine"))
        // The server has accepted both connections, in order.
        let now = SystemClock.monotonicNanoseconds
        #expect(server.with { $0.endOverdue(at: now) } == 0)
        #expect(server.with { $0.endOverdue(at: now + 11_000_000_000) } == 2)
        #expect(slow.receiveToEnd().contains("fine") == false && resting.receiveToEnd() == "")
        #expect(server.with { $0.endOverdue(at: now + 11_000_000_000) } == 0)
    }

    @Test("serves others while some clients send nothing: they give way")
    func many() throws {
        var limits = FrontScene.limits
        limits.connections = 8
        let server = try FrontScene(limits)
        var silent: [HTTPTestClient] = []
        for _ in 0..<200 { silent.append(try HTTPTestClient(server.port)) }
        for _ in 0..<2 {
            let client = try HTTPTestClient(server.port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(client.receiveToEnd().hasSuffix("fine"))
        }
        #expect(server.with(\.connectionCount) <= 8)
    }

    @Test("answers malformed HTTP with an error or not at all, and serves the next client")
    func rubbish() throws {
        let server = try FrontScene()
        for request in [
            "\u{16}\u{3}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            let client = try HTTPTestClient(server.port)
            client.send(request)
            client.finish()
            #expect(!client.receiveToEnd().contains("fine"), "\(request.debugDescription)")
        }
        let client = try HTTPTestClient(server.port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(client.receiveToEnd().hasSuffix("fine"))
    }

    @Test("can be stopped while clients are in the middle of a request")
    func stops() throws {
        let server = try FrontScene()
        let client = try HTTPTestClient(server.port)
        client.send("GET / HTTP/1.1\r\nHo")
        server.stop()
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
            let server = try FrontScene(on: fcntl(kept, F_DUPFD_CLOEXEC, 0))
            #expect(waiting.receiveToEnd().hasSuffix("fine"))
            server.stop()
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
