import PushModel

/// The time for which the push service keeps a message that it cannot deliver, as the message states it.
enum TimeToLive: Hashable, Sendable {
    /// Seconds from the acceptance: FCM's `ttl`, and the header `TTL` of web push. With 0 the service tries once.
    case seconds(Int64)
    /// A time of the wall clock, in seconds since 1970: `apns-expiration`. With 0 the service tries once.
    case until(Int64)

    /// Returns the time that is left at the acceptance of the message, at least zero and at most `longest`.
    public func span(from acceptance: WallTime, atMost longest: Duration) -> Duration {
        let left: Int64
        switch self {
        case .seconds(let seconds): left = Self.milliseconds(seconds)
        case .until(let time):
            let (span, isTooLong) = Self.milliseconds(time).subtractingReportingOverflow(acceptance.milliseconds)
            left = isTooLong ? .max : span
        }
        return min(max(.zero, .milliseconds(left)), longest)
    }

    /// Thousands of years are as good as for ever, and fit.
    private static func milliseconds(_ seconds: Int64) -> Int64 { min(max(seconds, 0), 1 << 40) * 1000 }
}

extension AndroidPayload {
    /// FCM's `ttl`; `nil` if the payload does not state it. Other transports have none.
    var timeToLive: TimeToLive? {
        guard transport == .fcm else { return nil }
        if case .v1(let message) = form { return message.secondsToLive.map(TimeToLive.seconds) }
        return integerExtra("google.ttl").map(TimeToLive.seconds)
    }
}

extension ApplePayload {
    /// `apns-expiration`, of the request or of an FCM v1 message.
    var timeToLive: TimeToLive? { header(.expiration).flatMap { Int64($0) }.map(TimeToLive.until) }
}
