import Glibc
import TestSupport
import Testing

@testable import PushModel

/// A running `pushctl dev` with files of its own. `deinit` kills it.
private final class DevRun {
    let processID: Int32
    private let files: String
    private var end: Program.End?

    /// - Parameters:
    ///   - root: a directory of the test, with the temporary directories.
    ///   - arguments: the arguments of `dev`.
    init(in root: String, _ arguments: [String]) {
        var number = 1
        while access("\(root)/errors.\(number)", F_OK) == 0 { number += 1 }
        files = "\(root)/"
        output = "\(root)/output.\(number)"
        errors = "\(root)/errors.\(number)"
        mkdir("\(root)/tmp", 0o700)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o600)
        processID = startProgram(
            pushctl.path, [pushctl.path, "dev"] + arguments,
            environment: ["PATH=/usr/bin:/bin", "TMPDIR=\(root)/tmp", "TZ=UTC"], actions: &actions, leadsGroup: true)
    }

    deinit {
        guard end == nil else { return }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
    }

    private let output: String
    private let errors: String

    /// The standard output so far.
    var printed: String { Self.text(output) }
    /// The standard error so far.
    var log: String { Self.text(errors) }

    /// Returns the port of the page, once it is printed.
    func port() throws -> Int {
        var port: Int?
        try waitUntil("the address of the page is told") {
            try #require(!hasEnded, "it ended: \(printed)\(log)")
            // The last line is printed together with the first.
            guard printed.contains("Ctrl-C ends the programs") else { return false }
            let line = printed.split(separator: "\n").first { $0.hasPrefix("The page: http://127.0.0.1:") }
            port = line.flatMap { Int($0.dropFirst("The page: http://127.0.0.1:".count).prefix { $0 != "/" }) }
            return true
        }
        return try #require(port, "\(printed)")
    }

    /// Returns the pushes from the page's API.
    func pushes() throws -> [JSONNode] {
        let answer = Program(path: "/usr/bin/curl").run(
            ["-s", "--noproxy", "*", "--max-time", "60", "http://127.0.0.1:\(try port())/api/pushes"])
        return try #require(try json(answer.output)["pushes"], "\(answer.output)").elements
    }

    /// Sends a signal and waits for the end.
    func stop(by signal: Int32) throws -> Program.End {
        kill(processID, signal)
        return try waitForEnd()
    }

    /// Waits for the end.
    func waitForEnd() throws -> Program.End {
        try waitUntil("it has ended") { hasEnded }
        return try #require(end)
    }

    private var hasEnded: Bool {
        guard end == nil else { return true }
        var status: Int32 = 0
        guard waitpid(processID, &status, WNOHANG) == processID else { return false }
        let signal = status & 0x7F
        end = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
        return true
    }

    /// The processes that this and other runs below the test's directory started.
    var started: [Int32] { processes(withEnvironment: "NOTIFY_SOCKET=\(files)") }

    private static func text(_ path: String) -> String { String(decoding: readFile(path) ?? [], as: UTF8.self) }
}

@Suite(
    "pushctl dev", .timeLimit(.minutes(30)),
    .needs(program: "/usr/bin/curl", of: "curl"))
struct DevTests {
    private static let anyPorts = ["--port", "0", "--gateway-port", "0"]

