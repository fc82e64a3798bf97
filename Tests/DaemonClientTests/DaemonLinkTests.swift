import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The link to the daemon")
struct DaemonLinkTests {
    /// A class holds the directory: the suite's struct is copied, and a directory is not.
    private final class Place {
        let directory = TemporaryDirectory()
        var path: String { directory.path + "/control.sock" }
    }

    private let place = Place()
    private var path: String { place.path }

    /// The news of a link, as text.
    private final class LinkNews {
        var lines: [String] = []

        func take(_ news: DaemonLink.News) {
            switch news {
            case .connected: lines.append("connected")
            case .disconnected(let reason): lines.append(reason)
            case .answered(let operation, let reply):
                lines.append("\(operation.name) \(reply.root["ok"]?.bool ?? false)")
            }
        }
    }

    private func link(_ news: LinkNews) -> DaemonLink {
        let link = DaemonLink(path: path, maximumLineLength: 100)
        link.news = news.take
        return link
    }

    /// A listener, and a closure that returns the next connection to it.
    private func listen() throws -> (Listener, () -> Connection?) {
        let listener = try Listener(path: path, mode: 0o600)
        return (listener, { if case .connection(let connection) = listener.accept() { connection } else { nil } })
    }

    @Test("without a daemon gives an advice, and waits longer each time, up to 5 s")
    func away() {
        let news = LinkNews()
        let link = link(news)
        var delays: [Duration?] = []
        for _ in 0..<8 {
            link.connect()
            delays.append(link.retryDelay)
        }
        #expect(
            news.lines.first
                == "there is no socket at \(path); start pushrouterd: systemctl start pushrouterd")
        #expect(delays == [100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
        #expect(link.descriptor == nil)
    }

    @Test("matches replies with requests in order; an unexpected reply ends the connection")
    func answers() throws {
        let (listener, accept) = try listen()
        let news = LinkNews()
        let link = link(news)
        link.connect()
        let daemon = try #require(accept())
        link.send(.status)
        link.send(.reset(suite: "s", app: nil))
        link.flush()
        #expect(link.wants == .reading)
        let buffer = ReadBuffer()
        let requests = [#"{"op":"status"}"#, #"{"op":"reset","suite":"s"}"#].map { Array($0.utf8) }
        #expect(daemon.read(using: buffer, maximumLineLength: 100) == .lines(requests))
        daemon.queue("{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n".utf8)
        _ = daemon.flush()
        link.serve()
        #expect(news.lines == ["connected", "status true", "reset true", "the daemon sent a reply without a request"])
        #expect(link.descriptor == nil && link.wants == .nothing)
        withExtendedLifetime(listener) {}
    }

    @Test(
        "a refusal, a malformed reply and one that is too long end the connection",
        arguments: [
            (
                #"{"ok":false,"error":{"code":"unavailable","message":"no room","retry":true}}"#,
                "the daemon refuses: no room"
            ),
            ("{}", "the daemon's reply cannot be read: ok is missing"),
            (String(repeating: "x", count: 101), "the daemon sends a line longer than 100 bytes"),
        ])
    func refusals(line: String, reason: String) throws {
        let (listener, accept) = try listen()
        let news = LinkNews()
        let link = link(news)
        link.connect()
        let daemon = try #require(accept())
        link.send(.status)
        link.flush()
        daemon.queue("\(line)\n".utf8)
        _ = daemon.flush()
        link.serve()
        #expect(news.lines == ["connected", reason])
        // A new connection does not expect the replies of the old one.
        link.connect()
        #expect(news.lines.last == "connected")
        withExtendedLifetime(listener) {}
    }
}
