import Glibc
import TestSupport
import Testing

@testable import PushModel

/// Names that try to cut, forge or colour the output around them.
private let hostile =
    "a\n\nFORGED 0: onMessageReceived, handled\n\r\nFORGED "
    + "\u{1B}[31m\u{9B}31m\u{7F}\u{202E}\u{2066}\u{200F}\u{61C}\u{85}<b>|`=1"

@Suite("Names that hold controls, line feeds and marks of direction", .timeLimit(.minutes(30)))
struct HostileNameTests {
    /// Returns the faults of an output: control scalars, and lines that a name began.
    private func faults(_ text: String) -> [String] {
        let marks: Set<Unicode.Scalar> = ["\u{202E}", "\u{2066}", "\u{200F}", "\u{61C}"]
        let steering = text.unicodeScalars.filter {
            ($0.properties.generalCategory == .control || marks.contains($0)) && $0 != "\n" && $0 != "\r"
        }
        let forged = text.split(whereSeparator: \.isNewline).filter { $0.drop { $0 == " " }.hasPrefix("FORGED") }
        return Set(steering.map { "U+" + String($0.value, radix: 16) }).sorted() + forged.map { "line: \($0)" }
    }

    @Test("cannot cut, forge or colour any output")
    func everyOutput() throws {
        let installation = Installation("[Dispatch]\nMode=relay\n")
        installation.addJob("bad", #"printf 'oops \033[31m\302\233\r\n \342\200\256\n' >&2; exit 9"#)
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        // Escaped as little as JSON allows.
        let name = hostile.unicodeScalars.reduce(into: "") { text, scalar in
            let digits = String(scalar.value, radix: 16)
            text += scalar.value < 0x20 ? "\\u00" + (digits.count == 1 ? "0" : "") + digits : String(scalar)
        }
        let common = ["id", "app", "device", "external_id"].map { #""\#($0)":"\#(name)""# }.joined(separator: ",")
        let data = #"{"job":"bad","google.message_id":"\#(name)"}"#
        let reply = try client.ask(
            #"{"op":"deliver","platform":"android","payload":{"data":\#(data)},\#(common),"wait":"outcome"}"#)
        #expect(faults(reply.description) == [] && reply.isAccepted)
        #expect(faults(try client.next().description) == [])
        let others = common.replacing(#""id":"a"#, with: #""id":"b"#)
        _ = try client.ask(#"{"op":"session","platform":"android","kind":"start",\#(others)}"#)
        let third = common.replacing(#""id":"a"#, with: #""id":"c"#)
        _ = try client.ask(
            #"{"op":"log","platform":"android","kind":"custom_event","name":"x","properties":{},\#(third)}"#)

        let commands = [
            ["show", "1"], ["show", "1", "--json"], ["status"], ["status", "--all"], ["status", "--json"], ["report"],
            ["report", "--json"],
            ["report", "--format", "csv"], ["report", "--format", "html"], ["report", "--format", "markdown"],
            ["report", "--format", "junit"], ["report", "--by", "app"], ["deadletters"], ["deadletters", "--json"],
            ["user", hostile], ["user", hostile, "--json"], ["users"], ["users", "--json"], ["events"],
            ["events", "--json"], ["export"], ["pending"], ["pending", "--json"], ["campaigns"],
            ["campaigns", "--json"],
            ["campaigns", "--format", "html"], ["doctor"], ["doctor", "--json"],
            ["erase", "--user", hostile], ["top", "--once"], ["show", "2"], ["show", "3", "--json"],
        ]
        for command in commands {
            let result = EndToEndTests.pushctl.run(daemon.options + command)
            #expect(faults(result.output) == [], "\(command): output")
            #expect(faults(result.errors.replacing("pushctl: ", with: "")) == [], "\(command): errors")
        }
        let raw = EndToEndTests.pushctl.run(daemon.options + ["show", "1", "--json"])
        #expect(try json(raw.output)["app"]?.string == hostile, "escapes mean the same")
        _ = try daemon.process.stop()
        #expect(faults(daemon.process.standardError) == [], "journal")
    }
}
