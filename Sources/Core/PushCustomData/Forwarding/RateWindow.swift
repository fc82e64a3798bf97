import PushModel

/// How often requests may leave: so many in any stretch of time of a length, the stretch sliding.
struct RateWindow {
    private var departures = Queue<Instant>()

    /// When the next request may be announced; `now` if it may at once, `nil` when that depends on those that were announced
    /// and have not left.
    ///
    /// - Parameter announced: how many were announced and have not left.
    mutating func nextDeparture(_ settings: ForwardingSettings, announced: Int, now: Instant) -> Instant? {
        while let first = departures.first, first + settings.rateInterval <= now { _ = departures.popFirst() }
        guard departures.count + announced >= settings.rateLimit else { return now }
        return departures.first.map { $0 + settings.rateInterval }
    }

    /// Notes that a request leaves.
    mutating func depart(at now: Instant) { departures.append(now) }
}
