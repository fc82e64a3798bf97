/// A histogram of durations with fixed upper bounds and a sum, as Prometheus defines one. Adding a duration costs a few
/// comparisons, and the memory does not grow. The count at a bound is exact: the buckets of PushFigures' `Histogram`
/// cannot tell a delivery of 9.00 s from one of 9.02 s, and nine seconds are the deadline.
public struct DurationHistogram: Hashable, Sendable {
    /// The inclusive upper bounds, ascending.
    public let bounds: [Duration]
    /// The count of each bucket: above the bound before, at or below its own; the last one counts the durations above
    /// all bounds.
    public private(set) var counts: [UInt64]
    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    /// Creates an empty histogram.
    ///
    /// - Parameter bounds: the upper bounds, ascending.
    public init(bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Counts one duration; a negative one counts as zero.
    public mutating func add(_ duration: Duration) {
        let duration = max(duration, .zero)
        var place = 0
        while place < bounds.count, bounds[place] < duration { place += 1 }
        counts[place] &+= 1
        sum += duration
    }
}

extension DurationHistogram {
    /// The bounds for deliveries: the deadline is nine seconds, and the platforms' limits are 9, 10, 20 and 30 s.
    public static let deliveryBounds: [Duration] = [
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(6),
        .seconds(8), .seconds(9), .seconds(10), .seconds(20), .seconds(30),
    ]

    /// The bounds for a write that waits for a disk.
    public static let commitBounds: [Duration] = [
        .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(20),
        .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2),
        .seconds(5), .seconds(10),
    ]
}
