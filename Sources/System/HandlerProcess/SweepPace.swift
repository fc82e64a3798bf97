/// When the next sweep of an `OrphanReaper` may begin: sweeps take at most a twentieth of the time, however many processes
/// there are to look through, and there are at most a thousand a second, however many processes end.
public struct SweepPace: Sendable, Equatable {
    /// How many times as long as a sweep took it is until the next may begin.
    static let rest: Int64 = 19
    /// How long it is at least from one sweep to the next, in nanoseconds.
    static let pause: Int64 = 1_000_000

    /// In monotonic nanoseconds.
    private var earliest: Int64 = .min

    /// A pace at which the first sweep may begin at once.
    public init() {}

    /// When a sweep that is wanted may begin.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: `now`, or the time from which on it may.
    public func next(at now: Int64) -> Int64 { max(now, earliest) }

    /// Notes a sweep.
    ///
    /// - Parameters:
    ///   - start: when it began, in monotonic nanoseconds.
    ///   - end: when it was done.
    public mutating func swept(from start: Int64, to end: Int64) {
        earliest = end + max((end - start) * Self.rest, Self.pause)
    }
}
