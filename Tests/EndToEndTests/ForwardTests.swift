import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("The forwarder", .timeLimit(.minutes(30)))
struct ForwardTests {
    private let installation = Installation()
    private static let limits: TrackRequest.Limits = {
        var limits = TrackRequest.Limits()
        limits.authorization = "Bearer " + Installation.apiKey
        return limits
    }()

    /// Logs entries and expects each to be accepted.
    private func log(_ numbers: Range<Int>) throws {
        let client = try installation.injectClient()
        for number in numbers { #expect(try client.ask(LoggedEntry.line(number)).isAccepted) }
    }

    @Test("sends what was logged, entry by entry, within the limits")
    func sends() throws {
        let server = TrackServer(limits: Self.limits)
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        try log(0..<200)
        let forwarder = try DaemonProcess.forwarder(installation)
        try log(200..<400)
        try installation.waitUntilForwarded()
        let entries = try installation.entries()
        #expect(entries.count == 400)
        #expect(entries.allSatisfy { $0.state == .sent })
        let status = try Client(path: installation.readSocket).ask(#"{"op":"status"}"#)["status"]?["custom_data"]
        #expect(status?["settled"]?["sent"]?.int64 == 400 && status?["settled"]?["unknown"]?.int64 == 0)
        #expect(status?["requests_sent"]?.int64 == Int64(server.requests.count))
        #expect(status?["pauses"]?.members.allSatisfy { $0.value.int64 == 0 } == true)
        try compare(entries, with: server.taken)
        #expect(server.violations == [])
        #expect(try forwarder.stop() == .exited(0))
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("sends the key to no proxy without TLS")
    func proxies() throws {
        let (server, proxy) = (TrackServer(limits: Self.limits), TrackServer())
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        let variables = ["http_proxy", "ALL_PROXY", "all_proxy"].map { "\($0)=\(proxy.url)" }
        let forwarder = try DaemonProcess.forwarder(installation, environment: variables)
        try log(0..<3)
        try installation.waitUntilForwarded()
        #expect(server.taken.count == 3)
        #expect(proxy.connections == 0)
        #expect(try forwarder.stop() == .exited(0))
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("continues after every kind of answer, and loses or repeats no entry")
    func answers() throws {
        // A success follows each failure, so that no wait is longer than a second.
        let script: [TrackAnswer] = [
            .partial([TrackError("wrong", in: "events", at: 0)]), .status(500), .slowSuccess, .hang, .chunkedSuccess,
            .garbage("no HTTP at all"), .success, .status(429, headers: ["X-RateLimit-Reset: 1"]), .success,
            .resetWithinAnswer, .success, .reset, .success, .status(503, body: "<html>"), .success,
            .status(200, body: "<html>"), .success,
        ]
        let server = TrackServer(limits: Self.limits) { $0.number < script.count ? script[$0.number] : .success }
        installation.forward(to: server, "BatchSize=5\nTimeout=1s\nConnections=1")
        let daemon = try DaemonProcess.ready(installation)
        try log(0..<150)
        let forwarder = try DaemonProcess.forwarder(installation)
        try installation.waitUntilForwarded(by: forwarder)
        let entries = try installation.entries()
        try compare(entries, with: server.taken)
        #expect(entries.filter { $0.state == .rejected }.compactMap(\.reason) == ["wrong"])
        let unknown = entries.filter { $0.state == .unknown }.compactMap(\.reason)
        #expect(unknown.contains { $0.hasPrefix("the request was sent and no answer came: ") })
        // libcurl's message about a reused connection uses terms of its own.
        #expect(!unknown.contains { $0.contains("seek") }, "\(unknown)")
        #expect(entries.count { $0.state == .sent } > 50)
        _ = daemon
    }

    @Test("stops at a refused key and keeps all entries; a reload with the right key sends them")
    func refusedKey() throws {
        let accepted = Mutex(false)
        let server = TrackServer { request in
            accepted.withLock(\.self)
                ? .success : .status(401, body: #"{"message":"no key \#(request.headers["authorization"] ?? "")"}"#)
        }
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        // Logged before the forwarder starts: it sends these in one request, and would send later ones in another.
        try log(0..<20)
        let forwarder = try DaemonProcess.forwarder(installation)
        try forwarder.waitForStatus("STATUS=stopped: the endpoint answered 401")
        try waitUntil("all is given back") { try installation.entries().allSatisfy { $0.state == .queued } }
        let sending = try #require(try DaemonStatus(of: installation)["custom_data"]?["sending"])
        #expect(sending["phase"]?.string == "stopped")
        #expect(server.requests.count == 1)
        let problem = try DaemonStatus(of: installation)["custom_data"]?["sending_problem"]?.string ?? "none"
        #expect(problem.hasPrefix("pushrouter-forward has stopped: the endpoint answered 401"), "\(problem)")

        accepted.withLock { $0 = true }
        writeFile("another-key\n", to: installation.keyFile)
        forwarder.send(SIGHUP)
        try installation.waitUntilForwarded()
        #expect(try installation.entries().allSatisfy { $0.state == .sent })
        #expect(server.requests.last?.headers["authorization"] == "Bearer another-key")

        // The endpoint repeated the key in its answer, and it appears nowhere.
        #expect(try forwarder.stop() == .exited(0))
        #expect(try daemon.stop() == .exited(0))
        for text in [forwarder.standardError, daemon.standardError] { #expect(!text.contains(Installation.apiKey)) }
        try expectNoKey(in: installation.state)
    }

    @Test("a forwarder that refuses a reload says so in the status, and sends on; the check fails as a start would")
    func refusedReload() throws {
        let server = TrackServer { _ in .success }
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        let forwarder = try DaemonProcess.forwarder(installation)
        var problem: String? {
            get throws { try DaemonStatus(of: installation)["custom_data"]?["sending_problem"]?.string }
        }
        chmod(installation.keyFile, 0o644)
        forwarder.send(SIGHUP)
        try waitUntil("the status has it") { try problem?.contains("the last reload was refused") == true }
        try log(0..<1)
        try installation.waitUntilForwarded()
        let arguments = ["--config", installation.configuration, "--check"]
        func check() throws -> Program.End {
            try DaemonProcess(installation, arguments: arguments, program: "pushrouter-forward").waitForEnd()
        }
        #expect(try check() == .exited(77))
        chmod(installation.keyFile, 0o600)
        #expect(try check() == .exited(0))
        forwarder.send(SIGHUP)
        try waitUntil("the problem is over") { try problem == nil }
        #expect(try forwarder.stop() == .exited(0))
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("a status says that no forwarder is connected while entries wait, in place of what the last one said")
    func absent() throws {
        let server = TrackServer { _ in .success }
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        let forwarder = try DaemonProcess.forwarder(installation)
        try log(0..<1)
        try installation.waitUntilForwarded()
        #expect(try forwarder.stop() == .exited(0))
        try log(1..<2)
        try waitUntil("the status has the problem") {
            try DaemonStatus(of: installation)["custom_data"]?["sending_problem"]?.string?
                .hasPrefix("pushrouter-forward is not connected, and 1 entry waits") == true
        }
        #expect(
            try DaemonStatus(of: installation)["custom_data"]?["sending"]?["phase"]?.string == "not_connected")
        _ = daemon
    }

    @Test("sets aside an entry that a 400 blames, with the reason, and sends the others without a person")
    func blamedEntry() throws {
        let server = TrackServer { request in
            request.number == 0
                ? .status(400, body: #"{"message":"bad","errors":[{"type":"odd","input_array":"events","index":1}]}"#)
                : .success
        }
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        try log(0..<20)
        let forwarder = try DaemonProcess.forwarder(installation)
        try installation.waitUntilForwarded()
        let entries = try installation.entries()
        let events = entries.filter { $0.entry.kind == .customEvent }.sorted { $0.entry.number < $1.entry.number }
        #expect(entries.count { $0.state == .sent } == 19)
        #expect(entries.filter { $0.state == .rejected }.map(\.entry.number) == [events[1].entry.number])
        #expect(entries.first { $0.state == .rejected }?.reason == "odd")
        let sending = try #require(try DaemonStatus(of: installation)["custom_data"]?["sending"])
        #expect(sending["phase"]?.string == "sending")
        _ = (daemon, forwarder)
    }

    @Test("stops at a 400 that blames no entry; after a person discards the cause, a reload sends the rest")
    func unexplainedRefusal() throws {
        let server = TrackServer { $0.number == 0 ? .status(400, body: #"{"message":"bad"}"#) : .success }
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        try log(0..<20)
        let forwarder = try DaemonProcess.forwarder(installation)
        try forwarder.waitForStatus("STATUS=stopped: the endpoint answered 400: bad. ")
        try waitUntil("all is given back") { try installation.entries().allSatisfy { $0.state == .queued } }
        let reason = try #require(try DaemonStatus(of: installation)["custom_data"]?["sending"]?["reason"]?.string)
        #expect(reason.contains("pushctl pending --discard N"), "\(reason)")
        let number = try #require(try installation.entries().map(\.entry.number).min())
        let people = try Client(path: installation.controlSocket)
        #expect(try people.ask(#"{"op":"resolve","entries":[\#(number)],"state":"discarded"}"#).isAccepted)
        forwarder.send(SIGHUP)
        try installation.waitUntilForwarded()
        let entries = try installation.entries()
        #expect(entries.count { $0.state == .sent } == 19)
        #expect(entries.filter { $0.state == .discarded }.map(\.entry.number) == [number])
        _ = daemon
    }

    @Test("killed: entries that it had not begun to send are queued, those under way are unknown, with the reason")
    func killed() throws {
        let received = TemporaryDirectory()
        let messages = Messages(received.path + "/pipe")
        let path = messages.path
        let server = TrackServer { request in
            guard request.number == 0 else { return .success }
            let pipe = open(path, O_WRONLY | O_CLOEXEC)
            _ = write(pipe, "got\n", 4)
            close(pipe)
            return .hang
        }
        installation.forward(to: server, "BatchSize=1\nConnections=1")
        let daemon = try DaemonProcess.ready(installation)
        try log(1..<5)
        let first = try DaemonProcess.forwarder(installation)
        #expect(try messages.next() == "got")
        first.crash()
        let second = try DaemonProcess.forwarder(installation)
        try installation.waitUntilForwarded()
        let entries = try installation.entries()
        #expect(entries.map(\.state) == [.unknown, .sent, .sent, .sent])
        #expect(
            entries.first?.reason
                == "the forwarder ended after it had begun to send the entry and before it reported the answer")
        _ = (daemon, second)
    }

    @Test("has the key in no argument and no variable, and its memory can be neither read nor dumped")
    func secrecy() throws {
        let server = TrackServer(limits: Self.limits)
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        let forwarder = try DaemonProcess.forwarder(installation)
        try log(0..<10)
        try installation.waitUntilForwarded()
        for file in ["environ", "cmdline"] {
            let bytes = try #require(readFile("/proc/\(forwarder.processID)/\(file)"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains(Installation.apiKey))
        }
        let limits = try #require(readFile("/proc/\(forwarder.processID)/limits"))
        let cores = String(decoding: limits, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Max core") }
        #expect(cores?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        var owner = stat()
        #expect(stat("/proc/\(forwarder.processID)/environ", &owner) == 0)
        #expect(owner.st_uid == 0, "what is not dumpable belongs to root")
        #expect(!forwarder.standardError.contains(Installation.apiKey))
        #expect(!daemon.standardError.contains(Installation.apiKey))
        try expectNoKey(in: installation.state)
    }

    @Test("takes the key from the systemd credential")
    func credential() throws {
        let server = TrackServer(limits: Self.limits)
        installation.forward(to: server)
        installation.write("pushrouterd.conf.d/forward.conf", "[UsersTrack]\nEndpoint=\(server.url)\nFlush=20ms\n")
        mkdir(installation.root + "/credentials", 0o700)
        writeFile("  \(Installation.apiKey)\r\n", to: installation.root + "/credentials/users-track-key")
        let daemon = try DaemonProcess.ready(installation)
        try log(0..<3)
        let forwarder = try DaemonProcess.forwarder(
            installation, environment: ["CREDENTIALS_DIRECTORY=\(installation.root)/credentials"])
        try installation.waitUntilForwarded()
        #expect(server.violations == [])
        _ = (daemon, forwarder)
    }

    @Test("waits on SIGTERM for the answers to requests under way, and gives the rest back")
    func terminated() throws {
        let received = TemporaryDirectory()
        let messages = Messages(received.path + "/pipe")
        let path = messages.path
        let gate = received.path + "/gate"
        try #require(mkfifo(gate, 0o600) == 0)
        let server = TrackServer { _ in
            let pipe = open(path, O_WRONLY | O_CLOEXEC)
            _ = write(pipe, "got\n", 4)
            close(pipe)
            // Answers only after the signal: opening a pipe waits for its other end.
            close(open(gate, O_RDONLY | O_CLOEXEC))
            return .success
        }
        installation.forward(to: server, "BatchSize=1\nConnections=1")
        let daemon = try DaemonProcess.ready(installation)
        try log(1..<4)
        let forwarder = try DaemonProcess.forwarder(installation)
        #expect(try messages.next() == "got")
        forwarder.send(SIGTERM)
        try forwarder.waitForStatus("STOPPING=1")
        close(open(gate, O_WRONLY | O_CLOEXEC))
        #expect(try forwarder.waitForEnd() == .exited(0))
        #expect(try installation.entries().map(\.state) == [.sent, .queued, .queued])
        _ = daemon
    }

    @Test("prints the requests without the key in a dry run, and changes nothing")
    func dryRun() throws {
        let server = TrackServer(limits: Self.limits)
        installation.forward(to: server)
        let daemon = try DaemonProcess.ready(installation)
        try log(4..<6)
        let arguments = ["--config", installation.configuration, "--runtime", installation.runtime, "--dry-run"]
        let result = Program(product: "pushrouter-forward").run(arguments)
        #expect(result.end == .exited(0))
        #expect(result.errors == "")
        let lines = result.lines
        #expect(lines[0] == "POST \(server.url)/users/track")
        #expect(lines.contains("Content-Type: application/json"))
        #expect(lines.contains("Authorization: Bearer ***"))
        let body = try #require(lines.last)
        #expect(lines.contains("Content-Length: \(body.utf8.count)"))
        #expect(
            body.hasPrefix(#"{"attributes":[{"braze_id":"u5","n":5}],"events":[{"braze_id":"u4","name":"e1","time":"#))
        #expect(server.requests.isEmpty)
        #expect(try installation.entries().allSatisfy { $0.state == .queued })
        _ = daemon
    }

    static let wrongKeys: [(text: String?, mode: mode_t, status: Int32, message: String)] = [
        (nil, 0o600, 78, "No such file or directory"), ("k\n", 0o640, 77, "may be read by others: chmod 600 "),
        ("k\n", 0o604, 77, "may be read by others"), ("\n \n", 0o600, 78, "is empty"),
        ("two words\n", 0o600, 78, "must have the key alone"),
        ("k\u{E9}y", 0o600, 78, "one word of visible characters"),
        (String(repeating: "k", count: 4097), 0o600, 78, "longer than 4096 bytes"),
    ]

    @Test("does not start if the key is missing, open to others, or not a key", arguments: wrongKeys)
    func wrongKey(text: String?, mode: mode_t, status: Int32, message: String) {
        let server = TrackServer()
        installation.forward(to: server)
        unlink(installation.keyFile)
        if let text {
            writeFile(text, to: installation.keyFile)
            chmod(installation.keyFile, mode)
        }
        let result = Program(product: "pushrouter-forward").run(
            ["--config", installation.configuration, "--runtime", installation.runtime])
        #expect(result.end == .exited(status))
        #expect(result.errors.hasPrefix("pushrouter-forward: "))
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test(
        "pushrouter-forward --help prints the usage",
        arguments: [
            (["--help"], 0, "usage: pushrouter-forward"), (["--version"], 0, "pushrouter-forward 1."),
            (["--key", "k"], 2, "there is no option --key"), (["--config"], 2, "--config needs a directory"),
        ])
    func usage(arguments: [String], status: Int32, text: String) {
        let result = Program(product: "pushrouter-forward").run(arguments)
        #expect(result.end == .exited(status))
        #expect((result.output + result.errors).contains(text))
    }

    /// Expects no file in a directory to contain the key.
    private func expectNoKey(in directory: String) throws {
        let grep = Program(path: "/usr/bin/grep").run(["-rlF", "-e", Installation.apiKey, directory])
        #expect(grep.end == .exited(1), "the key is in \(grep.output)")
    }
}
