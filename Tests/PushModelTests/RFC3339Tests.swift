import TestSupport
import Testing

@testable import PushModel

@Suite("RFC 3339 times")
struct RFC3339Tests {
    @Test(
        "RFC 3339 times are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-21T03:08:00Z", 1_795_230_480_000),
            ("2026-11-21t03:08:00z", 1_795_230_480_000),
            ("2026-11-21T03:08:00.5Z", 1_795_230_480_500),
            ("2026-11-21T03:08:00.1239Z", 1_795_230_480_123),
            ("2026-11-21T03:08:00.000999999999Z", 1_795_230_480_000),
            ("2026-11-21T04:38:00+01:30", 1_795_230_480_000),
            ("2026-11-20T22:08:00-05:00", 1_795_230_480_000),
            ("2026-11-21T03:08:00-00:00", 1_795_230_480_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("1969-12-31T23:59:58.25Z", -1750),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-02-29T12:00:00Z", 1_709_208_000_000),
            ("1900-03-01T00:00:00Z", -2_203_891_200_000),
            ("2016-12-31T23:59:60Z", 1_483_228_799_999),
            ("2016-12-31T23:59:60.5Z", 1_483_228_799_999),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func reading(text: String, milliseconds: Int64) {
        #expect(WallTime(rfc3339: text) == WallTime(milliseconds: milliseconds))
    }

    @Test(
        "are refused with a wrong form or date",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T03:08:00", "2026-11-21T03:08Z", "2026-11-21 03:08:00Z",
            "2026-11-21T03:08:00ZZ", " 2026-11-21T03:08:00Z", "2026-11-21T03:08:00Z ", "2026-11-21T03:08:00.Z",
            "2026-11-21T03:08:00,5Z", "2026-11-21T03:08:00+0100", "2026-11-21T03:08:00+01", "2026-11-21T03:08:00+24:00",
            "2026-11-21T03:08:00+01:60", "2026-11-21T24:00:00Z", "2026-11-21T03:60:00Z", "2026-11-21T03:08:61Z",
            "2026-00-21T03:08:00Z", "2026-13-21T03:08:00Z", "2026-11-00T03:08:00Z", "2026-11-31T03:08:00Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "26-11-21T03:08:00Z", "+2026-11-21T03:08:00Z",
            "2026-1-21T03:08:00Z", "2026-11-21T3:08:00Z", "20261121T030800Z", "2026-11-2１T03:08:00Z",
            "2026\r11-21T03:08:00Z", "2026-11-21T03\u{1A}08:00Z",
        ])
    func refusing(text: String) {
        #expect(WallTime(rfc3339: text) == nil)
    }

    @Test(
        "are printed in UTC, with milliseconds only if there are any",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_795_230_480_000, "2026-11-21T03:08:00Z"),
            (1_795_230_480_007, "2026-11-21T03:08:00.007Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"), (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func printing(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test("out of range, of a damaged ledger, are printed without a trap", arguments: [Int64.min, .min + 1, .max])
    func outside(milliseconds: Int64) {
        #expect(!WallTime(milliseconds: milliseconds).rfc3339.isEmpty)
    }

    @Test("read back as printed, for each day of four centuries and random moments")
    func roundTrip() {
        for day in 0..<146_097 as Range<Int64> where day % 7 == 0 || day % 365 < 2 {
            let time = WallTime(milliseconds: (day - 40_000) * 86_400_000)
            #expect(WallTime(rfc3339: time.rfc3339) == time)
        }
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let time = WallTime(
                milliseconds: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator))
            #expect(WallTime(rfc3339: time.rfc3339) == time)
        }
    }
}
