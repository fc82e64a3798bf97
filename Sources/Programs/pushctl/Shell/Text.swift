import Glibc
import LinuxSystem
import PushModel
import PushViews

/// Text for a terminal.
enum Text {
    /// `text` in lines of at most `width` characters, each after `indent` spaces.
    static func wrapped(_ text: String, width: Int, indent: Int = 0) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        lines.append(line)
        return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
    }

    /// Folds lines to at most `width` characters, between words. Continuation lines are indented four characters more
    /// than their line. A longer word stays whole.
    static func folded(_ text: String, width: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.count <= width ? String($0) : fold($0, width: width) }.joined(separator: "\n")
    }

    private static func fold(_ line: Substring, width: Int) -> String {
        let indent = String(line.prefix { $0 == " " })
        var folded: [String] = []
        var current = Substring(line)
        var lead = ""
        while lead.count + current.count > width {
            let room = current.prefix(width - lead.count + 1)
            // Breaks only between words, never within the indent.
            let blank = room.lastIndex(of: " ").flatMap { room[..<$0].contains { $0 != " " } ? $0 : nil }
            guard let blank = blank ?? current.dropFirst(room.count).firstIndex(of: " ") else { break }
            folded.append(lead + current[..<blank].trimmingEnd)
            current = current[blank...].drop { $0 == " " }
            lead = indent + "    "
        }
        if !current.isEmpty { folded.append(lead + current) }
        return folded.joined(separator: "\n")
    }

    /// Formats rows of cells as lines, each column as wide as its widest cell, with two spaces between. Control
    /// characters are escaped, so that they have a width, and no cell begins a line.
    static func columns(_ rows: [[String]], indent: Int = 0) -> String {
        let rows = rows.map { $0.map { $0.showingControls() } }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.reduce(into: "") { text, row in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in row.enumerated() {
                let isLast = column == row.count - 1
                line += cell + (isLast ? "" : String(repeating: " ", count: widths[column] - cell.count + 2))
            }
            text += line + "\n"
        }
    }
}

extension Substring {
    /// The text without spaces at its end.
    fileprivate var trimmingEnd: Substring {
        var trimmed = self
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed
    }
}

/// Reads and shows times in this machine's zone.
enum LocalTime {
    /// The forms that ``parse(_:now:isUTC:)`` reads, for the help.
    static let forms = "\(timeForms) Dates are those of this machine's time zone, or with --utc of UTC."

    /// The same without a word about zones.
    static let timeForms = """
        TIME is RFC 3339 (2026-11-21T09:00:00Z), a date (its midnight), today, yesterday, now, or how long ago: -90s, \
        -30min, -1h, -2d, -1w.
        """

    /// Parses a time: RFC 3339; `2026-11-21`, `today`, `yesterday`, which are the midnights at their begin; `now`; or
    /// an age such as `-90s`, `-30min`, `-1h`, `-2d`, `-1w`. `nil` for other texts.
    ///
    /// - Parameter isUTC: whether dates are in UTC and not in this machine's zone.
    static func parse(_ text: String, now: WallTime, isUTC: Bool = false) -> WallTime? {
        guard !isUTC, text != "now", !text.hasPrefix("-") else { return WallTime(inWords: text, now: now) }
        return switch text {
        case "today": midnight(of: now, daysBefore: 0)
        case "yesterday": midnight(of: now, daysBefore: 1)
        // `WallTime` validates the date; mktime(3) finds its midnight, which a zone may lack.
        default: WallTime(rfc3339: text) ?? WallTime(rfc3339: text + "T12:00:00Z").flatMap(midnight(ofDateAtNoon:))
        }
    }

    /// The time now.
    static var now: WallTime { WallTime(milliseconds: SystemClock.wallMilliseconds) }

    /// The zone of this machine, with its present abbreviation.
    static var zone: LocalZone {
        zone(named: parts(of: now).flatMap { $0.tm_zone.map { String(cString: $0) } } ?? "UTC")
    }

    /// The zone of this machine under another name.
    static func zone(named name: String) -> LocalZone {
        LocalZone(name: name) { time in parts(of: time).map { Int64($0.tm_gmtoff) } ?? 0 }
    }

    /// The value of `TZ`, if it names no zone: the C library would use UTC without a word.
    static var unknownZone: String? {
        guard let value = Output.environment("TZ"), !value.isEmpty else { return nil }
        let name = value.hasPrefix(":") ? String(value.dropFirst()) : value
        let directory = Output.environment("TZDIR") ?? "/usr/share/zoneinfo"
        let hasFile = access(name.hasPrefix("/") ? name : "\(directory)/\(name)", R_OK) == 0
        return hasFile || ["UTC", "GMT"].contains(name) || isRule(name) ? nil : value
    }

    /// Whether a text is a rule of POSIX, such as `CET-1CEST,M3.5.0,M10.5.0/3` and `<+05>-5`.
    private static func isRule(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "<") {
            rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
        } else {
            let name = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) }
            guard name.count >= 3 else { return false }
            rest = rest[name.endIndex...]
        }
        if let sign = rest.first, "+-".utf8.contains(sign) { rest = rest.dropFirst() }
        return rest.first.map { (0x30...0x39).contains($0) } ?? false
    }

    private static func parts(of time: WallTime) -> tm? {
        var seconds = time_t(time.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    private static func midnight(of time: WallTime, daysBefore days: Int32) -> WallTime? {
        var seconds = time_t(time.seconds)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        parts.tm_mday -= days
        return midnight(parts)
    }

    private static func midnight(ofDateAtNoon noon: WallTime) -> WallTime? {
        var seconds = time_t(noon.seconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        return midnight(parts)
    }

    private static func midnight(_ date: tm) -> WallTime? {
        var parts = date
        parts.tm_hour = 0
        parts.tm_min = 0
        parts.tm_sec = 0
        // -1: mktime(3) finds out whether it is summer time.
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        return seconds == -1 ? nil : WallTime(milliseconds: Int64(seconds) * 1000)
    }
}

extension RequestStory {
    /// The story with push tokens shortened, unless `--full-tokens` is given.
    func showingTokens(_ arguments: Arguments) -> RequestStory { arguments.has(.fullTokens) ? self : withShortTokens }
}
