public import PushModel

/// The durations of recent turns, in slices of time; a new slice replaces the oldest. Adding a turn costs no more than
/// in one histogram.
public struct TurnWindow: Sendable {
    /// The number of slices, with the current one.
    static let sliceCount = 6

    /// The processor time of all turns since the loop began.
    public var all: Histogram {
        var all = ended
        all.merge(recent)
        return all
    }

    /// The processor time of the turns in these slices.
    public var recent: Histogram { slices.reduce(into: growing.times) { $0.merge($1.times) } }
    /// The longest turn in these slices, in nanoseconds of elapsed time.
    public var recentLongest: Int64 { slices.reduce(growing.longest) { max($0, $1.longest) } }
    /// The longest turn since the loop began, in nanoseconds of elapsed time.
    public private(set) var longest: Int64 = 0

    private struct Slice: Sendable {
        var times = Histogram()
        var longest: Int64 = 0
    }

    private var growing = Slice()
    /// The former slices, the oldest first.
    private var slices: [Slice] = []
    /// The sum of the slices that were dropped.
    private var ended = Histogram()

    /// Creates a window without turns.
    init() {}

    /// Adds a turn.
    ///
    /// - Parameters:
    ///   - processor: its processor time, in nanoseconds.
    ///   - duration: its duration by the clock, in nanoseconds.
    mutating func add(processor: Int64, duration: Int64) {
        growing.times.add(microseconds: processor / 1000)
        growing.longest = max(growing.longest, duration)
        longest = max(longest, duration)
    }

    /// Begins another slice; to be called at even intervals.
    mutating func beginSlice() {
        slices.append(exchange(&growing, with: Slice()))
        if slices.count >= Self.sliceCount { ended.merge(slices.removeFirst().times) }
    }
}
