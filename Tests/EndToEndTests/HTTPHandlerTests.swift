import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

extension Installation {
    /// Adds an `http` handler, and a route to it for payloads whose data has `job` set to its name.
    func addHTTP(_ name: String, _ url: String, handler: String = "", route: String = "") {
        write("handlers.d/\(name).handler", "[Handler]\nType=http\nURL=\(url)\n\(handler)\n")
        addRoute("50-\(name)", to: name, match: "Data=job \(name)", route: route)
    }
}

@Suite("An http handler", .timeLimit(.minutes(30)))
struct HTTPHandlerTests {
    private let installation = Installation()
    private let relay = Installation("[Dispatch]\nMode=relay\nRetryDelay=10ms\n")

    private func server() throws -> WebServer { try WebServer(in: installation.root + "/web") }

    @Test("posts the data of every handler, over one connection, by one program that ends with the daemon")
    func posts() throws {
        let server = try server()
        installation.addHTTP("crm", server.url("ok"), handler: "Header=X-Tenant: shop")
        installation.addHTTP("shop", server.url("shop"), handler: "Format=plain")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<20 { #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled") }
        #expect(try client.outcome(of: Requests.deliver(job: "shop")).outcome == "handled")
        #expect(children(of: daemon.processID).count == 1, "one program for all http handlers")
        let requests = server.requests(to: "ok")
        #expect(requests.count == 20)
        #expect(Set(requests.compactMap { $0["connection"]?.int64 }).count == 1, "the connection is kept")
        #expect(Set(requests.compactMap { $0.header("ce-id") }).count == 20)
        let first = try #require(requests.first)
        let body = try json(try #require(first["body"]?.string))
        #expect(body["id"] == nil)
        #expect(body["delivery"]?["op"]?.string == "deliver")
        #expect(body["payload"]?["data"]?["job"]?.string == "crm")
        let expected = [
            "content-type": "application/json", "x-tenant": "shop", "push-op": "deliver",
            "push-callback": "onMessageReceived", "ce-specversion": "1.0", "ce-type": "local.pushrouterd.deliver",
            "ce-callback": "onMessageReceived", "ce-seq": "1",
        ]
        for (name, value) in expected { #expect(first.header(name) == value, "\(name)") }
        #expect(first.header("ce-expirytime") == body["deadline"]?["at"]?.string)
        #expect((1...9000).contains(Int(first.header("push-deadline-ms") ?? "") ?? 0))
        #expect(server.requests(to: "shop").first?.header("ce-id") == nil)
        #expect(try daemon.stop() == .exited(0))
        #expect(processes(withEnvironment: "PUSH_RUN=\(try installation.stateIdentity())").isEmpty)
    }

    @Test("has one outcome for each kind of answer, and the next request is handled")
    func outcomes() throws {
        let server = try server()
        let sent = "; the server may have got the request, so it is not repeated (Idempotent=)"
        let cut = "the answer cannot be read: the body is incomplete or longer than 64 KiB"
        let cases: [(path: String, outcome: String, reason: String?)] = [
            ("status/204", "handled", nil), ("huge", "handled", cut), ("truncated", "handled", cut),
            ("status/422", "failed", "HTTP status 422"),
            (
                "redirect", "failed",
                "HTTP status 302: pushrouter-http follows no redirect; set URL= to the final address"
            ),
            ("status/503", "failed", "the handler asked for a retry; device mode does not retry (Mode=)"),
            ("declined", "handled", nil),
            ("reset", "failed", sent), ("garbage", "failed", sent), ("headers", "failed", sent),
            ("hang", "timed_out", "not finished at the deadline"),
            ("trickle", "timed_out", "not finished at the deadline"),
        ]
        for (index, (path, _, _)) in cases.enumerated() {
            installation.addHTTP(
                "odd\(index)", server.url(path), route: path == "hang" || path == "trickle" ? "Deadline=2s" : "")
        }
        installation.addHTTP("good", server.url("ok"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let other = try installation.injectClient()
        #expect(try other.outcome(of: Requests.deliver(job: "good")).outcome == "handled")
        let programs = children(of: daemon.processID)
        for (index, (path, outcome, reason)) in cases.enumerated() {
            try client.send(line: Requests.deliver(job: "odd\(index)"))
            // Other requests are handled beside each of these answers.
            #expect(try other.outcome(of: Requests.deliver(job: "good")).outcome == "handled", "beside \(path)")
            var line = try client.next()
            if line.outcome == nil { line = try client.next() }
            #expect(
                line.outcome == outcome && (reason == nil || line.reason?.contains(reason ?? "") == true), "\(line)")
        }
        #expect(children(of: daemon.processID) == programs, "nothing that a server does costs the program its life")
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("that hangs does not disturb other requests of the same handler, and is aborted at its deadline")
    func hangs() throws {
        let server = try server()
        installation.addHTTP("slow", server.url("hang"), handler: "MaxConcurrent=2", route: "Deadline=2s")
        installation.addHTTP("good", server.url("ok"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        // The sending program runs from here on, however slowly it starts.
        #expect(try client.outcome(of: Requests.deliver(job: "good")).outcome == "handled")
        // More callbacks than places, so that each place must become free again.
        for _ in 0..<6 { try client.send(line: Requests.deliver(job: "slow")) }
        var outcomes: [String] = []
        while outcomes.count < 6 { if let outcome = try client.next().outcome { outcomes.append(outcome) } }
        #expect(outcomes.allSatisfy { ["timed_out", "expired"].contains($0) }, "\(outcomes)")
        #expect(outcomes.contains("timed_out"))
        #expect(children(of: daemon.processID).count == 1)
        let status = try DaemonStatus(of: installation)
        #expect(try status.number("handlers_running") == 0)
    }

    @Test("is tried again in relay mode, at the time that the server names, until the deadline")
    func retries() throws {
        let server = try server()
        relay.addHTTP("flaky", server.url("flaky"))
        relay.addHTTP("later", server.url("later"))
        let dead = try #require(SilentPort())
        defer { withExtendedLifetime(dead) {} }
        relay.addHTTP("dead", "http://127.0.0.1:\(dead.number)/", route: "Deadline=2s")
        relay.addHTTP("reset", server.url("reset"), handler: "Idempotent=yes", route: "Deadline=4s")
        let daemon = try TestDaemon(relay)
        let client = try relay.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "flaky")).outcome == "handled")
        let requests = server.requests(to: "flaky")
        #expect(requests.count == 2)
        #expect(Set(requests.compactMap { $0.header("ce-id") }).count == 1, "the receiver can tell that it is one")
        let shown = try json(daemon.pushctl("show", "1", "--json").output)["invocations"]?.elements.first
        let first = shown?["attempts"]?.elements.first
        #expect(first?["answer"]?.string == "retry" && first?["status"]?.int64 == 503)
        #expect(first?["reason"]?.string == "HTTP status 503")
        #expect(daemon.pushctl("show", "1").output.contains(" ms: HTTP status 503\n"))
        #expect(try client.outcome(of: Requests.deliver(job: "later")).outcome != "handled")
        #expect(server.requests(to: "later").count == 1)
        #expect(try client.outcome(of: Requests.deliver(job: "dead")).outcome != "handled")
        #expect(try client.outcome(of: Requests.deliver(job: "reset")).outcome != "handled")
        #expect(server.requests(to: "reset").count > 1)
        try waitUntil("the journal says why") { daemon.process.standardError.contains("dead: no answer: ") }
    }

    @Test("declines by 404 with its header: the next route gets the callback; an answer may have a result")
    func declines() throws {
        let server = try server()
        installation.addHTTP("shy", server.url("declined"))
        installation.addRoute("60-next", to: "next", match: "Data=job shy")
        installation.write("handlers.d/next.handler", "[Handler]\nType=http\nURL=\(server.url("result"))\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "shy")).outcome == "handled")
        #expect(server.requests.map { $0["path"]?.string } == ["/declined", "/result"])
    }

    @Test("that was killed is started again; a killed daemon leaves none")
    func killed() throws {
        let server = try server()
        installation.addHTTP("crm", server.url("ok"))
        installation.addHTTP("slow", server.url("hang"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        try client.send(line: Requests.deliver(job: "slow"))
        try waitUntil("the request is under way") { !server.requests(to: "hang").isEmpty }
        for program in children(of: daemon.processID) { kill(program, SIGKILL) }
        var line = try client.next()
        if line.outcome == nil { line = try client.next() }
        #expect(line.outcome == "failed", "\(line)")
        let again = try client.outcome(of: Requests.deliver(job: "crm"))
        #expect(again.outcome == "handled", "\(again)\n\(daemon.standardError)")
        let programs = children(of: daemon.processID)
        #expect(programs.count == 1)
        daemon.crash()
        try waitUntil("the program ends by itself") { programs.allSatisfy { !isAlive($0) } }
    }

    @Test("follows its changed file after a reload")
    func reloads() throws {
        let server = try server()
        installation.addHTTP("crm", server.url("old"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        installation.addHTTP("crm", server.url("new"))
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        #expect(server.requests.map { $0["path"]?.string } == ["/old", "/new"])
    }

    @Test("can be tried by pushctl run-handler")
    func runHandler() throws {
        let server = try server()
        installation.addHTTP("crm", server.url("result"))
        let result = pushctl.run(
            ["run-handler", "crm", "-", "--config", installation.configuration, "--platform", "android"],
            input: Array(#"{"job":"crm"}"#.utf8))
        #expect(result.end == .exited(0), "\(result)")
        #expect(result.output.contains("answer: handled, result newData, after "), "\(result.output)")
    }

    @Test("behind the socket of its own unit works alike, and waits for answers when it is stopped")
    func service() throws {
        let activate = "/usr/bin/systemd-socket-activate"
        guard access(activate, X_OK) == 0 else { return leaveUntested("\(activate) is not installed") }
        let server = try server()
        let socket = installation.root + "/http.sock"
        installation.write("pushrouterd.conf", "[Daemon]\nHTTPSocket=\(socket)\n")
        installation.addHTTP("crm", server.url("ok"))
        let program = Program(product: "pushrouter-http").path
        let service = try Service([activate, "-l", socket, program, "--config", installation.configuration])
        defer { withExtendedLifetime(service) {} }
        try waitUntil("the service listens") { (try? Client(path: socket)) != nil }
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<3 { #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled") }
        #expect(children(of: daemon.processID).isEmpty, "the daemon starts none of its own")
        #expect(Set(server.requests.compactMap { $0["connection"]?.int64 }).count == 1)
    }

    @Test("gets no callback before pushrouter-http reports that it is up: if that fails, the next start gets it")
    func greeting() throws {
        let socket = installation.root + "/http.sock"
        installation.write("pushrouterd.conf", "[Daemon]\nHTTPSocket=\(socket)\n")
        installation.addHTTP("crm", "http://127.0.0.1:1/unused")
        // Two connections end before the program is up; the next one answers each line.
        let script = """
            use IO::Socket::UNIX;
            my $s = IO::Socket::UNIX->new(Local => '\(socket)', Listen => 9) or die;
            my $ended = 0;
            while (my $c = $s->accept) {
                $c->autoflush(1);
                next if $ended++ < 2;
                print $c "\\n";
                while (<$c>) { my ($id) = /"id":(\\d+)/; print $c qq({"id":$id,"status":"handled"}\\n) }
            }
            """
        let service = try Service(["/usr/bin/perl", "-e", script])
        defer { withExtendedLifetime(service) {} }
        try waitUntil("the service listens") { access(socket, F_OK) == 0 }
        let daemon = try DaemonProcess.ready(installation)
        let outcome = try installation.injectClient().outcome(of: Requests.deliver(job: "crm"))
        #expect(outcome.outcome == "handled", "\(outcome)")
        try waitUntil("that is told") { daemon.standardError.contains("closed the connection before it was up") }
    }
}
