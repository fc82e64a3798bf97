import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import pushctl

@Suite("Messages of pushctl about a silent daemon")
struct ExchangeTests {
    private static let accepted = #"{"ok":true,"seq":1,"outcomes":1}"#
    private static let outcome = #"{"seq":1,"n":0,"callback":"push","outcome":"handled","total_ms":16000}"#

    /// The messages of pushctl about a request to a daemon that writes `first` at once and one line of `later` after
    /// each message.
    private func told(atOnce first: [String], later: [String]) throws -> [String] {
        let directory = TemporaryDirectory()
        let listener = try Listener(path: directory.path + "/inject.sock", mode: 0o600)
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        var daemon: Connection?
        func say(_ lines: [String]) {
            daemon?.queue(Array(lines.map { $0 + "\n" }.joined().utf8))
            #expect(daemon?.flush() == .done)
        }
        var (told, later) = ([String](), later[...])
        let output = Output(to: sink) {
            told.append(String(decoding: $0, as: UTF8.self))
            if let line = later.popFirst() { say([line]) }
        }
        let arguments = Arguments(command: .inject, operands: [], values: [.wait: []])
        // The patience is as short as a check allows.
        var exchange = try Exchange(
            path: directory.path + "/inject.sock", arguments, output: output,
            patience: Exchange.Patience(reply: 1, outcome: 1))
        if case .connection(let connection) = listener.accept() { daemon = connection }
        say(first)
        try exchange.send(Array(#"{"op":"deliver"}"#.utf8), from: "standard input:1")
        try exchange.finish()
        return told
    }

    @Test("a missing outcome is reported once, with the command that shows the reason")
    func outcome() throws {
        #expect(
            try told(atOnce: [Self.accepted], later: [Self.outcome]) == [
                "pushctl: no outcome for 0 s; 1 request still has outcomes to come, and pushctl waits on; \"pushctl "
                    + "status\" shows the reason\n"
            ])
    }

    @Test("a missing reply is reported separately, and nothing is if all comes in time")
    func reply() throws {
        let told = try told(atOnce: [], later: [Self.accepted, Self.outcome])
        #expect(told.count == 2)
        #expect(told.first?.hasPrefix("pushctl: no reply for 0 s: ") == true)
        #expect(told.last?.hasPrefix("pushctl: no outcome for 0 s; ") == true)
        #expect(try self.told(atOnce: [Self.accepted, Self.outcome], later: []) == [])
    }

    @Test("a reply is awaited for 10 s, an outcome for longer than any deadline")
    func patience() {
        let patience = Exchange.Patience()
        #expect(patience.reply == 10_000 && patience.outcome == 15_000)
    }
}
