import Glibc
import LinuxSystem
import PushModel
import PushViews

/// Reads and shows times in this machine's zone.
enum LocalTime {
    /// The forms that ``parse(_:now:isUTC:)`` reads, for the help.
    static let forms = """
        TIME is RFC 3339 (2026-11-21T09:00:00Z), a date (its midnight), today, yesterday, now, or how long ago: -90s, \
        -30min, -1h, -2d, -1w. Dates are those of this machine's time zone, or with --utc of UTC.
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
        LocalZone(name: parts(of: now).flatMap { $0.tm_zone.map { String(cString: $0) } } ?? "UTC") { time in
            parts(of: time).map { Int64($0.tm_gmtoff) } ?? 0
        }
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
