extension WallTime {
    /// Reads `2026-11-21T03:08:00Z` (RFC 3339, section 5.6): with or without a fraction, cut to milliseconds; with `Z`
    /// or an offset such as `+01:30`; `t` and `z` as well. A leap second (`:60`) becomes the last millisecond of the
    /// second before it. Any other text and a date that does not exist give `nil`.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = RFC3339Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(digits: 4, in: 0...9999), reader.skip("-"),
            let month = reader.number(digits: 2, in: 1...12), reader.skip("-"),
            let day = reader.number(digits: 2, in: 1...lastDay(ofMonth: month, year: year)), reader.skip("T"),
            let hour = reader.number(digits: 2, in: 0...23), reader.skip(":"),
            let minute = reader.number(digits: 2, in: 0...59), reader.skip(":"),
            let second = reader.number(digits: 2, in: 0...60),
            let fraction = reader.fractionInMilliseconds(),
            let offset = reader.offsetInMinutes(), reader.rest.isEmpty
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        self.init(milliseconds: minutes * 60_000 + (second == 60 ? 59_999 : second * 1000 + fraction))
    }

    /// The time as `2026-11-21T03:08:00Z`, with `.mmm` unless the milliseconds are 0. For the years 0 to 9999; RFC 3339
    /// has no form for others.
    public var rfc3339: String {
        let days = seconds.flooredQuotient(by: 86_400)
        let date = date(daysSinceEpoch: days)
        let second = seconds - days * 86_400
        // `milliseconds - seconds * 1000` could overflow near `Int64.min`.
        let rest = milliseconds % 1000
        let millisecond = rest < 0 ? rest + 1000 : rest
        // Writes the bytes by hand, for speed: the journal entry and the line of each outcome have several times.
        return String(unsafeUninitializedCapacity: 24) { text in
            var length = 0
            func put(_ byte: UInt8) {
                text[length] = byte
                length += 1
            }
            func put(_ value: Int64, width: Int) {
                var rest = value.magnitude
                for place in (length..<length + width).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                length += width
            }
            put(date.year, width: 4)
            put(UInt8(ascii: "-"))
            put(date.month, width: 2)
            put(UInt8(ascii: "-"))
            put(date.day, width: 2)
            put(UInt8(ascii: "T"))
            put(second / 3600, width: 2)
            put(UInt8(ascii: ":"))
            put(second / 60 % 60, width: 2)
            put(UInt8(ascii: ":"))
            put(second % 60, width: 2)
            if millisecond != 0 {
                put(UInt8(ascii: "."))
                put(millisecond, width: 3)
            }
            put(UInt8(ascii: "Z"))
            return length
        }
    }
}

private struct RFC3339Reader {
    var rest: ArraySlice<UInt8>

    /// Reads a number of exactly `digits` digits.
    mutating func number(digits: Int, in range: ClosedRange<Int64>) -> Int64? {
        guard rest.count >= digits, rest.prefix(digits).allSatisfy(\.isDigit) else { return nil }
        let value = rest.prefix(digits).reduce(0) { $0 * 10 + Int64($1 & 0xF) }
        rest.removeFirst(digits)
        return range.contains(value) ? value : nil
    }

    /// Skips one character, in either case; returns false at any other.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let next = rest.first, next == UInt8(ascii: character) || next & 0xDF == UInt8(ascii: character) else {
            return false
        }
        rest.removeFirst()
        return true
    }

    /// Reads an optional fraction of a second; `nil` for a point without digits.
    mutating func fractionInMilliseconds() -> Int64? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: \.isDigit)
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        return zip(digits, [100, 10, 1]).reduce(0) { $0 + Int64($1.0 & 0xF) * $1.1 }
    }

    /// Reads `Z` or an offset from UTC.
    mutating func offsetInMinutes() -> Int64? {
        if skip("Z") { return 0 }
        guard let sign = rest.popFirst(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let hours = number(digits: 2, in: 0...23), skip(":"), let minutes = number(digits: 2, in: 0...59)
        else { return nil }
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }
}

// The proleptic Gregorian calendar. Both conversions count years from 1 March, so that the leap day is the last of a
// year, and in eras of 400 years, which have 146,097 days.
// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".

private func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredQuotient(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private func date(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let days = days + 719_468
    let era = days.flooredQuotient(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
}

private func lastDay(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}
