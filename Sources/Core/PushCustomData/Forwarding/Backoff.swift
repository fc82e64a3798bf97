import PushModel

/// How long to wait after failures in a row: the longest wait doubles with each up to a day, and the wait is a random
/// part of it, so that many who failed together do not come back together.
enum Backoff {
    /// A day.
    static let longest = Duration.seconds(86_400)
    /// The longest wait that an endpoint may ask for: the windows of its limits have an hour at most, and one that asks for
    /// more is asked again.
    static let longestAskedFor = Duration.seconds(3600)

    /// - Parameter failures: how many in a row; at least one.
    static func wait(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(failures - 1, 17)
        let ceiling = min(.seconds(1 << doublings), longest)
        return .milliseconds(Int64.random(in: 0...ceiling.milliseconds, using: &random))
    }
}
