import Testing

@testable import LinuxSystem

@Suite("Logfmt", .timeLimit(.minutes(30)))
struct LogfmtTests {
    private func line(_ entry: JournalEntry) -> String {
        var line: [UInt8] = []
        Logfmt.append(entry, time: "2026-01-02T03:04:05.678Z", to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    @Test("writes one line: time, level, message, then the fields in lower case")
    func writesOneLine() {
        let entry = JournalEntry(
            .warning, "deadline missed", messageID: .miss,
            fields: [.init(.seq, 41), .init(.handler, "crm"), .init(.totalMicroseconds, UInt64.max)])
        #expect(
            line(entry)
                == "time=2026-01-02T03:04:05.678Z level=warning message=\"deadline missed\" push_seq=41 "
                + "push_handler=crm push_total_usec=9223372036854775807 message_id=\(MessageID.miss.rawValue)\n")
    }

    @Test(
        "quotes and escapes a value that is not one word, so that an entry stays one line",
        arguments: [
            ("word", "word"), ("", #""""#), ("two words", #""two words""#), ("a=b", #""a=b""#),
            (#"say "hi""#, #""say \"hi\"""#), (#"C:\x"#, #""C:\\x""#), ("a\r\nb\tc", #""a\r\nb\tc""#),
            ("\u{1B}[31m", #""\u001b[31m""#), ("\u{9B}", #""\u009b""#), ("\u{2028}", #""\u2028""#),
            ("\u{0}", #""\u0000""#), ("grün", "grün"),
        ])
    func quotes(text: String, quoted: String) {
        #expect(line(JournalEntry(.info, text)) == "time=2026-01-02T03:04:05.678Z level=info message=\(quoted)\n")
    }

    @Test("writes the time as RFC 3339 with milliseconds, in UTC")
    func timeIsReadable() throws {
        #expect(try #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#.wholeMatch(in: currentTime()) != nil)
    }
}
