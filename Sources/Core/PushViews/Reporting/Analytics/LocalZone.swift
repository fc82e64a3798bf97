public import PushModel

/// The zone that days and times for people are in.
public struct LocalZone: Sendable {
    /// Its name: `CET`.
    public let name: String
    private let offset: @Sendable (WallTime) -> Int64

    /// - Parameters:
    ///   - name: its name.
    ///   - offset: the offset from UTC at a time, in seconds.
    public init(name: String, offset: @escaping @Sendable (WallTime) -> Int64) {
        self.name = name
        self.offset = offset
    }

    /// UTC.
    public static let utc = LocalZone(name: "UTC") { _ in 0 }

    /// Returns the day of a time in Unix seconds.
    func day(of seconds: Int64) -> LocalDay {
        let local = seconds + offset(WallTime(milliseconds: seconds * 1000))
        return LocalDay(number: local >= 0 ? local / 86_400 : (local - 86_399) / 86_400)
    }

    /// Returns `2026-11-21 10:00:00 +01:00`; with milliseconds `2026-11-21 10:00:00.250 +01:00`.
    public func text(_ time: WallTime, milliseconds: Bool = false) -> String {
        let offset = offset(time)
        let local = WallTime(milliseconds: time.seconds * 1000 + offset * 1000).rfc3339
        let millisecond = time.milliseconds - time.seconds * 1000
        let fraction = milliseconds ? "." + String(1000 + millisecond).dropFirst() : ""
        let minutes = abs(offset) / 60
        let zone = "\(offset < 0 ? "-" : "+")\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
        return "\(local.prefix(10)) \(local.dropFirst(11).prefix(8))\(fraction) \(zone)"
    }

    /// Returns the text of a time in Unix seconds.
    func text(seconds: Int64) -> String { text(WallTime(milliseconds: seconds * 1000)) }

    /// Returns the text of a window for people.
    func text(_ window: ReportWindow) -> String {
        func end(_ time: WallTime) -> String { text(time, milliseconds: time.milliseconds % 1000 != 0) }
        return switch (window.since.map(end), window.until.map(end)) {
        case (nil, nil): "all that the ledger holds"
        case (let since?, nil): "since \(since)"
        case (nil, let until?): "until \(until)"
        case (let since?, let until?): "\(since) to \(until)"
        }
    }

    private func twoDigits(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
}

/// A calendar day in a zone.
struct LocalDay: Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    let number: Int64

    static func < (left: LocalDay, right: LocalDay) -> Bool { left.number < right.number }

    /// `2026-11-21`.
    var description: String { String(WallTime(milliseconds: number * 86_400_000).rfc3339.prefix(10)) }
}

extension ReportWindow {
    /// Returns whether a time is in the window.
    public func contains(_ time: WallTime) -> Bool {
        since.map { $0 <= time } ?? true && until.map { time < $0 } ?? true
    }

    /// Returns whether a time in Unix seconds is in the window.
    func contains(seconds: Int64) -> Bool { contains(WallTime(milliseconds: seconds * 1000)) }
}

extension LocalZone {
    /// Returns the heading of a column of days: `Day (UTC)`, `Day (CET, +01:00)`; with a change of the clocks between
    /// the days, `Day (CET, +02:00 to +01:00)`.
    func heading(_ word: String, _ days: [LocalDay]) -> String {
        guard name != LocalZone.utc.name, let first = days.min(), let last = days.max() else {
            return "\(word) (\(name))"
        }
        // Clocks change at night, so the offset at noon holds for the day.
        let offsets = [first, last].map { text(seconds: $0.number * 86_400 + 43_200).suffix(6) }
        return "\(word) (\(name), \(offsets[0])\(offsets[0] == offsets[1] ? "" : " to \(offsets[1])"))"
    }

    /// Returns the notice that pruning deleted events before `begin`.
    func prunedEvents(before begin: WallTime) -> String {
        "Before \(text(begin)) requests were deleted (Retention=, MaxSize=): the figures have receipts that the "
            + "tracker still knows, but no opens, clicks and interactions of that time."
    }
}
