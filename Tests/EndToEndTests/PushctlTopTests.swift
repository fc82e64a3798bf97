import Glibc
import TestSupport
import Testing

@testable import PushModel

/// script(1), which runs a program in a pseudo-terminal.
private let script = "/usr/bin/script"

@Suite("pushctl top", .needs(program: script, of: "bsdutils"), .timeLimit(.minutes(30)))
struct PushctlTopTests {
    private let daemon: TestDaemon

    init() throws {
        let installation = Installation()
        installation.addJob("fails", "exit 1")
        installation.addJob("hangs", "exec sleep 60", route: "Deadline=1500ms")
        daemon = try TestDaemon(installation)
        let lines = [#"{"a":"1"}"#, #"{"job":"fails"}"#, #"{"job":"hangs"}"#]
        let result = daemon.pushctl("inject", "-", "--wait", input: lines.joined(separator: "\n"))
        try #require(result.lines.count == 6, "\(result.output)\(result.errors)")
    }

    private func text(_ name: String) -> String {
        String(decoding: readFile("\(daemon.installation.root)/\(name)") ?? [], as: UTF8.self)
    }

    /// Runs `top` at a terminal of 72 columns and 16 lines, under a shell with job control.
    ///
    /// - Parameters:
    ///   - person: the input as shell commands: `seen TEXT` waits until the screen showed the text.
    ///   - after: the commands of the shell at the terminal after `top` ended or was stopped.
    private func atTerminal(_ person: String, after: String = "") -> Program.Result {
        let root = daemon.installation.root
        let command = ([pushctl.path] + daemon.options + ["top", "--utc"]).joined(separator: " ")
        writeFile(
            """
            set -m
            stty cols 72 rows 16
            stty -g >before
            sh -c 'echo $$ >pid; exec \(command)'
            echo $? >status
            stty -g >after
            \(after)
            """, to: root + "/terminal")
        let driver = """
            cd \(root)
            seen() { until grep -q "$1" out 2>/dev/null; do sleep 0.02; kill -0 $$ || exit; done; }
            { seen 'Handlers by misses'; \(person); } | \(script) -qefc 'sh terminal' out >/dev/null
            """
        return Program(path: "/bin/sh").run(["-c", driver], environment: ["TERM": "xterm", "SHELL": "/bin/sh"])
    }

    /// Expects that `top` used the alternate screen and restored the terminal.
    private func expectRestored(_ result: Program.Result) {
        let shown = text("out")
        #expect(!text("before").isEmpty && text("after") == text("before"), "\(result.errors)")
        #expect(shown.contains("\u{1b}[?1049h") && shown.contains("\u{1b}[?25l"))
        let end = shown.firstRange(of: "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        #expect(end.map { !shown[$0.upperBound...].contains("\u{1b}[?1049h") } == true)
    }

    @Test("sorts, freezes and quits by keys; no line is wider than the terminal")
    func keys() {
        let result = atTerminal("printf p; seen 'Handlers by p99'; printf ' '; seen ', frozen'; printf q")
        expectRestored(result)
        #expect(text("status") == "0\n")
        let shown = text("out")
        #expect(shown.contains("hangs") && shown.contains("Last misses") && shown.contains("seq 3  timed_out  hangs"))
        let clear = "\u{1b}[K"
        // The terminal adds carriage returns.
        let plain = String(String.UnicodeScalarView(shown.unicodeScalars.filter { $0 != "\r" }))
        let lines = plain.split(separator: "\n").filter { $0.hasPrefix(clear) }.map { $0.dropFirst(clear.count) }
        let colourless = lines.map { line in
            ["31", "32", "33", "2", "1", "0"].reduce(String(line)) { $0.replacing("\u{1b}[\($1)m", with: "") }
        }
        #expect(!lines.isEmpty && colourless.allSatisfy { $0.contains("\u{1b}") || $0.count <= 72 })
        #expect(shown.contains("\u{1b}[31mhangs"), "a handler that missed deadlines is red")
    }

    @Test(
        "restores the terminal on every signal that ends it",
        arguments: ["kill -INT $(cat pid)", "kill -TERM $(cat pid)", "kill -HUP $(cat pid)", #"printf '\003'"#])
    func signals(_ end: String) {
        expectRestored(atTerminal(end))
        #expect(text("status") == "0\n")
    }

    @Test("restores the terminal while it is stopped, and continues afterwards")
    func stop() {
        let after = "cp status stopped; echo resting; fg >/dev/null; echo $? >status; stty -g >end"
        let result = atTerminal(
            #"printf '\032'; seen resting; printf p; seen 'Handlers by p99'; printf q"#, after: after)
        #expect(text("stopped") != "0\n" && text("status") == "0\n", "\(result.errors)")
        #expect(text("after") == text("before") && text("end") == text("before"))
    }

    @Test("redraws when the terminal changes its size")
    func resize() {
        let resized = "stty cols 40 rows 10 <$(readlink /proc/$(cat pid)/fd/0)"
        expectRestored(atTerminal("\(resized); seen 'q quit  space freeze  n name  r running…'; printf q"))
    }

    @Test("prints one screen with --once and without a terminal, with and without the daemon")
    func once() throws {
        for arguments in [["top"], ["top", "--once"]] {
            let result = pushctl.run(daemon.options + arguments)
            #expect(result.end == .exited(0) && result.errors.isEmpty)
            #expect(result.output.hasPrefix("pushrouterd "))
            #expect(
                result.output.contains("\nDeadline  66.6 % of 1.5 s to 9 s  due 3, missed 1, failed 1\n"),
                "\(result.output)")
            #expect(!result.output.contains("\u{1b}") && !result.output.contains("q quit"))
        }
        #expect(try daemon.process.stop() == .exited(0))
        let result = daemon.pushctl("top", "--once")
        #expect(result.end == .exited(0))
        #expect(result.output.hasPrefix("no answer from pushrouterd: pushrouterd is not running: "))
        #expect(result.output.contains("seq 3  timed_out  hangs"))
    }
}
