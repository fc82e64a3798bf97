import PushModel
import PushRouter
import PushSettings

/// The wait after failures in a row: a random part of a ceiling that doubles with each failure up to a day, so that
/// many forwarders that failed together do not retry together.
enum Backoff {
    /// The highest ceiling: a day.
    static let longest = Duration.seconds(86_400)
    /// The longest wait that an endpoint may ask for. The windows of its limits last an hour at most; after an hour the
    /// forwarder asks again.
    static let longestAskedFor = Duration.seconds(3600)

    /// - Parameter failures: how many in a row; at least one.
    static func wait(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(failures - 1, 17)
        let ceiling = min(.seconds(1 << doublings), longest)
        return .milliseconds(Int64.random(in: 0...ceiling.milliseconds, using: &random))
    }
}
