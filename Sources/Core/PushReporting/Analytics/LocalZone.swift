public import PushModel

/// The zone in which days begin and in which people read times.
public struct LocalZone: Sendable {
    /// What it is called: `CET`.
    public let name: String
    private let offset: @Sendable (WallTime) -> Int64

    /// - Parameters:
    ///   - name: what it is called.
    ///   - offset: by how many seconds its clocks are ahead of UTC at a time.
    public init(name: String, offset: @escaping @Sendable (WallTime) -> Int64) {
        self.name = name
        self.offset = offset
    }

    /// UTC itself.
    public static let utc = LocalZone(name: "UTC") { _ in 0 }

    /// The day of a time, which is given in Unix seconds.
    func day(of seconds: Int64) -> LocalDay {
        let local = seconds + offset(WallTime(milliseconds: seconds * 1000))
        return LocalDay(number: local >= 0 ? local / 86_400 : (local - 86_399) / 86_400)
    }

    /// `2026-11-21 10:00:00 +01:00`; with milliseconds `2026-11-21 10:00:00.250 +01:00`.
    public func text(_ time: WallTime, milliseconds: Bool = false) -> String {
        let offset = offset(time)
        let local = WallTime(milliseconds: time.seconds * 1000 + offset * 1000).rfc3339
        let millisecond = time.milliseconds - time.seconds * 1000
        let fraction = milliseconds ? "." + String(1000 + millisecond).dropFirst() : ""
        let minutes = abs(offset) / 60
        let zone = "\(offset < 0 ? "-" : "+")\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
        return "\(local.prefix(10)) \(local.dropFirst(11).prefix(8))\(fraction) \(zone)"
    }

    /// A time in Unix seconds, in the same form.
    func text(seconds: Int64) -> String { text(WallTime(milliseconds: seconds * 1000)) }

    /// A window for people.
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

/// A day of some zone.
struct LocalDay: Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    let number: Int64

    static func < (left: LocalDay, right: LocalDay) -> Bool { left.number < right.number }

    /// `2026-11-21`.
    var description: String { String(WallTime(milliseconds: number * 86_400_000).rfc3339.prefix(10)) }
}

extension ReportWindow {
    /// Whether a time lies in it.
    public func contains(_ time: WallTime) -> Bool {
        since.map { $0 <= time } ?? true && until.map { time < $0 } ?? true
    }

    /// The same of a time in Unix seconds.
    func contains(seconds: Int64) -> Bool { contains(WallTime(milliseconds: seconds * 1000)) }
}
