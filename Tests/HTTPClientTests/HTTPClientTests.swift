import Glibc
import TestSupport
import Testing

@testable import HTTPClient
@testable import LinuxSystem

@Suite("HTTP client")
struct HTTPClientTests {
    private static let body = #"{"events":[{"braze_id":"b","name":"n","time":"2026-11-21T09:00:00Z"}]}"#
    private static let taken = Array(#"{"message":"success","events_processed":1}"#.utf8)

    /// The result of one request to a server that gives this answer.
    private func result(of answer: TrackAnswer, timeoutMilliseconds: Int = 30_000) throws -> HTTPResult {
        let server = TrackServer { _ in answer }
        return try Poller().post(
            Self.body, to: .track(server.url + "/users/track", timeoutMilliseconds: timeoutMilliseconds))
    }

    @Test("posts the body with its headers, and returns the answer")
    func posts() throws {
        var limits = TrackRequest.Limits()
        limits.authorization = "Bearer key"
        let server = TrackServer(limits: limits)
        let destination = HTTPDestination.track(server.url + "/users/track", secret: "key")
        let result = try Poller().post(Self.body, to: destination)
        #expect(result == .answer(HTTPAnswer(status: 201, headers: [:], body: Self.taken, damage: nil)))
        #expect(server.violations == [])
        #expect(server.requests.map(\.body) == [Array(Self.body.utf8)])
        #expect(server.requests[0].headers["expect"] == nil)
    }

    @Test("reads an answer in chunks, or a byte at a time", arguments: ["chunks", "bytes"])
    func slow(kind: String) throws {
        guard case .answer(let answer) = try result(of: kind == "chunks" ? .chunkedSuccess : .slowSuccess) else {
            Issue.record("there is no answer")
            return
        }
        #expect(answer.body == Self.taken)
        #expect(answer.damage == nil)
    }

    @Test("returns the wanted headers, in any case")
    func headers() throws {
        let result = try result(of: .status(429, body: "slow", headers: ["X-RATELIMIT-reset:  17 ", "X-Other: 1"]))
        let answer = HTTPAnswer(
            status: 429, headers: ["x-ratelimit-reset": "17"], body: Array("slow".utf8), damage: nil)
        #expect(result == .answer(answer))
    }

    @Test("two requests use one connection")
    func keepsAlive() throws {
        let server = TrackServer()
        let poller = try Poller()
        for _ in 0..<5 { _ = try poller.post(Self.body, to: .track(server.url + "/users/track")) }
        #expect(server.requests.count == 5)
        #expect(server.connections == 1)
    }

    @Test("keeps the socket of an idle connection, and reports its end")
    func socketEnds() throws {
        let server = TrackServer { $0.number == 0 ? .success : .reset }
        let poller = try Poller()
        let destination = HTTPDestination.track(server.url + "/users/track")
        _ = try poller.post(Self.body, to: destination)
        #expect(poller.sockets == (open: 1, closed: 0))
        _ = try poller.post(Self.body, to: destination)
        #expect(poller.sockets.open == 0)
        #expect(poller.sockets.closed > 0)
    }

    @Test("does not take bytes of an earlier request for those of this one")
    func sentBefore() throws {
        var server: TrackServer? = TrackServer()
        let destination = HTTPDestination.track((server?.url ?? "") + "/users/track")
        let poller = try Poller()
        guard case .answer = try poller.post(Self.body, to: destination) else {
            Issue.record("there is no answer")
            return
        }
        server = nil
        guard case .failure(wasSent: false, let reason) = try poller.post(Self.body, to: destination) else {
            Issue.record("there is an answer, or something was sent")
            return
        }
        #expect(reason.contains("onnect"), "\(reason)")
    }

    @Test("the client does not follow a redirect")
    func redirect() throws {
        let other = TrackServer()
        let answer = TrackAnswer.status(307, headers: ["Location: \(other.url)/users/track"])
        guard case .answer(let found) = try result(of: answer) else {
            Issue.record("there is no answer")
            return
        }
        #expect(found.status == 307)
        #expect(other.requests.isEmpty)
    }

    @Test("reports of a refused connection that nothing was sent")
    func refused() throws {
        // The port of a stopped server: no process listens there.
        let url = TrackServer().url
        guard case .failure(let wasSent, let reason) = try Poller().post(Self.body, to: .track(url)) else {
            Issue.record("there is an answer")
            return
        }
        #expect(!wasSent)
        #expect(reason.contains("onnect"), "\(reason)")
    }

    @Test(
        "reports of a hang, a reset, and a malformed answer that the server may have got the request",
        arguments: [0, 1, 2])
    func lost(place: Int) throws {
        let answers: [TrackAnswer] = [.hang, .reset, .garbage("SSH-2.0-OpenSSH_9.2\r\n")]
        let result = try result(of: answers[place], timeoutMilliseconds: place == 0 ? 2000 : 30_000)
        guard case .failure(wasSent: true, _) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test("reports of a reset in the middle of the answer its status, and that it is incomplete")
    func resetWithinAnswer() throws {
        guard case .answer(let answer) = try result(of: .resetWithinAnswer) else {
            Issue.record("there is no answer")
            return
        }
        #expect(answer.status == 201)
        #expect(answer.body.count < Self.taken.count)
        #expect(answer.damage != nil)
    }

    @Test(
        "does not repeat a request when a reused connection breaks",
        arguments: [false, true])
    func noSecondTry(isClosed: Bool) throws {
        let server = TrackServer { $0.number == 0 ? .success : isClosed ? .garbage("") : .reset }
        let poller = try Poller()
        let destination = HTTPDestination.track(server.url + "/users/track")
        _ = try poller.post(Self.body, to: destination)
        guard case .failure(wasSent: true, let reason) = try poller.post(Self.body, to: destination) else {
            Issue.record("there is an answer")
            return
        }
        #expect(server.requests.count == 2)
        // The reason is not libcurl's message about the callback that forbids the repeat.
        #expect(!reason.contains("seek"), "\(reason)")
        if isClosed { #expect(reason == "the server closed a connection that had been used before") }
    }

    @Test("writes the remaining time into the request as it leaves; one without time left does not leave")
    func budget() throws {
        let server = TrackServer()
        let poller = try Poller()
        var destination = HTTPDestination.track(server.url + "/users/track", secret: "key")
        // The first number needs more digits than the second, in the same memory.
        for seconds: Int64 in [1000, 9] {
            destination.budget = HTTPBudget(
                header: "X-Left-Ms", deadlineNanoseconds: monotonicNanoseconds() + seconds * 1_000_000_000)
            _ = try poller.post(Self.body, to: destination)
            let left = try #require(server.requests.last?.headers["x-left-ms"])
            #expect(Int64(left).map { (1..<seconds * 1000).contains($0) } == true, "\(left)")
        }
        #expect(server.requests.allSatisfy { $0.headers["content-type"] == "application/json" })
        destination.budget?.deadlineNanoseconds = monotonicNanoseconds()
        guard case .failure(wasSent: false, let reason) = try poller.post(Self.body, to: destination) else {
            Issue.record("there is an answer, or something was sent")
            return
        }
        #expect(reason == "its deadline came before it could be sent")
        #expect(server.requests.count == 2)
    }

    @Test("sends nothing after the time limit, also over an open connection")
    func expiry() throws {
        let server = TrackServer()
        let poller = try Poller()
        var destination = HTTPDestination.track(server.url + "/users/track", secret: "key")
        destination.expiryNanoseconds = SystemClock.bootNanoseconds + 60_000_000_000
        guard case .answer = try poller.post(Self.body, to: destination) else {
            Issue.record("there is no answer")
            return
        }
        destination.expiryNanoseconds = SystemClock.bootNanoseconds
        #expect(try poller.post(Self.body, to: destination) == .expired)
        #expect(server.requests.count == 1)
        destination.expiryNanoseconds = nil
        guard case .answer = try poller.post(Self.body, to: destination) else {
            Issue.record("a later request has the time of the one before")
            return
        }
    }

    @Test("masks the token if an answer repeats it")
    func masks() throws {
        let server = TrackServer { request in
            .status(401, body: "no key \(request.headers["authorization"] ?? ""), not se-cre")
        }
        let destination = HTTPDestination.track(server.url + "/users/track", secret: "se-cret")
        guard case .answer(let answer) = try Poller().post(Self.body, to: destination) else {
            Issue.record("there is no answer")
            return
        }
        #expect(String(decoding: answer.body, as: UTF8.self) == "no key Bearer *******, not se-cre")
    }

    @Test("reads at most 1 MiB of an answer")
    func longAnswer() throws {
        let whole = try result(of: .status(200, body: String(repeating: "x", count: 1 << 20)))
        guard case .answer(let answer) = whole else {
            Issue.record("there is no answer")
            return
        }
        #expect(answer.damage == nil)
        guard case .answer(let cut) = try result(of: .status(500, body: String(repeating: "x", count: 1 << 20 + 1)))
        else {
            Issue.record("there is no answer")
            return
        }
        #expect(cut.status == 500)
        #expect(cut.damage == "the answer is longer than 1048576 bytes")
    }

    @Test("refuses a certificate from an unknown authority, before it sends anything")
    func selfSigned() throws {
        guard let server = SelfSignedServer("/usr/bin/openssl") else { return }
        guard case .failure(let wasSent, let reason) = try Poller().post(Self.body, to: .track(server.url)) else {
            Issue.record("there is an answer")
            return
        }
        #expect(!wasSent)
        #expect(reason.contains("certificate"), "\(reason)")
    }

    @Test("sends a request again at once if the server says that it did not process it, and counts it once")
    func unprocessed() throws {
        // Each connection answers one request; GOAWAY says that the second one was not processed.
        guard let server = SelfSignedServer("/usr/bin/node") else { return }
        var destination = HTTPDestination.track(server.url)
        destination.authorityFile = server.certificate
        let results = try Poller().post((0..<6).map { #"{"number":\#($0)}"# }, to: destination)
        for (number, result) in results.enumerated() {
            guard case .answer(let answer) = result else {
                Issue.record("request \(number): \(result)")
                continue
            }
            #expect(String(decoding: answer.body, as: UTF8.self) == #"{"number":\#(number)}"#)
        }
    }

    @Test("the client refuses URLs other than http and https", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x"])
    func otherSchemes(url: String) throws {
        guard case .failure(wasSent: false, _) = try Poller().post(Self.body, to: .track(url)) else {
            Issue.record("there is an answer")
            return
        }
    }

    @Test("gives each of several concurrent requests its own answer")
    func atOnce() throws {
        let server = TrackServer { .status(200, body: String(decoding: $0.body, as: UTF8.self)) }
        let bodies = (0..<20).map { #"{"events":[{"braze_id":"\#($0)"}]}"# }
        let results = try Poller().post(bodies, to: .track(server.url + "/users/track"))
        for (body, result) in zip(bodies, results) {
            guard case .answer(let answer) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(String(decoding: answer.body, as: UTF8.self) == body)
        }
    }
}

/// A TLS server with a self-signed certificate: openssl's, or one of HTTP/2 by node that answers one request on each
/// connection and ends it with GOAWAY; `nil` without the program.
private final class SelfSignedServer {
    let url: String
    let certificate: String
    private let directory = TemporaryDirectory()
    private let process: pid_t

    private static let script = """
        const {createSecureServer} = require("http2"), {readFileSync} = require("fs")
        const [key, cert] = process.argv.slice(1).map((path) => readFileSync(path))
        const server = createSecureServer({key, cert})
        server.on("session", (session) => {
            let count = 0
            session.on("error", () => {})
            session.on("stream", (stream) => {
                stream.on("error", () => {})
                const isFirst = ++count == 1
                let body = ""
                stream.on("data", (part) => { body += part })
                stream.on("end", () => {
                    if (isFirst) { stream.respond({":status": 200}); stream.end(body) }
                    else { session.goaway(0, 1) }
                })
            })
        })
        server.listen(0, "127.0.0.1", () => console.log(`ACCEPT 127.0.0.1:${server.address().port}`))
        """

    init?(_ program: String) {
        guard access("/usr/bin/openssl", X_OK) == 0, access(program, X_OK) == 0 else { return nil }
        let (key, certificate) = (directory.path + "/key", directory.path + "/certificate")
        self.certificate = certificate
        let made = Program(path: "/usr/bin/openssl").run([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key,
            "-out", certificate,
        ])
        guard made.end == .exited(0) else { preconditionFailure(made.errors) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let log = directory.path + "/log"
        mkfifo(log, 0o600)
        let reading = open(log, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/zero", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let words =
            program.hasSuffix("node")
            ? [program, "-e", Self.script, key, certificate]
            : [program, "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-naccept", "1"]
        process = startProgram(program, words, environment: ["PATH=/usr/bin:/bin"], actions: &actions)
        defer { close(reading) }
        // Both print the port that they got: "ACCEPT 127.0.0.1:34567".
        var said = ""
        while !said.contains("ACCEPT 127.0.0.1:") || !said.hasSuffix("\n") {
            precondition(waitUntilReadable([reading], milliseconds: 10_000) != nil, "nothing listens: \(said)")
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(reading, &chunk, chunk.count)
            said += String(decoding: chunk.prefix(max(0, count)), as: UTF8.self)
        }
        let port = said.split(separator: "ACCEPT 127.0.0.1:").last.map { $0.prefix { $0.isNumber } } ?? ""
        url = "https://localhost:\(port)/users/track"
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
