/// A point on the machine's monotonic clock, in nanoseconds since boot (`CLOCK_MONOTONIC`).
///
/// Deadlines are instants: setting the wall clock never moves them. Two instants are comparable only within one boot;
/// stored ones have the boot id beside them.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    public var nanoseconds: Int64

    /// - Parameter nanoseconds: nanoseconds since boot.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the instant `span` later; saturates instead of overflowing.
    public static func + (instant: Instant, span: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span < .zero ? .min : .max) : sum)
    }

    /// The span from `right` to `left`; saturates instead of overflowing, since a damaged ledger may have any instant.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (span, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : span)
    }
}

/// A point of civil time: Unix time in milliseconds, UTC. For people and analytics, never for deadlines.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// - Parameter milliseconds: milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whole seconds since the epoch, rounded down, as in analytics events.
    public var seconds: Int64 { milliseconds.flooredQuotient(by: 1000) }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// One reading of both clocks, taken together.
public struct Moment: Hashable, Sendable {
    /// The monotonic reading, the base of deadlines and durations.
    public var monotonic: Instant
    /// The wall clock reading, for records and events.
    public var wall: WallTime

    /// Pairs a monotonic and a civil reading.
    public init(monotonic: Instant, wall: WallTime) {
        (self.monotonic, self.wall) = (monotonic, wall)
    }
}

extension Duration {
    /// Whole nanoseconds, rounded toward zero; saturates at the limits of 64 bits (292 years).
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole microseconds, rounded toward zero.
    public var microseconds: Int64 { nanoseconds / 1000 }

    /// Whole milliseconds, rounded toward zero.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Int64 {
    /// Returns the quotient rounded toward negative infinity, so that times before 1970 stay in order.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder != 0 && (remainder < 0) != (divisor < 0) ? quotient - 1 : quotient
    }
}
