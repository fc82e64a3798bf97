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
        try waitUntil("the handler says so") { run.log.contains("handler received: request 2: onMessageReceived") }
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
        let kept = "\(directory.path)/kept"
        for option in ["--port", "--gateway-port"] {
            let refused = DevRun(in: directory.path, ["--directory", kept, option, "\(exact.number)"])
            #expect(try refused.waitForEnd() == .exited(69))
            #expect(access(kept, F_OK) != 0, "nothing was made for \(option)")
        }
    }

    @Test("its directory is used by each command in it and below it, which says so")
    func found() throws {
        let directory = TemporaryDirectory()
        let project = "\(directory.path)/project"
        for path in [project, "\(project)/sub"] { mkdir(path, 0o700) }
        let run = DevRun(in: directory.path, ["--directory", "\(project)/.pushrouter"] + Self.anyPorts)
        _ = try run.port()
        let commands = [
            ["show", "1"], ["campaigns"], ["events"], ["report"], ["export"], ["devices"], ["pending"], ["deadletters"],
            ["status"], ["verify"], ["inject", "--example", "notification-block", "--wait"], ["open", "1"], ["reload"],
            ["run-handler", "received", "--seq", "1"], ["top", "--once"], ["gateway", "env"], ["gateway", "ca"],
            ["log-level"], ["backup", "\(directory.path)/backup"],
        ]
        for words in commands {
            let result = pushctl(in: "\(project)/sub", words)
            #expect(result.end == .exited(0), "\(words): \(result.output)\(result.errors)")
            #expect(result.errors.hasPrefix("pushctl: using ../.pushrouter\n"), "\(words): \(result.errors)")
        }
        writeFile(#"{"order_id":"1017"}"#, to: "\(project)/order.json")
        let explained = pushctl(in: project, "explain", "--platform", "android", "order.json")
        #expect(explained.output.contains("received, by route 99-default"), "\(explained.output)")
        #expect(explained.errors == "pushctl: using ./.pushrouter\n")
        let health = pushctl(in: project, "doctor")
        #expect(health.output.contains("\(project)/.pushrouter/run/control.sock: answered"), "\(health.output)")
        // A command that is given other directories, or needs none, says nothing.
        #expect(!pushctl(in: project, "explain", "--example", "list").errors.contains("using"))
        #expect(!pushctl(in: project, "--state", "\(directory.path)/other", "show", "1").errors.contains("using"))
        let named = pushctl(in: project, "status", environment: ["RUNTIME_DIRECTORY": "\(directory.path)/other"])
        #expect(named.end == .exited(69) && !named.errors.contains("using"), "\(named.errors)")
        #expect(try run.stop(by: SIGINT) == .exited(0))
        #expect(pushctl(in: project, "show", "1").end == .exited(0), "the ledger is there without a run")
        #expect(pushctl(in: project, "status").errors.contains("start it with \"pushctl dev\","))
        let below = pushctl(in: "\(project)/sub", "status").errors
        #expect(below.contains("start it with \"pushctl dev --directory '\(project)/.pushrouter'\","), "\(below)")
        let client = pushctl(in: project, "doctor", "--client").output
        #expect(client.contains("start the gateway: pushctl dev; "), "\(client)")
        #expect(pushctl(in: project, "gateway", "env").errors.contains("no gateway runs in \(project)/.pushrouter"))
        #expect(rename("\(project)/.pushrouter/state", "\(project)/.pushrouter/old") == 0)
        let empty = pushctl(in: project, "campaigns")
        #expect(
            empty.end == .exited(66) && empty.errors.contains("ledger; run \"pushctl dev\" once"), "\(empty.errors)")
    }

    @Test("its directory is not used where other users may write, or where another user owns it", .needsRoot)
    func foreign() throws {
        let directory = TemporaryDirectory()
        let found = "\(directory.path)/.pushrouter"
        for path in [found, "\(found)/config"] { mkdir(path, 0o755) }
        chmod(found, 0o777)
        let open = pushctl(in: directory.path, "status").errors
        #expect(open.contains("./.pushrouter is not used: it may be written by other users"), "\(open)")
        #expect(!open.contains("using"))
        chmod(found, 0o755)
        try #require(chown(found, 65534, 65534) == 0)
        let owned = pushctl(in: directory.path, "show", "1").errors
        #expect(owned.contains("./.pushrouter is not used: it belongs to user 65534"), "\(owned)")
    }

    @Test("reads a changed configuration, and its log has the result or the mistake")
    func reload() throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--directory", "\(directory.path)/dev"] + Self.anyPorts)
        _ = try run.port()
        let configuration = "\(directory.path)/dev/config"
        writeFile(
            "[Handler]\nType=exec\nExec=/bin/sh -c 'echo \"ordered with $PUSH_SEQ\" >&2; exit 3'\n",
            to: "\(configuration)/handlers.d/orders.handler")
        writeFile("[Match]\nData=order_id\n[Route]\nHandler=orders\n", to: "\(configuration)/routes.d/20-orders.route")
        try waitUntil("the daemon has it") { run.log.contains("reloaded: ") && run.log.contains("2 routes") }
        writeFile(#"{"order_id":"1017"}"#, to: "\(directory.path)/order.json")
        let words = ["--runtime", "\(directory.path)/dev/run", "inject", "--platform", "android"]
        #expect(pushctl.run(words + ["\(directory.path)/order.json"]).end == .exited(0))
        try waitUntil("the handler's words are there") { run.log.contains("handler orders: ordered with 2") }
        writeFile("[Match]\n[Route]\nHandler=nobody\n", to: "\(configuration)/routes.d/30-more.route")
        try waitUntil("the mistake is told") { run.log.contains("reload refused") }
        #expect(run.log.contains("30-more.route:3: "), "\(run.log)")
        writeFile("[Gateway]\nErrorTokens=no\n", to: "\(configuration)/gateway.conf")
        try waitUntil("the gateway has it") { run.log.contains("pushrouter-gateway: the configuration was read again") }
        #expect(try run.stop(by: SIGINT) == .exited(0))
    }

    @Test("reads the changed rules of Errors= alone, and again once a mistake in them is corrected")
    func errorRules() throws {
        let directory = TemporaryDirectory()
        let rules = "\(directory.path)/errors"
        let run = DevRun(in: directory.path, ["--directory", "\(directory.path)/dev"] + Self.anyPorts)
        _ = try run.port()
        let isRead = "pushrouter-gateway: the configuration was read again"
        func timesRead() -> Int { run.log.split(separator: "\n").count { $0.contains(isRead) } }
        writeFile(#"{"answer":"INTERNAL"}"#, to: rules)
        writeFile("[Gateway]\nErrors=\(rules)\n", to: "\(directory.path)/dev/config/gateway.conf")
        try waitUntil("the rules are read") { timesRead() == 1 }
        writeFile(#"{"answer":"UNAVAILABLE"}"#, to: rules)
        try waitUntil("the changed rules are read") { timesRead() == 2 }
        writeFile(#"{"answr":"UNAVAILABLE"}"#, to: rules)
        try waitUntil("the mistake is told") { run.log.contains("\(rules):1: error: answr: there is no such key") }
        writeFile(#"{"answer":"INTERNAL"}"#, to: rules)
        try waitUntil("the corrected rules are read") { timesRead() == 3 }
        #expect(try run.stop(by: SIGINT) == .exited(0))
    }

    @Test("its example is marked, and counts in no figure of a campaign")
    func example() throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--directory", "\(directory.path)/dev"] + Self.anyPorts)
        let pushes = try run.pushes()
        #expect(pushes.first?.text.contains("An example of pushctl dev") == true, "\(pushes.map(\.text))")
        let state = ["--state", "\(directory.path)/dev/state", "--runtime", "\(directory.path)/dev/run"]
        #expect(pushctl.run(state + ["open", "1", "--wait"]).end == .exited(0))
        let all = pushctl.run(state + ["campaigns"])
        #expect(
            all.output.contains("No campaign's push was received or opened. The example of pushctl dev is left out."))
        let one = pushctl.run(state + ["campaigns", "--campaign", "example-of-pushctl-dev", "--json"])
        #expect(try json(one.output)["in_all"]?["direct_opens"]?.int64 == 1, "\(one.output)")
        #expect(try run.stop(by: SIGINT) == .exited(0))
    }

    @Test("runs a command with the variables, and ends with its status and without a trace")
    func commandToRun() throws {
        let directory = TemporaryDirectory()
        let body = #"{"message":{"token":"pixel","data":{"order_id":"7"}}}"#
        let script = #"""
            curl -sf -d '\#(body)' https://fcm.googleapis.com/v1/projects/demo/messages:send >/dev/null || exit 1
            "$0" inject --example silent-tap >/dev/null || exit 2
            curl -sf "$PUSHROUTER_PAGE/api/pushes?after=1&wait=30s" >/dev/null || exit 3
            curl -sf "$PUSHROUTER_PAGE/api/pushes" || exit 4
            exit 7
            """#
        let run = DevRun(
            in: directory.path, ["--temporary"] + Self.anyPorts + ["--", "/bin/sh", "-c", script, pushctl.path])
        #expect(try run.waitForEnd() == .exited(7), "\(run.log)")
        let pushes = try #require(try json(run.printed)["pushes"]?.elements, "nothing else is printed: \(run.printed)")
        #expect(pushes.count == 2, "no example is among them: \(run.printed)")
        #expect(run.log.contains("handler received: request 1: onMessageReceived"), "\(run.log)")
        #expect(!run.log.contains("info     pushrouterd"), "\(run.log)")
        #expect(run.started.isEmpty)
        #expect(names(in: "\(directory.path)/tmp").isEmpty)
    }

    @Test("passes a signal on to its command, and has the status of a shell for a command that a signal ended")
    func signalsOfCommand() throws {
        let directory = TemporaryDirectory()
        func run(_ script: String) -> DevRun {
            DevRun(in: directory.path, ["--temporary"] + Self.anyPorts + ["--", "sh", "-c", script])
        }
        let waiting = run("trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done")
        try waitUntil("it waits") { waiting.printed == "ready\n" }
        #expect(try waiting.stop(by: SIGTERM) == .exited(5))
        #expect(waiting.started.isEmpty)
        #expect(try run("kill -KILL $$").waitForEnd() == .exited(137))
        let daemonless = run("kill $(pgrep -P $PPID -x pushrouterd); while :; do sleep 0.02; done")
        #expect(try daemonless.waitForEnd() == .exited(69), "\(daemonless.log)")
        #expect(daemonless.log.contains("pushctl: pushrouterd ended"), "\(daemonless.log)")
        let unknown = DevRun(in: directory.path, ["--directory", "\(directory.path)/kept", "--", "no-such-command"])
        #expect(try unknown.waitForEnd() == .exited(66))
        #expect(unknown.log.contains("there is no program no-such-command in /usr/bin, /bin"), "\(unknown.log)")
        #expect(access("\(directory.path)/kept", F_OK) != 0)
        #expect(names(in: "\(directory.path)/tmp").isEmpty)
    }

    @Test("prints its addresses as one line of JSON, for programs")
    func addresses() throws {
        let directory = TemporaryDirectory()
        let run = DevRun(in: directory.path, ["--temporary", "--json"] + Self.anyPorts)
        try waitUntil("they are printed") { run.printed.hasSuffix("\n") }
        let addresses = try json(run.printed)
        let page = try #require(addresses["page"]?.string)
        let variables = try #require(addresses["environment"])
        #expect(variables["PUSHROUTER_PAGE"]?.string == page)
        #expect(variables["HTTPS_PROXY"]?.string == addresses["gateway"]?.string)
        let root = try #require(variables["PUSHROUTER_DIRECTORY"]?.string)
        #expect(addresses["state"]?.string == "\(root)/state")
        #expect(pushctl.run(["status"], environment: ["PUSHROUTER_DIRECTORY": root]).end == .exited(0))
        try probe(variables)
        let answer = Program(path: "/usr/bin/curl").run(["-s", "--noproxy", "*", "\(page)/api/pushes"])
        #expect(try json(answer.output)["pushes"]?.elements.isEmpty == true, "\(answer.output)")
        #expect(try run.stop(by: SIGINT) == .exited(0))
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

    /// Checks what the doctor of clients says in a shell with the variables.
    private func probe(_ variables: JSONNode) throws {
        let given = Dictionary(uniqueKeysWithValues: variables.members.map { ($0.key, $0.value.string ?? "") })
        func doctor(_ name: String, _ value: String?) -> Program.Result {
            var environment = given
            environment[name] = value
            return pushctl.run(["doctor", "--client"], environment: environment)
        }
        let good = doctor("TZ", "UTC")
        #expect(good.end == .exited(0), "\(good.output)")
        #expect(good.output.contains("a request to fcm.googleapis.com arrives, and TLS is trusted"))
        #expect(good.output.contains("no client has sent a request yet"))
        let port = try #require(SilentPort())
        let other = doctor("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")
        #expect(other.end == .exited(1) && other.output.contains("do not vouch for its TLS"), "\(other.output)")
        let none = doctor("HTTPS_PROXY", "http://127.0.0.1:\(port.number)")
        #expect(none.end == .exited(1) && none.output.contains("nothing listens there"), "\(none.output)")
        withExtendedLifetime(port) {}
    }

    @Test("reports a faulty directory or port")
    func mistakes() {
        let directory = TemporaryDirectory()
        func refusal(_ arguments: String...) -> Program.Result { pushctl.run(["dev"] + arguments) }
        #expect(refusal("--port", "65536").errors.contains("--port 65536: a port from 1 to 65535"))
        #expect(refusal("--gateway-port", "http").end == .exited(2))
        #expect(refusal("--temporary", "--directory", "x").errors.contains("exclude each other"))
        #expect(refusal("--port", "1", "--gateway-port", "1").errors.contains("are the same port"))
        #expect(refusal("--json", "--", "true").errors.contains("--json prints to standard output"))
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
