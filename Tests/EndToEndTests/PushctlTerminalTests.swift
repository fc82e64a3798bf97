import Glibc
import TestSupport
import Testing

@testable import PushModel

/// script(1), which runs a program in a pseudo-terminal.
private let script = "/usr/bin/script"

@Suite("pushctl at a terminal", .needs(program: script, of: "bsdutils"), .timeLimit(.minutes(30)))
struct PushctlTerminalTests {
    @Test("--json is indented at a terminal and one line in a pipe; both are the same document")
    func indented() throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/payload.json"
        writeFile(#"{"k":"\ud83d\ude00","n":"1"}"#, to: file)
        let arguments = ["explain", "--config", shippedConfiguration, "--platform", "android", "--json", file]
        let piped = pushctl.run(arguments)
        #expect(piped.end == .exited(0))
        #expect(piped.lines.count == 1)
        let command = ([pushctl.path] + arguments).joined(separator: " ")
        let terminal = Program(path: script).run(["-qec", command, "/dev/null"])
        #expect(terminal.end == .exited(0))
        // A terminal adds a carriage return to each line feed.
        let text = terminal.output.replacing("\r\n", with: "\n")
        #expect(text.hasPrefix("{\n  \"platform\": \"android\",\n"), "\(text)")
        #expect(try json(text).isEquivalent(to: json(piped.output)))
    }

    /// Returns the output of a command at a terminal with colours.
    private func shown(_ arguments: [String], environment: [String: String] = [:]) -> String {
        let command = ([pushctl.path] + arguments).joined(separator: " ")
        let colours = ["TERM": "xterm"].merging(environment) { $1 }
        let result = Program(path: script).run(["-qec", command, "/dev/null"], environment: colours)
        return result.output.replacing("\r\n", with: "\n")
    }

    @Test("test uses colours at a terminal, but not in a pipe, with NO_COLOR, or at a terminal without colours")
    func colours() throws {
        let directory = TemporaryDirectory()
        let (good, bad) = (directory.path + "/a.jsonl", directory.path + "/b.jsonl")
        let delivery = #"{"op":"deliver","id":"a","at":0,"payload":{"k":"v"}}"# + "\n"
        writeFile(delivery + #"{"expect":{"id":"a","outcome":"handled"}}"#, to: good)
        writeFile(delivery + #"{"expect":{"id":"a","outcome":"failed"}}"#, to: bad)
        let arguments = ["test", "--config", shippedConfiguration, good, bad]
        let text = shown(arguments)
        #expect(text.contains("\u{1b}[32mok     \(good) (1 expectation)\u{1b}[0m\n"), "\(text)")
        #expect(text.contains("\u{1b}[31mFAIL   \(bad) (0 of 1 expectation hold)\u{1b}[0m\n"), "\(text)")
        #expect(text.contains("\n    found: no invocation matches"), "what was found is plain")
        #expect(!pushctl.run(arguments, environment: ["TERM": "xterm"]).output.contains("\u{1b}"))
        #expect(!shown(arguments, environment: ["NO_COLOR": "1"]).contains("\u{1b}"))
        #expect(!shown(arguments, environment: ["TERM": "dumb"]).contains("\u{1b}"))
    }

    @Test("explain shows warnings, and an outcome that loses the push, in the warning colour")
    func explained() {
        let directory = TemporaryDirectory()
        let file = directory.path + "/payload.json"
        writeFile(#"{"notification":{"title":"T"},"data":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#, to: file)
        let arguments = ["explain", "--config", shippedConfiguration, "--platform", "android", file]
        let text = shown(arguments)
        #expect(text.hasPrefix("\u{1b}[1m\(file): a Braze push, "), "\(text)")
        let lost = "  No callback of the app runs; the outcome is shown_by_system"
        #expect(text.contains("\u{1b}[33m\(lost)\u{1b}[0m\n"), "\(text)")
        #expect(text.contains("\u{1b}[33mWarnings\u{1b}[0m\n\u{1b}[33m  - "), "\(text)")
        #expect(!pushctl.run(arguments, environment: ["TERM": "xterm"]).output.contains("\u{1b}"))
    }

    @Test("show and tail use the colour of the outcome, status that of the deadline")
    func outcomes() throws {
        let installation = Installation()
        installation.addJob("fails", "exit 1")
        let daemon = try TestDaemon(installation)
        let lines = [#"{"a":"1"}"#, #"{"job":"fails"}"#]
        #expect(daemon.pushctl("inject", "-", "--wait", input: lines.joined(separator: "\n")).lines.count == 4)
        #expect(
            shown(daemon.options + ["show", "1"]).contains(
                "\u{1b}[32mInvocation 0: onMessageReceived, handled\u{1b}[0m\n"))
        let failed = shown(daemon.options + ["show", "2"])
        #expect(failed.contains("\u{1b}[31mInvocation 0: onMessageReceived, failed\u{1b}[0m\n"), "\(failed)")
        #expect(failed.contains("\u{1b}[1mAs received\u{1b}[0m\n"))
        #expect(!daemon.pushctl("show", "2").output.contains("\u{1b}"))
        let tail = ([pushctl.path] + daemon.options + ["tail", "--since", "-1h"]).joined(separator: " ")
        // Waits until the terminal has shown it, at most a minute.
        let screen = installation.root + "/screen"
        let look = "for look in $(seq 3000); do grep -q '  failed  ' \(screen) && break; sleep 0.02; done"
        let command = "\(tail) & follower=$!; \(look); kill -TERM $follower; wait $follower"
        let followed = Program(path: script).run(["-qefc", command, screen], environment: ["TERM": "xterm"]).output
        #expect(followed.contains("  failed  ") && followed.split(separator: "\u{1b}[31m").count == 2, "\(followed)")
        let status = shown(daemon.options + ["status"])
        #expect(status.contains("\u{1b}[32mProblems       none\u{1b}[0m\n"), "\(status)")
    }
}
