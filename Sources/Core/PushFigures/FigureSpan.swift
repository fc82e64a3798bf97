public import PushModel

/// The length of the spans for which the ledger keeps figures.
///
/// Powers of two of a minute, as are the spans of a report's timeline, so that a long span of figures lies within one
/// of those.
public enum SpanLength: Int64, Sendable, CaseIterable {
    /// A minute, in which each invocation is counted first.
    case minute = 1
    /// 64 minutes, about an hour.
    case hour = 64
    /// 4096 minutes, nearly three days.
    case days = 4096

    /// The length in minutes.
    public var minutes: Int64 { rawValue }

    /// Returns the span of this length with a minute; spans are counted from 1970 on.
    public func span(of minute: Int64) -> Int64 { minute / rawValue }

    /// Returns the first minute of a span.
    public func firstMinute(of span: Int64) -> Int64 { span * rawValue }
}

/// Minutes of the time of acceptance, counted from 1970 on. A time before 1970 or after the year 4000 counts in the
/// first or the last minute.
public enum FigureMinute {
    /// One beyond the last minute: in the ledger a span's number is the upper half of a signed 64-bit number.
    public static let limit: Int64 = 1 << 30

    /// Returns the minute of a time.
    public static func of(milliseconds: Int64) -> Int64 { min(max(0, milliseconds) / 60_000, limit - 1) }

    /// Returns the first minute that begins at `time` or later.
    public static func first(from time: WallTime) -> Int64 {
        let minute = of(milliseconds: time.milliseconds)
        return minute * 60_000 == time.milliseconds ? minute : minute + 1
    }

    /// Returns the first instant of a minute.
    public static func begin(_ minute: Int64) -> WallTime { WallTime(milliseconds: minute * 60_000) }
}
