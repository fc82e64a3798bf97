public import PushModel

/// How long the spans are for which the ledger keeps figures.
///
/// Powers of two of a minute: the spans of a report's timeline are such, too, so that a long span of figures lies within
/// one of them.
public enum SpanLength: Int64, Sendable, CaseIterable {
    /// Where an invocation is counted.
    case minute = 1
    /// What an hour is to people.
    case hour = 64
    /// Nearly three days.
    case days = 4096

    /// In minutes.
    public var minutes: Int64 { rawValue }

    /// The span of this length in which a minute lies; spans are counted from 1970 on.
    public func span(of minute: Int64) -> Int64 { minute / rawValue }

    /// The first minute of a span.
    public func firstMinute(of span: Int64) -> Int64 { span * rawValue }
}

/// Minutes of the time of acceptance, counted from 1970 on. What a clock shows before 1970 or after the year 4000 lies in
/// the first or the last minute that there is.
public enum FigureMinute {
    /// One beyond the last: in the ledger a span's number is the upper half of a number of 64 bits with a sign.
    public static let limit: Int64 = 1 << 30

    /// The minute of an instant.
    public static func of(milliseconds: Int64) -> Int64 { min(max(0, milliseconds) / 60_000, limit - 1) }

    /// The first minute that begins at `time` or later.
    public static func first(from time: WallTime) -> Int64 {
        let minute = of(milliseconds: time.milliseconds)
        return minute * 60_000 == time.milliseconds ? minute : minute + 1
    }

    /// The first instant of a minute.
    public static func begin(_ minute: Int64) -> WallTime { WallTime(milliseconds: minute * 60_000) }
}
