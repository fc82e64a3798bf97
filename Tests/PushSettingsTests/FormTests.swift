import TestSupport
import Testing

@testable import PushModel

@Suite("Values")
struct FormTests {
    @Test(
        "reads time spans as systemd-analyze timespan does",
        arguments: [
            ("9s", 9_000_000), ("1min 30s", 90_000_000), ("5m", 300_000_000), ("1.5s", 1_500_000),
            ("1y", 31_557_600_000_000), ("1M", 2_629_800_000_000), ("1month", 2_629_800_000_000),
            ("2 h", 7_200_000_000), ("1h30min", 5_400_000_000), ("1s2ms", 1_002_000), ("250ms", 250_000),
            (".5s", 500_000), ("1s 5", 6_000_000), ("1 s 2", 3_000_000), ("0.0000001s", 0), (" 1s ", 1_000_000),
            ("1.5", 1_500_000), ("1us", 1), ("1µs", 1), ("30d", 2_592_000_000_000), ("1w", 604_800_000_000),
            ("0", 0), ("300ms20s 5day", 432_020_300_000), ("1.5min", 90_000_000), ("2hours", 7_200_000_000),
        ])
    func timeSpans(_ text: String, microseconds: Int64) throws {
        #expect(try parseTimeSpan(text) == .microseconds(microseconds))
    }

    @Test(
        "malformed time spans are refused",
        arguments: [
            "", " ", "1..5s", "-1s", "1.s", "s", "5S", "1ns", "1e3s", "+1s", "1s-1s", "9 s.", "nine", "1s,2s", "٣s",
        ])
    func malformedTimeSpans(_ text: String) {
        #expect(throws: ValueError("must be a time span, such as 250ms, 9s or 1min 30s")) {
            try parseTimeSpan(text)
        }
    }

    @Test(
        "infinite time spans are refused",
        arguments: ["infinity", "99999999999999999999y", "999999y", "292271y 292271y", "9223372036854775807us 1us"])
    func endlessTimeSpans(_ text: String) {
        #expect(throws: ValueError("is too long a time")) { try parseTimeSpan(text) }
    }

    @Test("writes time spans so that they read back equal")
    func spellsTimeSpans() throws {
        #expect(spelledTimeSpan(.seconds(90)) == "1min 30s")
        #expect(spelledTimeSpan(.seconds(30 * 86_400)) == "30d")
        #expect(spelledTimeSpan(.microseconds(1_002_003)) == "1s 2ms 3us")
        #expect(spelledTimeSpan(.zero) == "0")
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1000 {
            let span = Duration.microseconds(Int64.random(in: 0...(1 << 50), using: &generator))
            #expect(try parseTimeSpan(spelledTimeSpan(span)) == span)
        }
    }

    @Test(
        "reads sizes in steps of 1024",
        arguments: [("4096", 4096), ("4096B", 4096), ("256K", 262_144), ("16M", 16_777_216), ("1G", 1_073_741_824)])
    func sizes(_ text: String, bytes: Int) throws {
        #expect(try Form.byteSize(0...Int.max).parse(text) == bytes)
    }

    @Test("malformed sizes are refused", arguments: ["", "K", "256k", "256 K", "1.5K", "-1", "256KB", "٣"])
    func malformedSizes(_ text: String) {
        #expect(throws: ValueError("must be a size, such as 256K or 16M")) { try Form.byteSize(0...10).parse(text) }
    }

    @Test(
        "sizes outside their range are refused",
        arguments: ["1023", "16777217", "17M", "9999999999999999999G", "9999999999G"])
    func sizesOutOfRange(_ text: String) {
        #expect(throws: ValueError("must be from 1K to 16M")) {
            try Form.byteSize(1 << 10...16 << 20).parse(text)
        }
    }

    @Test("reads integers in their range, and no others")
    func integers() throws {
        #expect(try Form.integer(1...64).parse("064") == 64)
        for text in ["0", "65", "99999999999999999999"] {
            #expect(throws: ValueError("must be from 1 to 64")) { try Form.integer(1...64).parse(text) }
        }
        for text in ["", "-1", "+1", "1.0", "0x10", "1 "] {
            #expect(throws: ValueError("must be a whole number")) { try Form.integer(1...64).parse(text) }
        }
    }

    @Test("systemd's booleans are read")
    func booleans() throws {
        for text in ["1", "yes", "y", "true", "t", "on", "YES", "On"] { #expect(try Form.boolean.parse(text)) }
        for text in ["0", "no", "n", "false", "f", "off", "No"] { #expect(try !Form.boolean.parse(text)) }
        #expect(throws: ValueError("must be yes or no")) { try Form.boolean.parse("maybe") }
    }

    @Test("reads permission bits in octal digits")
    func fileModes() throws {
        #expect(try Form.fileMode.parse("0660") == 0o660)
        #expect(try Form.fileMode.parse("777") == 0o777)
        for text in ["0668", "1777", "+660", "rw", ""] {
            #expect(throws: ValueError("must be permission bits in octal digits, such as 0660")) {
                try Form.fileMode.parse(text)
            }
        }
    }

    @Test("lists the words of a choice, and suggests the nearest one")
    func choices() throws {
        #expect(try Form<Platform>.choice.parse("ios") == .ios)
        #expect(throws: ValueError("must be android, ios or web; did you mean android?")) {
            try Form<Platform>.choice.parse("Andriod")
        }
        #expect(throws: ValueError("must be android, ios or web")) { try Form<Platform>.choice.parse("symbian") }
    }

    @Test(
        "suggests the nearest word only if one is near",
        arguments: [
            ("Budgt", "Budget"), ("budget", "Budget"), ("HandlerMax", "HandlersMax"), ("Handlers", "HandlersMax"),
            ("X", nil),
            ("", nil), ("Moda", "Mode"),
        ])
    func suggestions(_ word: String, expected: String?) {
        #expect(nearest(to: word, among: ["Budget", "HandlersMax", "Mode", "Remember"]) == expected)
    }
}
