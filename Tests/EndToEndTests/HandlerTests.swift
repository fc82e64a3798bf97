import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("An exec handler", .timeLimit(.minutes(30)))
struct HandlerTests {
    private let installation = Installation()

    @Test(
        "has the outcome of its exit status or signal",
        arguments: [
            ("exit 0", "handled", nil),
            ("exit 75", "failed", "the handler asked for a retry; device mode does not retry (Mode=)"),
            ("exit 1", "failed", "exit status 1"),
            (
                "echo Dear Anna; echo trying >&2; echo boom: no database >&2; exit 1", "failed",
                "exit status 1: boom: no database"
            ),
            ("echo Dear Anna; exit 1", "failed", "exit status 1"),
            ("exit 255", "failed", "exit status 255"),
            ("kill -KILL $$", "failed", "ended by signal 9 (SIGKILL: often out of memory: MemoryMax=)"),
            ("kill -TERM $$", "failed", "ended by signal 15 (SIGTERM)"),
            (
                "echo chatter; echo '{\"result\":'; exit 0", "handled",
                "no answer is found: the answer cannot be read: at byte 10: a value is expected; the text ends here"
            ),
            // The output pipe may be full, closed, or held open by a process that outlives the handler.
            (
                "head -c 1000000 /dev/zero; exit 0", "handled",
                "no answer is found: the output has 1000000 bytes; the daemon reads the first 65536"
            ),
            // At 10 MiB per second, the limit for standard error, this output would miss the deadline.
            (
                "head -c 134217728 /dev/zero; exit 0", "handled",
                "no answer is found: the output has 134217728 bytes; the daemon reads the first 65536"
            ),
            ("exec >&-; exit 0", "handled", nil),
            ("sleep 60 & exit 0", "handled", "the daemon killed processes that the handler left behind"),
        ])
    func endings(script: String, outcome: String, reason: String?) throws {
        installation.addJob("job", script)
        let daemon = try DaemonProcess.ready(installation)
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "job"))
        #expect(line.outcome == outcome && line.reason == reason, "\(line)")
        try waitUntil("nothing of the handler is left") { children(of: daemon.processID).isEmpty }
    }

    @Test("gets the secret that its file has at the start of each run, and fails with the reason without it")
    func credentials() throws {
        let path = installation.root + "/key"
        writeFile("first", to: path)
        installation.addJob(
            "secret", "cat $PUSH_CREDENTIAL_key >>$ROOT/got; env >$ROOT/environment", handler: "Credential=key:\(path)")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "secret")).outcome == "handled")
        writeFile(" second", to: path)
        #expect(try client.outcome(of: Requests.deliver(job: "secret")).outcome == "handled")
        #expect(String(decoding: readFile(installation.root + "/got") ?? [], as: UTF8.self) == "first second")
        let environment = String(decoding: readFile(installation.root + "/environment") ?? [], as: UTF8.self)
        #expect(environment.contains("PUSH_CREDENTIAL_key=/proc/self/fd/") && !environment.contains("second"))
        unlink(path)
        let line = try client.outcome(of: Requests.deliver(job: "secret"))
        #expect(
            line.reason?.contains("cannot read \(path) (Credential=): No such file or directory") == true, "\(line)")
    }

    @Test("that does not exist fails with a hint")
    func missingProgram() throws {
        installation.addHandler("gone", "Exec=/nonexistent/program")
        installation.addRoute("50-gone", to: "gone", match: "Data=job gone")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "gone"))
        #expect(line.outcome == "failed")
        #expect(line.reason == "cannot start /nonexistent/program: no such program")
    }

    @Test("that declines leaves the payload to the next matching route; if the last one declines, it is unrouted")
    func declines() throws {
        installation.addJob("first", "exit 80")
        installation.addHandler("second", "Exec=/bin/sh -c 'echo $PUSH_ROUTE >\(installation.root)/took'")
        installation.addRoute("60-second", to: "second", match: "Data=job first")
        installation.addJob("alone", "exit 80")
        installation.addRoute("99-default", to: "journal", match: "Data=job none")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "first")).outcome == "handled")
        #expect(readFile(installation.root + "/took") == Array("60-second\n".utf8))
        let alone = try client.outcome(of: Requests.deliver(job: "alone"))
        let reason = try #require(alone.reason)
        #expect(alone.outcome == "unrouted", "\(alone)")
        #expect(reason.hasPrefix("every matching route declined; alone declined after "), "\(reason)")
        let nobody = try client.outcome(of: Requests.deliver(job: "unheard of"))
        #expect(nobody.outcome == "unrouted" && nobody.reason == "no route matches", "\(nobody)")
    }

    @Test("answers a callback with its output")
    func output() throws {
        installation.addHandler("answer", #"Exec=/bin/echo '{"result":"newData","options":["banner","sound"]}'"#)
        installation.addRoute("50-answer", to: "answer")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let silent = Requests.deliver(#""platform":"ios","payload":{"aps":{"content-available":1}}"#)
        #expect(try client.outcome(of: silent).completion == #"{"by":"handler","times":1,"result":"newData"}"#)
        let visible = Requests.deliver(#""platform":"ios","state":"foreground","payload":{"aps":{"alert":"A"}}"#)
        #expect(
            try client.outcome(of: visible).completion
                == #"{"by":"handler","times":1,"result":"newData","options":["banner","sound"]}"#)
    }

    @Test("reads the payload byte for byte, with its facts")
    func input() throws {
        installation.addHandler("save", "Exec=/bin/sh -c 'cat >\(installation.root)/input'")
        installation.addRoute("50-save", to: "save")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let payload =
            #"{ "b":4503599627370497.5, "a" : [1.0,1e2,-0, 0.10 ,12345678901234567890],"é":"\u00e9\/🙂","data":{"k":"v"}}"#
        let request = Requests.deliver(
            #""platform":"android","app":"com.example","external_id":"u1","payload":\#(payload)"#, id: "in",
            device: "d1")
        #expect(try installation.injectClient().outcome(of: request).outcome == "handled")

        let bytes = try #require(readFile(installation.root + "/input"))
        let input = try JSONDocument(scanning: bytes).root
        #expect(bytes.last == UInt8(ascii: "\n") && bytes.count(where: { $0 == UInt8(ascii: "\n") }) == 1)
        #expect(input["payload"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == payload)
        let delivery = try #require(input["delivery"])
        let expected = [
            "seq": "1", "n": "0", "id": #""in""#, "op": #""deliver""#, "callback": #""onMessageReceived""#,
            "platform": #""android""#, "app": #""com.example""#, "device": #""d1""#, "external_id": #""u1""#,
            "route": #""50-save""#, "handler": #""save""#,
        ]
        for (key, value) in expected {
            #expect(delivery[key].map { String(decoding: $0.rawBytes, as: UTF8.self) } == value, "\(key)")
        }
        let remaining = try #require(input["deadline"]?["remaining_ms"]?.int64)
        #expect(remaining > 0 && remaining <= 9000)
        #expect(input["deadline"]?["at"]?.string.flatMap { WallTime(rfc3339: $0) } != nil)
    }

    @Test("has the environment of its file, PATH and the facts, and no variables of the daemon")
    func environment() throws {
        installation.addHandler(
            "save",
            "Exec=/bin/sh -c 'cat /proc/$$/environ >\(installation.root)/environment'\nEnvironment=\"MY=a b\" X=1")
        installation.addRoute("50-save", to: "save")
        let daemon = try DaemonProcess.ready(installation, environment: ["SECRET=1", "WATCHDOG_USEC=60000000"])
        defer { withExtendedLifetime(daemon) {} }
        let request = Requests.deliver(#""platform":"android","payload":{"data":{"k":"v"}}"#, id: "in", device: "d1")
        #expect(try installation.injectClient().outcome(of: request).outcome == "handled")
        let file = try #require(readFile(installation.root + "/environment"))
        var variables: [String: String] = [:]
        for entry in file.split(separator: 0) {
            let parts = String(decoding: entry, as: UTF8.self).split(separator: "=", maxSplits: 1)
            variables[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        #expect(
            Set(variables.keys) == [
                "MY", "X", "PATH", "PUSH_RUN", "PUSH_SEQ", "PUSH_N", "PUSH_ATTEMPT", "PUSH_ID", "PUSH_OP",
                "PUSH_CALLBACK",
                "PUSH_PLATFORM", "PUSH_DEVICE", "PUSH_LANE", "PUSH_ROUTE", "PUSH_HANDLER", "PUSH_ACCEPTED_AT",
                "PUSH_DEADLINE_REMAINING_MS", "PUSH_DEADLINE_AT",
            ])
        #expect(variables["MY"] == "a b" && variables["X"] == "1")
        #expect(variables["PUSH_SEQ"] == "1" && variables["PUSH_ID"] == "in" && variables["PUSH_DEVICE"] == "d1")
        #expect(variables["PUSH_LANE"] == "/d1")
        var state = stat()
        #expect(stat(installation.state, &state) == 0)
        #expect(
            variables["PUSH_RUN"]
                == "\(try installation.stateIdentity())@\(state.st_dev).\(state.st_ino):1:0")
    }

    @Test("inherits no descriptor, regardless of connected clients")
    func descriptors() throws {
        // The fourth descriptor is the directory that ls itself reads.
        installation.addHandler("list", "Exec=/bin/sh -c 'exec ls /proc/self/fd >\(installation.root)/list'")
        installation.addRoute("50-list", to: "list")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let others = try (0..<10).map { _ in try installation.injectClient() }
        for client in others { #expect(try client.outcome(of: Requests.deliver()).outcome == "handled") }
        #expect(readFile(installation.root + "/list") == Array("0\n1\n2\n3\n".utf8))
    }

    @Test("has a higher oom_score_adj than the daemon, once it has run for a moment")
    func memoryPreference() throws {
        func preference(of process: Int32) -> Int? {
            readFile("/proc/\(process)/oom_score_adj").flatMap { Int(String(decoding: $0.dropLast(), as: UTF8.self)) }
        }
        let processes = Messages(installation.root + "/processes")
        installation.addJob("job", "echo $$ >$ROOT/processes; exec sleep 60")
        let daemon = try DaemonProcess.ready(installation)
        let own = try #require(preference(of: daemon.processID))
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job", waits: false)).isAccepted)
        let process = try processes.processes(1)[0]
        try waitUntil("it is the one") { preference(of: process) == min(1000, own + 500) }
        #expect(preference(of: daemon.processID) == own)
        daemon.crash()
        kill(process, SIGKILL)
    }

    @Test("is tried again in relay mode until it succeeds")
    func retries() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRetryDelay=5ms\n")
        installation.addJob("shy", "echo >>$ROOT/tries; test $(wc -l <$ROOT/tries) -ge 4 || exit 75")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "shy")).outcome == "handled")
        #expect(readFile(installation.root + "/tries")?.count == 4)
    }

    @Test("that always asks for a retry fails when no time is left")
    func retriesForEver() throws {
        // The first wait, of 2 s to 4 s, ends before the deadline; the second, of 4 s to 8 s, would end at the deadline
        // or later, so no attempt runs at the deadline, however slowly a program starts.
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRetryDelay=4s\nRetryDelayMax=9s\n")
        installation.addJob("never", "echo >>$ROOT/tries; exit 75", route: "Deadline=6s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "never"))
        #expect(line.outcome == "failed" && line.reasonCode == "not_done_after_retries", "\(line)")
        #expect(line.reason == "tried 2 times; the handler asked for another retry, but no time was left", "\(line)")
        #expect(readFile(installation.root + "/tries")?.count == 2)
    }
}
