import Testing

@testable import PushModel

@Suite("A histogram of durations")
struct DurationHistogramTests {
    @Test("counts a duration at the first bound that it does not exceed, and longer ones above all bounds")
    func bounds() {
        var histogram = DurationHistogram(bounds: [.milliseconds(100), .seconds(9), .seconds(10)])
        for duration: Duration in [
            .zero, .milliseconds(-5), .milliseconds(100), .nanoseconds(100_000_001), .seconds(9),
            .nanoseconds(9_000_000_001), .seconds(3600),
        ] { histogram.add(duration) }
        #expect(histogram.counts == [3, 2, 1, 1])
        #expect(
            histogram.sum == .nanoseconds(100_000_000 + 100_000_001 + 9_000_000_000 + 9_000_000_001) + .seconds(3600))
    }

    @Test("has the bounds that the deadline and the platforms' limits need, in ascending order")
    func shippedBounds() {
        let seconds = [0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 9, 10, 20, 30]
        #expect(DurationHistogram.deliveryBounds == seconds.map { .seconds($0) })
        #expect(DurationHistogram.commitBounds == DurationHistogram.commitBounds.sorted())
    }
}
