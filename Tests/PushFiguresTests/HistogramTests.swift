import TestSupport
import Testing

@testable import PushModel

@Suite("Histogram")
struct HistogramTests {
    private static let permille = [1, 500, 900, 990, 999, 1000]

    /// Durations of all sizes, up to five hours, with random exponents and digits.
    private func durations(seed: UInt64, count: Int) -> [Int64] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            Int64.random(in: 0...(18_000_000_000 >> Int64.random(in: 0...34, using: &generator)), using: &generator)
        }
    }

    @Test(
        "has quantiles never below the exact one, less than 1 % above it, and never above the maximum",
        arguments: 1...20)
    func errorIsBounded(seed: UInt64) throws {
        let values = durations(seed: seed, count: Int(seed) * 173)
        var histogram = Histogram()
        for value in values { histogram.add(microseconds: value) }

        let sorted = values.sorted()
        for permille in Self.permille {
            let exact = sorted[(sorted.count * permille + 999) / 1000 - 1]
            let estimate = try #require(histogram.quantile(permille: permille))
            #expect(estimate >= exact)
            #expect(Double(estimate) <= Double(exact) * 1.01, "\(permille) permille of seed \(seed)")
            #expect(estimate <= sorted[sorted.count - 1])
        }
        #expect(histogram.max == sorted.last)
        #expect(histogram.count == values.count)
    }

    @Test("a histogram is exact below 128 µs")
    func smallIsExact() {
        var histogram = Histogram()
        for value in (0..<128).reversed() { histogram.add(microseconds: Int64(value)) }
        #expect(histogram.quantile(permille: 500) == 63)
        #expect(histogram.quantile(permille: 1) == 0)
        #expect(histogram.quantile(permille: 1000) == 127)
    }

    @Test("has no quantile and no maximum when it is empty")
    func emptyHasNone() {
        #expect(Histogram().quantile(permille: 500) == nil)
        #expect(Histogram().max == nil)
    }

    @Test("has one duration as every quantile, exactly", arguments: [0, 127, 128, 9_000_123, Int64.max])
    func oneValue(value: Int64) {
        var histogram = Histogram()
        histogram.add(microseconds: value)
        for permille in Self.permille { #expect(histogram.quantile(permille: permille) == value) }
    }

    @Test("counts a negative duration as zero")
    func negativeIsZero() {
        var histogram = Histogram()
        histogram.add(microseconds: -5)
        #expect(histogram.max == 0)
        #expect(histogram.quantile(permille: 999) == 0)
    }

    @Test("merged from two equals the one with all durations", arguments: 1...5)
    func merges(seed: UInt64) {
        let (left, right) = (durations(seed: seed, count: 500), durations(seed: seed + 100, count: 40))
        var (merged, other, whole) = (Histogram(), Histogram(), Histogram())
        for value in right { merged.add(microseconds: value) }
        for value in left { other.add(microseconds: value) }
        for value in left + right { whole.add(microseconds: value) }
        merged.merge(other)
        #expect(merged == whole)
    }
}
