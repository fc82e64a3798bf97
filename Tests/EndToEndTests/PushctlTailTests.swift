import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl tail", .timeLimit(.minutes(30)))
struct PushctlTailTests {
    private let daemon: TestDaemon

    /// One delivery is handled, one fails, and one is Braze's, which also makes an event.
    init() throws {
        let installation = Installation()
        installation.addJob("fails", "exit 1")
        installation.addJob("waits", "read -r line <$ROOT/gate; exit 0")
        daemon = try TestDaemon(installation)
        let lines = [#"{"a":"1"}"#, #"{"job":"fails"}"#, #"{"_ab":"true","cid":"64b0"}"#]
        let result = daemon.pushctl("inject", "-", "--wait", "--app", "shop", input: lines.joined(separator: "\n"))
        try #require(result.lines.count == 6, "\(result.output)\(result.errors)")
    }

    /// Follows until the number of lines has come, then runs the script; `$out` is the file with the output.
    private func tail(_ arguments: String, until count: Int, then script: String = "") -> Program.Result {
        let root = daemon.installation.root
        let text = """
            out=\(root)/out
            : >$out
            "$@" tail \(arguments) >>$out & follower=$!
            # It waits for the first time when it has printed what is there: a signal before that would end it too soon.
            for look in $(seq 500); do
                grep -q sigtimedwait /proc/$follower/wchan && break
                sleep 0.02
            done
            lines() { while [ $(wc -l <$out) -lt $1 ] && kill -0 $follower; do sleep 0.02; done; }
            lines \(count)
            \(script)
            kill -TERM $follower; wait $follower || echo "status $?"
            cat $out
            """
        return Program(path: "/bin/sh").run(["-c", text, "sh", pushctl.path] + daemon.options)
    }

    @Test("prints outcomes and events since a time, for people and for programs")
    func since() throws {
        let people = tail("--since -1h --utc", until: 4)
        #expect(people.lines.count == 4, "\(people.output)\(people.errors)")
        #expect(people.lines.contains { $0.contains(" +00:00  seq 1  onMessageReceived  handled  handler journal  ") })
        #expect(people.lines.contains { $0.contains("  seq 2  onMessageReceived  failed  handler fails  ") })
        #expect(people.lines.last?.contains("  seq 3  local.pushnotification.Received  shop  campaign 64b0") == true)
        let programs = try tail("--since -1h --json", until: 4).lines.map { try json($0) }
        #expect(programs.map { $0["type"]?.string } == ["invocation", "invocation", "invocation", "analytics"])
        #expect(Set(programs.compactMap { $0["outcome"]?.string }) == ["handled", "failed", "handed_to_tracker"])
        #expect(programs.last?["cursor"]?.int64 == 1)
        daemon.installation.write("campaigns.csv", "cid,name\n64b0,Fall sale\n")
        #expect(tail("--since -1h", until: 4).lines.last?.hasSuffix("  shop  campaign Fall sale (64b0)") == true)
        #expect(try json(tail("--since -1h --json", until: 4).lines[3])["campaign_name"]?.string == "Fall sale")
        let event = try #require(programs.last)
        #expect(event["at"]?.int64 == event["time"]?.int64.map { $0 * 1000 }, "milliseconds, as of the outcomes")
    }

    @Test(
        "prints the lines that pass every filter, and no events if a filter is about outcomes",
        arguments: [
            ("--handler fails", ["2"]), ("--route 99-default", ["1"]), ("--provider braze", ["3"]),
            ("--outcome failed", ["2"]), ("--outcome failed,handled", ["1", "2"]),
            ("--outcome failed --handler journal", []),
            ("--callback onMessageReceived --platform android", ["1", "2", "3"]), ("--platform ios", []),
            ("--app other", []), ("--app shop", ["1", "2", "3", "analytics"]),
        ] as [(String, [String])])
    func filters(_ arguments: String, _ expected: [String]) throws {
        let result = tail("--since -1h --json \(arguments)", until: expected.count)
        let found = try result.lines.map { line in
            let root = try json(line)
            return root["seq"]?.int64.map(String.init) ?? root["type"]?.string ?? ""
        }
        #expect(found.sorted() == expected.sorted(), "\(result.output)\(result.errors)")
    }

    @Test("begins with new outcomes, also of requests accepted before")
    func fromNow() throws {
        let root = daemon.installation.root
        let result = Program(path: "/bin/sh").run(
            [
                "-c",
                """
                mkfifo \(root)/gate
                echo '{"job":"waits"}' | "$@" inject - >/dev/null
                out=\(root)/out
                "$@" tail --json >$out & follower=$!
                # The tail omits requests from before it reads the ledger: inject until it prints one.
                while [ ! -s $out ] && kill -0 $follower; do echo '{"a":"1"}' | "$@" inject - >/dev/null; sleep 0.1; done
                echo >\(root)/gate
                while ! grep -q waits $out && kill -0 $follower; do sleep 0.02; done
                kill -TERM $follower; wait $follower || echo "status $?"
                cat $out
                """, "sh", pushctl.path,
            ] + daemon.options)
        let rows = try result.lines.map { try json($0) }
        #expect(rows.contains { $0["seq"]?.int64 == 4 && $0["outcome"]?.string == "handled" }, "\(result.output)")
        #expect(!rows.contains { ($0["seq"]?.int64 ?? 0) < 4 })
    }

    @Test("continues when the daemon is killed and restarted, without omissions")
    func restart() throws {
        let root = daemon.installation.root
        let script = """
            cd \(root)
            (sh -c 'echo $$ >follower; exec "$@" >out 2>errors </dev/null' sh "$@"; echo $? >status) >/dev/null 2>&1 &
            """
        let arguments = ["tail", "--json", "--since", "-1h", "--callback", "onMessageReceived"]
        _ = Program(path: "/bin/sh").run(["-c", script, "sh", pushctl.path] + daemon.options + arguments)
        func text(_ name: String) -> String { String(decoding: readFile("\(root)/\(name)") ?? [], as: UTF8.self) }
        func lines() -> [Substring] { text("out").split(separator: "\n") }
        try waitUntil("what was before is printed") { lines().count == 3 }
        let more = String(repeating: #"{"a":"1"}"# + "\n", count: 10)
        #expect(daemon.pushctl("inject", "-", input: more).end == .exited(0))
        daemon.process.crash()
        let second = try DaemonProcess.ready(daemon.installation)
        #expect(daemon.pushctl("inject", "-", input: more).end == .exited(0))
        try waitUntil("all is printed") { lines().count == 23 }
        #expect(try second.stop() == .exited(0))
        let third = try DaemonProcess.ready(daemon.installation)
        #expect(daemon.pushctl("inject", "-", input: more).end == .exited(0))
        try waitUntil("what came after a stop is printed") { lines().count == 33 }
        let numbers = try lines().compactMap { try json($0)["seq"]?.int64 }
        #expect(Set(numbers) == Set(1...33))
        let follower = try #require(pid_t(text("follower").dropLast()))
        kill(follower, SIGTERM)
        try waitUntil("it ends") { text("status").hasSuffix("\n") }
        #expect(text("status") == "0\n" && text("errors") == "")
        #expect(try third.stop() == .exited(0))
    }

    @Test("ends with 0 when its reader has closed the pipe")
    func closedPipe() {
        let script = #"{ "$@" tail --since -1h; echo $? >&2; } | head -n 2 | wc -l"#
        let result = Program(path: "/bin/sh").run(["-c", script, "sh", pushctl.path] + daemon.options)
        #expect(result.output == "2\n" && result.errors == "0\n", "\(result.output)\(result.errors)")
    }

    @Test("reports a missing ledger, a faulty time and an unknown outcome")
    func mistakes() {
        let directory = TemporaryDirectory()
        let none = pushctl.run(["tail", "--state", directory.path, "--config", shippedConfiguration])
        #expect(none.end == .exited(66))
        #expect(none.errors.contains("there is no ledger"))
        #expect(daemon.pushctl("tail", "--since", "soon").end == .exited(2))
        #expect(daemon.pushctl("tail", "--outcome", "lost").errors.contains("--outcome lost: one of "))
    }
}
