/// A histogram of durations in microseconds, for quantiles.
///
/// Log-linear, as HDR histograms are: exact below 128 µs, and above that 128 buckets for each doubling, so a quantile
/// is never below the exact one, and less than 1/128 (0.8 %) above it. A doubling costs 1 KiB once a duration falls
/// into it; all durations of a handler take a few KiB, independent of their number.
public struct Histogram: Hashable, Sendable {
    private static let bucketBits = 7
    private static let buckets = 1 << bucketBits

    /// The number of durations.
    public private(set) var count = 0
    private var highest: Int64 = 0
    /// `rows[0]` counts 0 ..< 128 one by one; `rows[k]` counts 128 << (k - 1) ..< 128 << k. Empty until needed.
    private var rows: [[Int]] = []

    /// Creates an empty histogram.
    public init() {}

    /// The longest duration, exactly; `nil` when empty.
    public var max: Int64? { count == 0 ? nil : highest }

    /// Counts one duration.
    /// - Parameter microseconds: the duration; a negative one counts as zero.
    public mutating func add(microseconds: Int64) {
        let value = Swift.max(0, microseconds)
        let (row, bucket) = Self.place(of: value)
        makeRoom(for: row)
        rows[row][bucket] += 1
        count += 1
        highest = Swift.max(highest, value)
    }

    /// Counts one duration several times.
    public mutating func add(microseconds: Int64, count: Int) {
        guard count > 0 else { return }
        add(microseconds: microseconds)
        let (row, bucket) = Self.place(of: Swift.max(0, microseconds))
        rows[row][bucket] += count - 1
        self.count += count - 1
    }

    /// The non-empty buckets, shortest durations first: their bounds, both inclusive, and counts.
    public var filledBuckets: [(lowest: Int64, highest: Int64, count: Int)] {
        rows.indices.flatMap { row in
            rows[row].indices.compactMap { bucket in
                guard rows[row][bucket] > 0 else { return nil }
                let lowest = row == 0 ? Int64(bucket) : Int64(Self.buckets + bucket) << Int64(row - 1)
                return (lowest, min(highest, Self.upperEdge(row: row, bucket: bucket)), rows[row][bucket])
            }
        }
    }

    /// The number of durations in buckets above the one of `microseconds`.
    public func count(above microseconds: Int64) -> Int {
        filledBuckets.reduce(0) { $0 + ($1.lowest > microseconds ? $1.count : 0) }
    }

    /// The number of durations in the bucket of `microseconds` and above it.
    public func count(from microseconds: Int64) -> Int {
        filledBuckets.reduce(0) { $0 + ($1.highest >= microseconds ? $1.count : 0) }
    }

    /// Adds the counts of `other`, as if each of its durations had been added here.
    public mutating func merge(_ other: Histogram) {
        if other.rows.count > rows.count {
            rows.append(contentsOf: repeatElement([], count: other.rows.count - rows.count))
        }
        for (row, counts) in other.rows.enumerated() where !counts.isEmpty {
            if rows[row].isEmpty {
                rows[row] = counts
            } else {
                for bucket in counts.indices { rows[row][bucket] += counts[bucket] }
            }
        }
        count += other.count
        highest = Swift.max(highest, other.highest)
    }

    /// The duration that `permille` of 1000 durations do not exceed.
    /// - Parameter permille: 1 ... 1000; 500 is the median, 999 is p999.
    /// - Returns: microseconds; `nil` if empty.
    public func quantile(permille: Int) -> Int64? {
        precondition((1...1000).contains(permille), "a quantile is 1 to 1000 permille, not \(permille)")
        guard count > 0 else { return nil }
        var remaining = (count * permille + 999) / 1000
        for (row, counts) in rows.enumerated() {
            for (bucket, count) in counts.enumerated() {
                remaining -= count
                if remaining <= 0 { return min(highest, Self.upperEdge(row: row, bucket: bucket)) }
            }
        }
        return highest
    }

    private static func place(of value: Int64) -> (row: Int, bucket: Int) {
        let width = Int64.bitWidth - value.leadingZeroBitCount
        guard width > bucketBits else { return (0, Int(value)) }
        let row = width - bucketBits
        return (row, Int(value >> Int64(row - 1)) - buckets)
    }

    private static func upperEdge(row: Int, bucket: Int) -> Int64 {
        guard row > 0 else { return Int64(bucket) }
        let scale = Int64(row - 1)
        return (Int64(buckets + bucket) << scale) + ((1 << scale) - 1)
    }

    // MARK: Bytes

    /// Appends the bytes that ``add(_:)`` reads: the filled buckets, each as its distance from the one before and its
    /// count, and the longest duration.
    func write(to writer: inout FigureWriter) {
        guard count > 0 else { return writer.number(0) }
        // One pass: the ledger's thread does this for each key in each transaction, and most buckets are empty.
        var (filled, next) = (0, 0)
        var buckets = FigureWriter()
        for row in rows.indices where !rows[row].isEmpty {
            rows[row].withUnsafeBufferPointer { counts in
                for bucket in 0..<counts.count where counts[bucket] > 0 {
                    let index = row << Self.bucketBits + bucket
                    buckets.number(index - next)
                    buckets.number(counts[bucket])
                    next = index + 1
                    filled += 1
                }
            }
        }
        writer.number(filled)
        writer.append(buckets)
        writer.number(Int(highest))
    }

    /// Adds the written histogram, as if each of its durations had been added here.
    ///
    /// - Throws: if the bytes are no histogram; a part of it may have been added by then.
    mutating func add(_ reader: inout FigureReader) throws(FigureError) {
        let filled = try reader.number()
        guard filled > 0 else { return }
        guard filled <= Self.rowLimit << Self.bucketBits else { throw FigureError.unreadable }
        var index = 0
        for _ in 0..<filled {
            index += try reader.number(below: Self.rowLimit << Self.bucketBits)
            let added = try reader.number()
            let (row, bucket) = (index >> Self.bucketBits, index & (Self.buckets - 1))
            guard row < Self.rowLimit, added > 0 else { throw FigureError.unreadable }
            try count.add(read: added)
            makeRoom(for: row)
            rows[row][bucket] += added
            index += 1
        }
        highest = Swift.max(highest, Int64(try reader.number()))
    }

    /// The limit of rows: one for each doubling of a duration of 63 bits.
    private static let rowLimit = Int64.bitWidth - bucketBits

    private mutating func makeRoom(for row: Int) {
        if row >= rows.count { rows.append(contentsOf: repeatElement([], count: row + 1 - rows.count)) }
        if rows[row].isEmpty { rows[row] = Array(repeating: 0, count: Self.buckets) }
    }
}

/// A histogram of durations with fixed upper bounds and a sum, as Prometheus defines one. Adding a duration costs a few
/// comparisons, and the memory does not grow. The count at a bound is exact. The buckets of ``Histogram`` cannot tell a
/// delivery of 9.00 s from one of 9.02 s, and nine seconds are the deadline.
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