    @Test("shows a first push at the address that it prints, and Ctrl-C leaves no process and no directory")
    func firstPush() throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--temporary"] + Self.anyPorts)
        let pushes = try run.pushes()
        #expect(pushes.map { $0["app"]?.string } == ["org.example.demo"])
        #expect(pushes.first?["external_id"]?.string == "anna")
        #expect(run.started.count == 3)
        let lines = run.printed.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("export SSL_CERT_FILE='\(directory.path)/tmp/") }, "\(run.printed)")
        #expect(lines.contains { $0.hasPrefix("export HTTPS_PROXY='http://127.0.0.1:") }, "\(run.printed)")
        try waitUntil("the log tells of the push") { run.log.contains("handed_to_tracker") }
        let time = try #require(run.log.split(separator: "\n").first { $0.contains("  info     pushrouterd: ") })
        #expect(time.prefix(8).split(separator: ":").compactMap { Int($0) }.count == 3, "\(time)")
        #expect(!run.log.contains("\u{1B}"), "a file gets no colours")
        #expect(try run.stop(by: SIGINT) == .exited(0), "\(run.log)")
        #expect(run.started.isEmpty)
        #expect(names(in: "\(directory.path)/tmp").isEmpty)
    }

    @Test("takes a push by the command that it prints, and the handler logs it")
    func command() throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--temporary"] + Self.anyPorts)
        _ = try run.port()
        let line = try #require(run.printed.split(separator: "\n").first { $0.hasPrefix("By curl:") })
        let sent = Program(path: "/bin/sh").run(["-c", "\(line.dropFirst("By curl:".count)) -s --noproxy '*'"])
        #expect(sent.output.contains("/messages/"), "\(sent.output)\(sent.errors)")
        try waitUntil("the handler says so") { run.log.contains("pushrouterd: request 2: onMessageReceived") }
        try waitUntil("the page has both") { try run.pushes().count == 2 }
        #expect(try run.stop(by: SIGTERM) == .exited(0))
    }

    @Test("finds the same push once in a second run, and keeps a person's configuration")
    func secondRun() throws {
        let directory = TemporaryDirectory()
        let arguments = ["--directory", "\(directory.path)/dev"] + Self.anyPorts
        let first = DevRun(in: directory.path, arguments)
        try waitUntil("the page has it") { try first.pushes().count == 1 }
        #expect(try first.stop(by: SIGINT) == .exited(0))
        let changed = "[Store]\nMaxSize=2G\n"
        writeFile(changed, to: "\(directory.path)/dev/config/pushrouterd.conf")
        let second = DevRun(in: directory.path, arguments)
        let pushes = try second.pushes()
        #expect(pushes.map { $0["seq"]?.int64 } == [1])
        #expect(readFile("\(directory.path)/dev/config/pushrouterd.conf") == Array(changed.utf8))
        #expect(try second.stop(by: SIGINT) == .exited(0))
        #expect(second.started.isEmpty)
        #expect(access("\(directory.path)/dev/state", F_OK) == 0)
    }

    @Test("refuses a second run in a directory that another one uses")
    func atOnce() throws {
        let directory = TemporaryDirectory()
        let arguments = ["--directory", "\(directory.path)/dev"] + Self.anyPorts
        let first = DevRun(in: directory.path, arguments)
        _ = try first.port()
        let second = DevRun(in: directory.path, arguments)
        #expect(try second.waitForEnd() == .exited(69))
        #expect(second.log.contains("another \"pushctl dev\" runs in \(directory.path)/dev"), "\(second.log)")
        try waitUntil("the page has it") { try first.pushes().count == 1 }
        #expect(try first.stop(by: SIGINT) == .exited(0))
    }

    @Test("takes the next port if the first is taken, but no port other than one given by --port")
    func takenPort() throws {
        let directory = TemporaryDirectory()
        // `nil` means that another program of this machine has the port.
        let taken = SilentPort(18080)
        let run = DevRun(in: directory.path, ["--temporary", "--gateway-port", "0"])
        let port = try run.port()
        #expect((18081...18100).contains(port), "\(port)")
        withExtendedLifetime(taken) {}
        #expect(try run.stop(by: SIGINT) == .exited(0))
        let exact = try #require(SilentPort())
        let refused = DevRun(in: directory.path, ["--temporary", "--gateway-port", "0", "--port", "\(exact.number)"])
        #expect(try refused.waitForEnd() == .exited(69))
        #expect(refused.log.contains("--port \(exact.number): another program uses this port"), "\(refused.log)")
        #expect(refused.started.isEmpty)
        #expect(names(in: "\(directory.path)/tmp").isEmpty)
    }

    @Test("leaves no process when it is killed, and the next run continues")
    func killed() throws {
        let directory = TemporaryDirectory()
        let arguments = ["--directory", "\(directory.path)/dev"] + Self.anyPorts
        let first = DevRun(in: directory.path, arguments)
        _ = try first.port()
        #expect(try first.stop(by: SIGKILL) == .signaled(SIGKILL))
        try waitUntil("its programs are gone") { first.started.isEmpty }
        let second = DevRun(in: directory.path, arguments)
        #expect(try second.pushes().count == 1)
        #expect(try second.stop(by: SIGINT) == .exited(0))
    }

    @Test(
        "ends all programs when one of them ends, and says which",
        arguments: ["pushrouterd", "pushrouter-gateway", "pushrouter-web"])
    func lostProgram(_ name: String) throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--temporary"] + Self.anyPorts)
        _ = try run.port()
        let program = try #require(
            children(of: run.processID).first { process in
                let path = readFile("/proc/\(process)/cmdline")?.split(separator: 0).first ?? []
                return String(decoding: path, as: UTF8.self).hasSuffix("/\(name)")
            })
        kill(program, SIGKILL)
        #expect(try run.waitForEnd() == .exited(69))
        #expect(run.log.contains("pushctl: \(name) was ended by signal 9"), "\(run.log)")
        #expect(run.started.isEmpty)
        #expect(names(in: "\(directory.path)/tmp").isEmpty)
    }

    @Test("ends with the status and the message of a program that does not start")
    func wrongConfiguration() throws {
        let directory = TemporaryDirectory()
        let arguments = ["--directory", "\(directory.path)/dev"] + Self.anyPorts
        let first = DevRun(in: directory.path, arguments)
        _ = try first.port()
        #expect(try first.stop(by: SIGINT) == .exited(0))
        writeFile("[Gateway]\nProvider=perhaps\n", to: "\(directory.path)/dev/config/gateway.conf")
        let second = DevRun(in: directory.path, arguments)
        #expect(try second.waitForEnd() == .exited(78))
        #expect(second.log.contains("pushctl: pushrouter-gateway ended with status 78 before it was ready"))
        #expect(second.log.contains("gateway.conf:2: "), "\(second.log)")
        #expect(second.started.isEmpty)
    }

    @Test("reports a faulty directory or port")
    func mistakes() {
        let directory = TemporaryDirectory()
        func refusal(_ arguments: String...) -> Program.Result { pushctl.run(["dev"] + arguments) }
        #expect(refusal("--port", "65536").errors.contains("--port 65536: a port from 1 to 65535"))
        #expect(refusal("--gateway-port", "http").end == .exited(2))
        #expect(refusal("--temporary", "--directory", "x").errors.contains("exclude each other"))
        #expect(refusal("--state", "/x").errors.contains("--state: dev keeps all files in one directory"))
        let long = "\(directory.path)/" + String(repeating: "d", count: 100)
        let tooLong = refusal("--directory", long)
        #expect(tooLong.end == .exited(74) && tooLong.errors.contains("Linux takes 107"), "\(tooLong.errors)")
        let open = "\(directory.path)/open"
        mkdir(open, 0o700)
        chmod(open, 0o777)
        let writable = refusal("--directory", open)
        #expect(writable.end == .exited(77) && writable.errors.contains("chmod go-w"), "\(writable.errors)")
        #expect(refusal("--directory", "\(directory.path)/no/where").end == .exited(74))
    }
}
