/// The pace of an `OrphanReaper`: sweeps take at most a twentieth of the time, however many processes there are, and
/// their number is at most a thousand a second, however many processes end.
public struct SweepPace: Sendable, Equatable {
    /// The pause after a sweep, as a multiple of its duration.
    static let rest: Int64 = 19
    /// The shortest pause after a sweep, in nanoseconds.
    static let pause: Int64 = 1_000_000

    /// The earliest time of the next sweep, in monotonic nanoseconds.
    private var earliest: Int64 = .min

    /// Allows the first sweep at once.
    public init() {}

    /// Returns when a sweep may begin.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: `now`, or a later time.
    public func next(at now: Int64) -> Int64 { max(now, earliest) }

    /// Notes a sweep.
    ///
    /// - Parameters:
    ///   - start: its begin, in monotonic nanoseconds.
    ///   - end: its end, in monotonic nanoseconds.
    public mutating func noteSweep(from start: Int64, to end: Int64) {
        earliest = end + max((end - start) * Self.rest, Self.pause)
    }
}
