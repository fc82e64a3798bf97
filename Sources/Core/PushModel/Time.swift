/// A point on the machine's monotonic clock, in nanoseconds since boot (`CLOCK_MONOTONIC`).
///
/// Deadlines are points of this kind: setting the wall clock never moves them. Two instants are
/// comparable only within one boot; what is stored carries the boot id beside it.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    package var nanoseconds: Int64

    /// - Parameter nanoseconds: nanoseconds since boot.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The instant `span` later; saturates instead of overflowing.
    package static func + (instant: Instant, span: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span < .zero ? .min : .max) : sum)
    }

    /// The span from `right` to `left`.
    package static func - (left: Instant, right: Instant) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

/// A point of civil time: Unix time in milliseconds, UTC. For people and analytics, never for deadlines.
package struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64

    /// - Parameter milliseconds: milliseconds since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whole seconds since the epoch, rounded down, as analytics events carry them.
    package var seconds: Int64 { milliseconds.flooredQuotient(by: 1000) }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// One reading of both clocks, taken together.
package struct Moment: Hashable, Sendable {
    /// The monotonic reading: deadlines and durations come from it.
    package var monotonic: Instant
    /// The civil reading: records and events carry it.
    package var wall: WallTime

    /// Pairs a monotonic and a civil reading.
    package init(monotonic: Instant, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension Duration {
    /// Whole nanoseconds, rounded toward zero; saturates at the limits of 64 bits (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole microseconds, rounded toward zero.
    package var microseconds: Int64 { nanoseconds / 1000 }

    /// Whole milliseconds, rounded toward zero.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Int64 {
    /// The quotient rounded toward negative infinity, so that times before 1970 stay in order.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder != 0 && (remainder < 0) != (divisor < 0) ? quotient - 1 : quotient
    }
}
