import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

/// The handlers of the documentation, as they are in `packaging/examples`.
@Suite("The examples of handlers", .timeLimit(.minutes(30)))
struct ExampleHandlerTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    private static let examples = "\(root)/packaging/examples"

    private let installation = Installation("[Dispatch]\nMode=relay\n")

    private func check(_ lines: String) throws {
        installation.write("handlers.d/orders.handler", "[Handler]\n\(lines)\n")
        installation.addRoute("50-orders", to: "orders")
        installation.addRoute("99-default", to: "journal", match: "Data=nothing")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let order = #""platform":"android","app":"shop","device":"d","payload":{"data":{"order_id":"7"}}"#
        for _ in 0..<3 {
            let line = try client.outcome(of: Requests.deliver(order))
            #expect(line.outcome == "handled", "\(line)")
        }
        let tap = try client.outcome(of: Requests.open(#""message":1,"device":"d","app":"shop""#))
        #expect(tap.outcome == "unrouted" && tap.reasonCode == "every_route_declined", "\(tap)")
    }

    @Test("do what they claim, as exec and as worker", arguments: ["exec.sh", "exec.py", "worker.sh", "worker.py"])
    func programs(name: String) throws {
        let kind = name.hasPrefix("exec") ? "exec" : "worker"
        try check("Type=\(kind)\nExec=\(Self.examples)/\(name)")
    }

    @Test(
        "do what they claim behind a socket",
        arguments: [
            ["\(examples)/service.py", "SOCKET"],
            ["/usr/bin/systemd-socket-activate", "--accept", "--inetd", "-l", "SOCKET", "\(examples)/worker.sh"],
        ])
    func socket(command: [String]) throws {
        guard access(command[0], X_OK) == 0 else { return leaveUntested("\(command[0]) is not installed") }
        let socket = installation.root + "/orders.sock"
        let service = try Service(command.map { $0 == "SOCKET" ? socket : $0 })
        defer { withExtendedLifetime(service) {} }
        try waitUntil("the service listens") { (try? Client(path: socket)) != nil }
        try check("Type=socket\nConnect=\(socket)")
    }

    @Test("do what they claim over HTTP")
    func http() throws {
        let port = try freePort()
        let service = try Service(["\(Self.examples)/receiver.py", String(port)])
        defer { withExtendedLifetime(service) {} }
        try waitUntil("the server listens") { isListening(port) }
        try check("Type=http\nURL=http://127.0.0.1:\(port)/orders")
    }

    @Test("download a picture of the own server, make an HTTP call with a secret, and show both")
    func picture() throws {
        let port = try freePort()
        let (root, address) = (installation.root, "http://127.0.0.1:\(port)")
        writeFile("not really a picture", to: root + "/a.png")
        writeFile("s3cret\n", to: root + "/key")
        // Answers GET with the files of a directory, and notes the proof of a POST.
        let server = """
            import http.server, sys
            class Handler(http.server.SimpleHTTPRequestHandler):
                def do_POST(self):
                    open("proof", "a").write(self.headers["Authorization"] + "\\n")
                    self.send_response(204)
                    self.end_headers()
            http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
            """
        let service = try Service(["/bin/sh", "-c", "cd \(root) && exec python3 -c '\(server)' \(port)"])
        defer { withExtendedLifetime(service) {} }
        writeFile(
            "#!/bin/sh\nprintf '%s|%s|' \"$1\" \"$3\" >>\(root)/shown; cat \"$2\" >>\(root)/shown\n",
            to: root + "/notify-send")
        chmod(root + "/notify-send", 0o755)
        installation.addHandler(
            "picture",
            """
            Exec=/usr/bin/env python3 \(Self.examples)/picture.py
            Credential=CRM:\(root)/key
            Environment=CRM=\(address)/seen IMAGES=\(address)/ PATH=\(root):/usr/local/bin:/usr/bin:/bin
            """)
        installation.addRoute("50-picture", to: "picture")
        installation.addRoute("99-default", to: "journal", match: "Data=nothing")
        try waitUntil("the server listens") { isListening(port) }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        func outcome(_ image: String) throws -> Line {
            try client.outcome(
                of: Requests.deliver(
                    #""platform":"android","device":"d","payload":{"data":{"title":"Sale","image":"\#(image)"}}"#))
        }
        let shown = try outcome("\(address)/a.png")
        #expect(shown.outcome == "handled", "\(shown)")
        #expect(readFile(root + "/shown").map { String(decoding: $0, as: UTF8.self) } == "-i|Sale|not really a picture")
        #expect(readFile(root + "/proof").map { String(decoding: $0, as: UTF8.self) } == "Bearer s3cret\n")
        #expect(try outcome("file:///etc/passwd").outcome == "unrouted")
    }

    private static let guide = "Sources/PushDaemon/Documentation.docc/Guides/GuideForHandlerAuthors.md"

    @Test(
        "each example program is in a page of the guides verbatim",
        arguments: [
            ("exec.py", guide), ("exec.sh", guide), ("exec.sh", "README.md"), ("worker.py", guide),
            ("picture.py", guide), ("worker.sh", "packaging/man/pushrouterd.8"),
            ("service.py", "packaging/man/pushrouterd.8"), ("receiver.py", "packaging/man/pushrouter-http.8"),
        ])
    func copies(name: String, page: String) throws {
        var example = String(decoding: try #require(readFile("\(Self.examples)/\(name)")), as: UTF8.self)
        if page.contains("/man/") {
            // In roff a backslash is `\e`.
            example = example.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\e")
        }
        let text = String(decoding: try #require(readFile("\(Self.root)/\(page)")), as: UTF8.self)
        #expect(text.contains(example), "\(name) is not in \(page) as it is")
    }

    @Test("every example handler is in a page of the guides")
    func shown() {
        // The folder tests is for tests of a sender.
        let names = TestSupport.names(in: Self.examples).filter { $0 != "tests" && $0 != "conform" }
        #expect(
            names.sorted() == [
                "exec.py", "exec.sh", "picture.py", "receiver.py", "service.py", "worker.py", "worker.sh",
            ],
            "the list of copies has another set")
    }
}

/// Another service; `deinit` kills its process group.
final class Service {
    private let processID: Int32

    init(_ command: [String]) throws {
        try #require(access(command[0], X_OK) == 0, "there is no program \(command[0])")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        processID = startProgram(
            command[0], command, environment: ["PATH=/usr/bin:/bin"], actions: &actions, leadsGroup: true)
    }

    deinit {
        kill(-processID, SIGKILL)
        waitpid(processID, nil, 0)
    }
}

@Suite("A socket handler", .timeLimit(.minutes(30)))
struct SocketHandlerTests {
    private let installation = Installation()
    private var socket: String { installation.root + "/service.sock" }

    private func addHandler(_ lines: String = "", route: String = "") {
        installation.write("handlers.d/service.handler", "[Handler]\nType=socket\nConnect=\(socket)\n\(lines)\n")
        installation.addRoute("50-service", to: "service", match: "Data=job service", route: route)
    }

    /// Starts a service that runs this Perl code for each line in `$_`, with the id in `$id`.
    private func service(_ perl: String) throws -> Service {
        let script = """
            use IO::Socket::UNIX; unlink '\(socket)';
            my $s = IO::Socket::UNIX->new(Local => '\(socket)', Listen => 9) or die;
            while (my $c = $s->accept) { while (<$c>) { my ($id) = /"id":(\\d+)/; \(perl) } }
            """
        let service = try Service(["/usr/bin/perl", "-e", script])
        try waitUntil("the service listens") { (try? Client(path: socket)) != nil }
        return service
    }

    private let answer = #"syswrite $c, qq({"id":$id,"status":"handled"}\n);"#

    @Test("is connected to on demand, and again after a restart of the service")
    func reconnects() throws {
        addHandler()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for _ in 0..<2 {
            let service = try service(answer)
            defer { withExtendedLifetime(service) {} }
            for _ in 0..<5 {
                let line = try client.outcome(of: Requests.deliver(job: "service"))
                #expect(line.outcome == "handled", "\(line)")
            }
        }
    }

    @Test("waits for an absent service, and says why if it does not come")
    func absent() throws {
        addHandler(route: "Deadline=3s")
        installation.addRoute("40-patient", to: "service", match: "Data=job patient")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let line = try client.outcome(of: Requests.deliver(job: "service"))
        #expect(line.outcome == "failed")
        let reason = "the socket cannot be connected to: there is no socket at \(socket)"
        #expect(line.reason?.hasPrefix(reason) == true, "\(line)")
        #expect(try client.ask(Requests.deliver(job: "patient")).isAccepted)
        let service = try service(answer)
        defer { withExtendedLifetime(service) {} }
        #expect(try client.next().outcome == "handled")
    }

    @Test("that does not answer is disconnected at the deadline, and connected to again for the next callback")
    func hangs() throws {
        addHandler(route: "Deadline=3s")
        installation.addRoute("40-patient", to: "service", match: "Data=job patient")
        let service = try service("unless ($n++) { readline $c; last } \(answer)")
        defer { withExtendedLifetime(service) {} }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "service")).outcome == "timed_out")
        let line = try client.outcome(of: Requests.deliver(job: "patient"))
        #expect(line.outcome == "handled", "\(line)")
    }
}
