import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("pushctl run-handler", .timeLimit(.minutes(30)))
struct PushctlRunHandlerTests {
    private let installation = Installation()

    /// Runs a handler on a payload that its route matches.
    private func run(_ name: String, _ options: String..., payload: String? = nil) -> Program.Result {
        pushctl.run(
            ["run-handler", name, "-", "--config", installation.configuration, "--platform", "android"] + options,
            input: Array((payload ?? #"{"job":"\#(name)","order_id":"7"}"#).utf8))
    }

    /// Returns the object that --json prints, and the end of the program.
    private func object(_ name: String, _ options: String...) throws -> (JSONNode, Program.End) {
        let result = pushctl.run(
            ["run-handler", name, "-", "--config", installation.configuration, "--platform", "android", "--json"]
                + options, input: Array(#"{"job":"\#(name)"}"#.utf8))
        return (try json(try #require(result.lines.first, "\(result.errors)")), result.end)
    }

    private func addLines(_ name: String, type: String, _ lines: String) {
        installation.write("handlers.d/\(name).handler", "[Handler]\nType=\(type)\n\(lines)\n")
        installation.addRoute("50-\(name)", to: name, match: "Data=job \(name)")
    }

    private func addWorker(_ name: String, _ script: String) {
        writeFile(
            """
            next() { IFS= read -r line || exit 0; id=${line#*:}; id=${id%%,*}; }
            answer() { echo "{\\"id\\":${2:-$id},\\"status\\":\\"${1:-handled}\\"}"; }
            echo $$ >>\(installation.root)/pids
            \(script)
            """, to: "\(installation.root)/\(name).sh")
        addLines(name, type: "worker", "Exec=/bin/sh \(installation.root)/\(name).sh")
    }

    /// The process ids that a handler wrote.
    private var pids: [Int32] {
        String(decoding: readFile(installation.root + "/pids") ?? [], as: UTF8.self).split(separator: "\n")
            .compactMap { Int32($0) }
    }

    // MARK: http

    @Test("shows the request that an http handler's endpoint gets, and names the parts added on sending")
    func request() throws {
        let server = try WebServer(in: installation.root + "/web")
        writeFile("token", to: installation.root + "/token")
        chmod(installation.root + "/token", 0o600)
        addLines(
            "crm", type: "http", "URL=\(server.url("ok"))\nBearerFile=\(installation.root)/token\nHeader=X-Tenant: shop"
        )
        let (object, end) = try object("crm")
        #expect(end == .exited(0))
        let request = try #require(object["attempts"]?.elements.first?["request"])
        #expect(request["url"]?.string == server.url("ok"))
        let got = try #require(server.requests(to: "ok").first)
        #expect(request["body"]?.string == got["body"]?.string)
        let headers = try #require(request["headers"]?.strings)
        #expect(headers.contains("X-Tenant: shop") && headers.contains("Push-Op: deliver"))
        for line in headers {
            let colon = try #require(line.firstIndex(of: ":"))
            #expect(got.header(line[..<colon].lowercased()) == String(line[colon...].dropFirst(2)), "\(line)")
        }
        let text = run("crm").output
        #expect(text.contains("\n  request to \(server.url("ok")):\n    Push-Op: deliver\n"), "\(text)")
        #expect(
            text.contains("\n    Push-Deadline-Ms, Authorization: added as it leaves\n\n    {\"delivery\":{"), "\(text)"
        )
    }

    // MARK: Output that fails

    @Test(
        "with a failing output leaves no process of the handler",
        arguments: [
            (">/dev/full", Program.End.exited(74)),
            // A pipe whose reader has closed it.
            ("5<>$ROOT/pipe 6>$ROOT/pipe 5<&- >&6 6>&-", .exited(0)),
        ])
    func failingOutput(redirection: String, end: Program.End) throws {
        addWorker("stay", "while IFS= read -r line; do id=${line#*:}; id=${id%%,*}; answer; done; exec sleep 600")
        let payload = installation.root + "/payload"
        writeFile(#"{"job":"stay"}"#, to: payload)
        #expect(mkfifo(installation.root + "/pipe", 0o600) == 0)
        let result = Program(path: "/bin/sh").run(
            [
                "-c",
                "exec \(pushctl.path) run-handler stay \(payload) --config \(installation.configuration)"
                    + " --platform android \(redirection)",
            ], environment: ["ROOT": installation.root])
        #expect(result.end == end, "\(result.errors)")
        #expect(pids.count == 1)
        for process in pids { #expect(!isAlive(process)) }
    }

    // MARK: exec

    @Test("shows the handler's input, output and answer, the outcome and the time, and ends with 0")
    func handled() throws {
        let answer = #"{"status":"handled","result":"newData","options":["banner"],"log":[]}"#
        installation.addJob(
            "good", "cat >/dev/null; echo chatter; printf '\\ttrouble\\n' >&2; echo '\(answer)'", route: "Deadline=4s")
        let result = run("good")
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty)
        let text = result.output
        #expect(
            text.hasPrefix(
                "standard input:1: handler good (exec), onMessageReceived, route 50-good, 4 s\n  got:\n    {\"delivery\":{"
            )
        )
        #expect(text.contains("  standard output (\(answer.utf8.count + 9) bytes):\n    chatter\n    \(answer)\n"))
        #expect(text.contains("  standard error (9 bytes):\n        trouble\n"), "a tab is shown as spaces: \(text)")
        #expect(text.contains("  answer: handled, exit status 0, result newData, options banner, after "))
        #expect(text.contains("  outcome: handled after "))
        #expect(run("good", "--verbose").output.contains("    {\n      \"delivery\": {\n        \"seq\": 1,\n"))

        let (object, end) = try object("good")
        #expect(end == .exited(0))
        #expect(object["handler"]?.string == "good")
        #expect(object["deadline_ms"]?.int64 == 4000)
        #expect(object["outcome"]?.string == "handled")
        #expect(object["completion"]?["result"]?.string == "newData")
        let attempt = try #require(object["attempts"]?.elements.first)
        #expect(attempt["input"]?["payload"]?.text == #"{"job":"good"}"#)
        #expect(attempt["output"]?["text"]?.string == "chatter\n\(answer)\n")
        #expect(attempt["errors"]?["text"]?.string == "\ttrouble\n")
        #expect(attempt["exit"]?.int64 == 0)
        #expect(attempt["status"]?.string == "handled")
        #expect(attempt["options"]?.strings == ["banner"])
        #expect(attempt["ms"] != nil)
    }

    @Test("gives the program the daemon's variables, directory, limits, descriptors and input")
    func asInProduction() throws {
        let script = """
            cat >$ROOT/input
            { env | sed 's/=.*//' | sort; pwd; umask; ulimit -Sn; ls /proc/$$/fd; ps -o pgid= -p $$ | grep -c $$; } >$ROOT/seen
            """
        installation.addJob("same", script, handler: "WorkingDirectory=/usr")
        let daemon = try TestDaemon(installation)
        let payload = #"{"job":"same"}"#
        #expect(daemon.pushctl("inject", "--wait", "--platform", "android", "-", input: payload).end == .exited(0))
        let produced = (seen: readFile(installation.root + "/seen"), input: readFile(installation.root + "/input"))
        #expect(try daemon.process.stop() == .exited(0))
        // The caller's variables and directory do not reach the program.
        let result = pushctl.run(
            ["run-handler", "same", "-", "--config", installation.configuration, "--platform", "android"],
            input: Array(payload.utf8), environment: ["SECRET": "1", "HOME": "/root"])
        #expect(result.end == .exited(0))
        let tried = (seen: readFile(installation.root + "/seen"), input: readFile(installation.root + "/input"))
        #expect(
            produced.seen.map { String(decoding: $0, as: UTF8.self) }
                == tried.seen.map { String(decoding: $0, as: UTF8.self) })
        func shape(_ bytes: [UInt8]?) throws -> [String] {
            let root = try json(String(decoding: try #require(bytes), as: UTF8.self))
            return root.members.flatMap { key, value in [key] + value.members.map { "\(key).\($0.key)" } }
        }
        #expect(try shape(produced.input) == shape(tried.input))
        #expect(try shape(tried.input).contains("delivery.callback"))
    }

    @Test(
        "ends with 1 if the handler did not handle the payload, and says why",
        arguments: [
            ("exit 80", "declined, exit status 80", "unrouted", "declined"),
            ("exit 75", "retry, exit status 75", "failed", "device mode does not retry"),
            ("exit 3", "rejected (exit status 3), after ", "failed", "exit status 3"),
            ("echo no database >&2; exit 3", "rejected (exit status 3: no database), after ", "failed", "no database"),
            ("kill -SEGV $$", "none, ended by signal 11 (SIGSEGV)", "failed", "signal 11 (SIGSEGV)"),
            (
                #"echo '{"status":"declined"}'; exit 4"#, "rejected (the answer says \"declined\"", "failed",
                "the exit status is 4"
            ),
        ])
    func notHandled(script: String, answer: String, outcome: String, reason: String) throws {
        installation.addJob("bad", script)
        let result = run("bad")
        #expect(result.end == .exited(1))
        #expect(result.output.contains("  answer: \(answer)"), "\(result.output)")
        let end = try #require(result.lines.last)
        #expect(end.hasPrefix("  outcome: \(outcome) after "))
        #expect(end.contains(reason))
    }

    @Test("remarks on unknown words in an answer")
    func unknownWords() {
        installation.addJob("typo", #"echo '{"status":"handeld","result":"new","options":["banner",7]}'"#)
        let result = run("typo")
        #expect(result.end == .exited(0))
        for remark in [
            #"status: "handeld" is not one of handled, retry"#, #"result: "new" is not one of"#,
            "options: 7 is not a string",
        ] {
            #expect(result.output.contains(remark), "\(result.output)")
        }
    }

    @Test(
        "remarks on output that is not an answer, and says why it is ignored",
        arguments: [
            (#"echo '{broken'"#, "the object cannot be read: "),
            (#"echo '{"resutl":"failed"}'"#, "resutl may be meant for result"),
            ("echo hello", "no line of the output is a JSON object"),
        ])
    func noAnswer(script: String, reason: String) throws {
        installation.addJob("wrong", script)
        let result = run("wrong")
        #expect(result.end == .exited(0))
        #expect(result.output.contains("  answer: handled, exit status 0, after "))
        let remark = "its output is no answer and is ignored, so the exit status alone counts: "
        let line = try #require(result.lines.first { $0.hasPrefix("    remark: \(remark)") }, "\(result.output)")
        #expect(line.contains(reason))
        let object = try object("wrong").0
        #expect(object["attempts"]?.elements.first?["remarks"]?.strings.first?.hasPrefix(remark) == true)
    }

    @Test("repeats an attempt in relay mode on request, and shows every attempt")
    func attempts() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRetryDelay=1ms\n")
        installation.addJob("again", "echo x >>$ROOT/tries; [ $(wc -l <$ROOT/tries) = 2 ] || exit 75")
        let result = run("again")
        #expect(result.end == .exited(0))
        #expect(result.output.contains("  attempt 1 of 2\n"))
        #expect(result.output.contains("  answer: retry, exit status 75"))
        #expect(result.output.contains("  answer: handled, exit status 0"))
    }

    @Test("shows the first and the last of many attempts")
    func manyAttempts() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRetryDelay=1ms\nRetryDelayMax=1ms\n")
        installation.addJob("again", "echo x >>$ROOT/tries; [ $(wc -l <$ROOT/tries) = 30 ] || exit 75")
        let (object, end) = try object("again", "--deadline", "30s")
        #expect(end == .exited(0))
        #expect(object["attempts"]?.elements.compactMap { $0["number"]?.int64 } == [1] + Array(12...30))
        #expect(unlink(installation.root + "/tries") == 0)
        let result = run("again", "--deadline", "30s")
        #expect(result.output.contains("  attempts 2 to 11 are left out\n  attempt 12 of 30\n"))
    }

    @Test("kills at the deadline all descendants of the handler, in other sessions and groups too")
    func deadline() throws {
        let script = """
            trap '' TERM
            echo $$ >>$ROOT/pids
            (setsid sh -c 'trap "" TERM HUP; echo $$ >>$ROOT/pids; while :; do sleep 1; done' >/dev/null 2>&1 &)
            perl -e 'use POSIX; if (!fork) { setsid; if (!fork) { open F, ">>$ENV{ROOT}/pids"; print F "$$\\n"; close F; sleep 600 } exit }'
            until [ $(wc -l <$ROOT/pids) = 3 ]; do :; done
            echo before; echo trouble >&2; touch $ROOT/ready
            sleep 600
            """
        installation.addJob("hang", script, handler: "Grace=1s")
        let result = run("hang", "--deadline", "4s")
        #expect(result.end == .exited(1))
        #expect(result.output.contains("route 50-hang, 4 s\n"))
        #expect(result.output.contains("  standard output (7 bytes):\n    before\n"))
        #expect(result.output.contains("  standard error (8 bytes):\n    trouble\n"))
        #expect(result.output.contains("  SIGTERM was sent: its grace began\n"))
        #expect(result.output.contains("  answer: none in time, killed at its deadline, after "))
        #expect(try #require(result.lines.last).hasPrefix("  outcome: timed_out after "))
        #expect(pids.count == 3)
        for process in pids { #expect(!isAlive(process)) }
    }

    @Test("kills the processes that an ended handler leaves behind")
    func leftovers() {
        installation.addJob(
            "leave", "(setsid sh -c 'echo $$ >>$ROOT/pids; exec sleep 600' &); until [ -s $ROOT/pids ]; do :; done")
        #expect(run("leave").end == .exited(0))
        #expect(pids.count == 1)
        for process in pids { #expect(!isAlive(process)) }
    }

    @Test("shows the end of long output, its length, and the lost parts of an answer")
    func flood() throws {
        installation.addJob(
            "flood", #"printf '{"log":[';yes 1, | head -c 300000; yes 2 | head -c 200000 >&2; echo end >&2"#)
        let (object, _) = try object("flood")
        let attempt = try #require(object["attempts"]?.elements.first)
        #expect(attempt["output"]?["bytes"]?.int64 == 300_008)
        #expect(attempt["output"]?["cut"]?.text == "true")
        #expect(attempt["output"]?["text"]?.string?.utf8.count == 4096)
        #expect(attempt["errors"]?["bytes"]?.int64 == 200_004)
        #expect(attempt["errors"]?["text"]?.string?.hasSuffix("2\nend\n") == true)
        #expect(
            attempt["remarks"]?.strings.first?.contains("the output has 300008 bytes; the daemon reads the first 65536")
                == true)
        let text = run("flood").output
        #expect(
            text.contains("standard output (300008 bytes, of which the daemon reads 65536; the last 4096 of those)"))
        #expect(text.contains("standard error (200004 bytes; the last 4096)"))
    }

    @Test("says why a program cannot be started, and shows no input for it", arguments: ["exec", "worker"])
    func missing(type: String) {
        addLines("gone", type: type, "Exec=/nonexistent/program")
        let result = run("gone")
        #expect(result.end == .exited(1))
        #expect(result.output.contains("cannot start /nonexistent/program: no such program"), "\(result.output)")
        #expect(!result.output.contains("got:"), "\(result.output)")
    }

    @Test("ends the handler when it is interrupted itself", arguments: [("INT", SIGINT), ("TERM", SIGTERM)])
    func interrupted(name: String, signal: Int32) {
        installation.addJob(
            "stop", "echo $$ >>$ROOT/pids; (setsid sleep 600 & echo $! >>$ROOT/pids); kill -\(name) $PPID; sleep 600")
        #expect(run("stop", "--deadline", "1h").end == .signaled(signal))
        #expect(pids.count == 2)
        for process in pids { #expect(!isAlive(process)) }
    }

    @Test("shows the endpoint's text as the reason of a failure, and no lines between the daemon's programs")
    func refusedByServer() throws {
        let server = try WebServer(in: installation.root + "/web")
        addLines("crm", type: "http", "URL=\(server.url("status/422/no-such-order"))")
        let result = run("crm")
        #expect(result.end == .exited(1))
        #expect(!result.output.contains("standard output"), "\(result.output)")
        #expect(result.output.contains("HTTP status 422: no-such-order"), "\(result.output)")
    }

    // MARK: worker, socket, built in

    @Test("keeps a worker from one payload to the next, and ends it after the last")
    func worker() throws {
        addWorker(
            "stay",
            "echo begun >&2; setsid sleep 600 & echo $! >>\(installation.root)/pids; while next; do answer; done")
        let payloads = #"{"job":"stay","n":"1"}"# + "\n" + #"{"job":"stay","n":"2"}"# + "\n"
        let result = run("stay", payload: payloads)
        #expect(result.end == .exited(0))
        #expect(
            result.output.contains("standard input:1: handler stay (worker), onMessageReceived, route 50-stay, 9 s\n"))
        #expect(result.output.contains("    {\"id\":2,\"delivery\":{\"seq\":2,"))
        #expect(result.output.contains("  standard output (28 bytes):\n    {\"id\":1,\"status\":\"handled\"}\n"))
        #expect(result.output.contains("  standard error (6 bytes):\n    begun\n"))
        #expect(pids.count == 2)
        for process in pids { #expect(!isAlive(process)) }
    }

    @Test(
        "names the fault in a worker's answer",
        arguments: [
            (
                #"next; echo "{\"id\":$id,\"status\":\"done\"}"; next"#, "failed",
                #"the answer has a fault: status: "done""#
            ),
            (
                #"next; echo "{\"id\":$id}"; next"#, "failed",
                "the answer has a fault: no status, one of handled, retry, declined, rejected"
            ),
            ("next; answer declined; next", "unrouted", "answer: declined"),
            ("next; answer rejected; next", "failed", "answer: rejected"),
            (
                "next; echo nonsense; answer; next", "handled",
                "wrote a line that is not a JSON object; such lines are ignored"
            ),
            ("next; exit 3", "failed", "ended with exit status 3"),
            (
                "next; (setsid sleep 600 & echo $! >>$0.pid); sleep 600", "timed_out",
                "none in time, killed at its deadline"
            ),
        ])
    func workerAnswers(script: String, outcome: String, text: String) throws {
        addWorker("odd", script)
        // Cases with another end get a long deadline, for busy machines.
        let result = run("odd", "--deadline", outcome == "timed_out" ? "3s" : "1min")
        #expect(result.end == .exited(outcome == "handled" ? 0 : 1))
        #expect(try #require(result.lines.last { $0.hasPrefix("  outcome: ") }).hasPrefix("  outcome: \(outcome)"))
        #expect(result.output.contains(text), "\(result.output)")
        for process in pids { #expect(!isAlive(process)) }
        let escaped = String(decoding: readFile(installation.root + "/odd.sh.pid") ?? [], as: UTF8.self)
        if let process = Int32(escaped.split(separator: "\n").first ?? "") { #expect(!isAlive(process)) }
    }

    @Test("asks the service behind a socket, and says if there is none")
    func socket() throws {
        let path = installation.root + "/service.sock"
        addLines("service", type: "socket", "Connect=\(path)")
        let none = run("service", "--deadline", "50ms")
        #expect(none.end == .exited(1))
        #expect(none.output.contains("there is no socket at \(path)"), "\(none.output)")
        let tried = run("service", "--deadline", "3s")
        let end = try #require(tried.lines.last)
        #expect(end.contains("there is no socket at \(path), 5 times in a row"), "\(end)")
        #expect(!end.contains("failed after 0 ms"), "it took the pauses between: \(end)")

        let service = Program(path: "/bin/sh").run([
            "-c",
            """
            perl -e '
            use IO::Socket::UNIX;
            my $s = IO::Socket::UNIX->new(Local => "\(path)", Listen => 9) or die;
            if (!fork) { my $c = $s->accept; while (<$c>) { /"id":(\\d+)/; print $c "{\\"id\\":$1,\\"status\\":\\"handled\\"}\\n"; $c->flush } }
            ' >/dev/null 2>&1
            """,
        ])
        #expect(service.end == .exited(0))
        let result = run("service")
        #expect(result.end == .exited(0))
        #expect(result.output.contains("  standard output (28 bytes):\n    {\"id\":1,\"status\":\"handled\"}\n"))
        #expect(!result.output.contains("standard error"))
    }

    @Test("says that a built-in handler runs no program")
    func builtIn() {
        let result = run("journal")
        #expect(result.end == .exited(0))
        #expect(result.output.contains("  journal is built in: the daemon does the work itself, and no program runs\n"))
        #expect(result.output.hasSuffix("  outcome: handled\n"))
    }

    // MARK: What the daemon would do otherwise, and usage

    @Test("runs a handler that the daemon would not choose for the payload, and says so")
    func remarks() {
        installation.addJob("first", "")
        installation.addJob("second", #"[ "$PUSH_CALLBACK" = onDeletedMessages ] || exit 80"#)
        let other = run("second", payload: #"{"job":"first"}"#)
        #expect(other.output.contains("  remark: the daemon would give this payload to the handler first first; "))
        let braze = run("second", payload: #"{"_ab":"true","t":"Title","a":"Text"}"#)
        #expect(
            braze.output.contains(
                "  remark: the daemon would give this payload to the tracker, because the payload is Braze's; "))
        let shown = run("second", payload: #"{"notification":{"title":"x"},"data":{"job":"second"}}"#)
        #expect(
            shown.output.contains("  remark: the platform would run no callback (shown_by_system); "), "\(shown.output)"
        )
        let callback = run("second", "--callback", "onDeletedMessages")
        #expect(callback.end == .exited(0))
        #expect(callback.output.contains("  remark: the platform would run onMessageReceived; "), "\(callback.output)")
        #expect(!run("second").output.contains("remark"))
    }

    @Test("continues after a faulty payload, and ends with 65")
    func wrongPayload() {
        installation.addJob("good", "")
        let result = run("good", payload: #"{"job":"good"}"# + "\n{\"job\":\n" + #"{"job":"good"}"# + "\n")
        #expect(result.end == .exited(65))
        #expect(result.output.components("outcome: handled") == 2)
        #expect(result.errors.hasPrefix("pushctl: standard input:2:8: not JSON: "))
    }

    @Test("names the directory that lacks the handler")
    func emptyDirectory() {
        let directory = TemporaryDirectory()
        let result = pushctl.run(["run-handler", "x", "--config", directory.path, "-"])
        #expect(result.end == .exited(2))
        let message = "there is no handler x; there are none in \(directory.path)\n"
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test(
        "refuses a wrong command line with 2",
        arguments: [
            (
                ["run-handler", "journall", "-"],
                "there is no handler journall; did you mean journal?; the handlers are journal in /"
            ),
            (["run-handler", "journal"], "FILE...|- is missing, or --seq N"),
            (["run-handler"], "NAME|PROGRAM FILE...|- is missing"),
            (["run-handler", "journal", "--seq", "first"], "--seq first: the number of a request, such as 41"),
            (["run-handler", "journal", "-", "--seq", "1"], "--seq and - exclude each other"),
            (
                ["run-handler", "journal", "--seq", "1", "--app", "a"],
                "--seq and --app exclude each other: the ledger has this fact of the request"
            ),
            (["run-handler", "journal", "-", "--deadline", "soon"], "--deadline soon: a time from 1ms to 1h"),
            (["run-handler", "journal", "-", "--deadline", "2h"], "--deadline 2h: a time from 1ms to 1h"),
            (["run-handler", "journal", "-", "--callback", "none"], "--callback none: one of onMessageReceived, "),
        ]
            + ["didReceiveResponse", "notificationclick", "notificationclose", "onNewToken", "didRegister"].map {
                (
                    ["run-handler", "journal", "-", "--callback", $0],
                    "; for the callback of a tap or a token write a scenario, and run it with pushctl test "
                        + "--real-handlers"
                )
            })
    func usage(words: [String], message: String) {
        let result = pushctl.run(words + ["--config", installation.configuration], input: Array("{}".utf8))
        #expect(result.end == .exited(2))
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.output.isEmpty)
    }
}

extension String {
    /// Returns the number of occurrences of a text.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
