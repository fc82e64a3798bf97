import Glibc
import PushModel
import TestSupport
import Testing

/// Where a terminal can be had: script(1) gives one to the program that it runs.
private let script = "/usr/bin/script"

@Suite("pushctl at a terminal", .enabled(if: access(script, X_OK) == 0), .timeLimit(.minutes(30)))
struct PushctlTerminalTests {
    @Test("--json is indented at a terminal, and one line for a program; both are the same document")
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
        // A terminal ends lines with a carriage return, too.
        let text = terminal.output.replacing("\r\n", with: "\n")
        #expect(text.hasPrefix("{\n  \"platform\": \"android\",\n"), "\(text)")
        #expect(try json(text).isEquivalent(to: json(piped.output)))
    }
}
