/// How much processor time turns took: enough to say what 99 of 100 stay below, in a few bytes.
///
/// Buckets grow by a quarter each, from 16 microseconds on, so a figure is at most a quarter too high.
public struct TurnTimes: Sendable {
    /// How many turns there were.
    public private(set) var count: UInt64 = 0
    /// The longest, in nanoseconds.
    public private(set) var longest: Int64 = 0
    private var buckets = [UInt64](repeating: 0, count: Self.bucketCount)

    private static let bucketCount = 81
    /// The least time that falls into the bucket after the first, in nanoseconds.
    private static let smallest: Int64 = 16_000

    /// No turns.
    public init() {}

    /// Adds a turn, in nanoseconds.
    mutating func add(_ nanoseconds: Int64) {
        count += 1
        longest = max(longest, nanoseconds)
        buckets[Self.bucket(nanoseconds)] += 1
    }

    /// These turns and others.
    func merged(with other: TurnTimes) -> TurnTimes {
        var merged = self
        merged.count += other.count
        merged.longest = max(longest, other.longest)
        for index in merged.buckets.indices { merged.buckets[index] += other.buckets[index] }
        return merged
    }

    /// What so many of a hundred turns stay below, in nanoseconds; 0 without any turn.
    public func percentile(_ percent: Double) -> Int64 {
        guard count > 0 else { return 0 }
        let wanted = UInt64((Double(count) * percent / 100).rounded(.up))
        var seen: UInt64 = 0
        for (index, turns) in buckets.enumerated() {
            seen += turns
            // The last bucket has no end.
            if seen >= wanted { return index == Self.bucketCount - 1 ? longest : min(Self.limit(index), longest) }
        }
        return longest
    }

    /// Four buckets for each power of two.
    private static func bucket(_ nanoseconds: Int64) -> Int {
        guard nanoseconds >= smallest else { return 0 }
        let quotient = UInt64(nanoseconds / smallest)
        let power = 63 - quotient.leadingZeroBitCount
        let quarter = Int((UInt64(nanoseconds / (smallest >> 2)) >> UInt64(power)) & 3)
        return min(1 + power * 4 + quarter, bucketCount - 1)
    }

    /// What all of a bucket stay below, in nanoseconds.
    private static func limit(_ bucket: Int) -> Int64 {
        guard bucket > 0 else { return smallest }
        let (power, quarter) = ((bucket - 1) / 4, (bucket - 1) % 4)
        return (smallest >> 2) * Int64(4 + quarter + 1) << Int64(power)
    }
}
