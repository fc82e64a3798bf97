public import PushFigures

/// How long turns took of late: some slices of time, the oldest of which is dropped when another begins. A turn costs no
/// more than in one histogram.
public struct TurnWindow: Sendable {
    /// How many slices are looked back on, the growing one among them.
    public static let sliceCount = 6

    /// Processor time of the turns since the loop began.
    public var all: Histogram {
        var all = ended
        all.merge(recent)
        return all
    }

    /// Processor time of the turns of these slices.
    public var recent: Histogram { slices.reduce(into: growing.times) { $0.merge($1.times) } }
    /// The longest turn of these slices, by the clock, in nanoseconds.
    public var recentLongest: Int64 { slices.reduce(growing.longest) { max($0, $1.longest) } }
    /// The longest turn since the loop began, by the clock, in nanoseconds.
    public private(set) var longest: Int64 = 0

    private struct Slice: Sendable {
        var times = Histogram()
        var longest: Int64 = 0
    }

    private var growing = Slice()
    /// Those before, the oldest first.
    private var slices: [Slice] = []
    /// All that were dropped.
    private var ended = Histogram()

    /// No turns.
    public init() {}

    /// Adds a turn.
    ///
    /// - Parameters:
    ///   - processor: its processor time, in nanoseconds.
    ///   - duration: how long it was by the clock, in nanoseconds.
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
