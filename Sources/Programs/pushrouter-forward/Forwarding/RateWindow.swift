import PushModel
import PushRouter
import PushSettings

/// The rate limit for requests: at most `rateLimit` in any interval of `rateInterval` (a sliding window).
struct RateWindow {
    private var departures = Queue<Instant>()

    /// Returns when the next request may be announced: `now` if at once, `nil` if that depends on announced requests
    /// that have not left.
    ///
    /// - Parameter announced: how many were announced and have not left.
    mutating func nextDeparture(_ settings: ForwardingSettings, announced: Int, now: Instant) -> Instant? {
        while let first = departures.first, first + settings.rateInterval <= now { _ = departures.popFirst() }
        guard departures.count + announced >= settings.rateLimit else { return now }
        return departures.first.map { $0 + settings.rateInterval }
    }

    /// Records the departure of a request.
    mutating func depart(at now: Instant) { departures.append(now) }
}
