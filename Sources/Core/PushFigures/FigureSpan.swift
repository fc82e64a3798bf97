public import PushModel

/// The lengths of the spans for which the ledger keeps figures.
///
/// Each is a power of two of a minute, as are the spans of a report's timeline, so that a long span of figures lies
/// within one of these.
public enum SpanLength: Int64, Sendable, CaseIterable {
    /// The length in which invocations are counted.
    case minute = 1
    /// About an hour: 64 minutes.
    case hour = 64
    /// 4096 minutes, nearly three days.
    case days = 4096

    /// The length in minutes.
    public var minutes: Int64 { rawValue }

    /// The number of the span of this length that contains a minute; spans count from 1970 on.
    public func span(of minute: Int64) -> Int64 { minute / rawValue }

    /// Returns the first minute of a span.
    public func firstMinute(of span: Int64) -> Int64 { span * rawValue }
}

/// Minutes of the time of acceptance, counted from 1970 on. A time before 1970 or beyond ``limit`` (after the year
/// 4000) becomes the first or the last minute.
public enum FigureMinute {
    /// The end of the range: the ledger stores the number of a span in the upper half of a signed 64-bit number.
    public static let limit: Int64 = 1 << 30

    /// The minute of a time.
    public static func of(milliseconds: Int64) -> Int64 { min(max(0, milliseconds) / 60_000, limit - 1) }

    /// Returns the first minute that begins at `time` or later.
    public static func first(from time: WallTime) -> Int64 {
        let minute = of(milliseconds: time.milliseconds)
        return minute * 60_000 == time.milliseconds ? minute : minute + 1
    }

    /// The beginning of a minute.
    public static func begin(_ minute: Int64) -> WallTime { WallTime(milliseconds: minute * 60_000) }
}
