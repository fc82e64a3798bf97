import Testing

@testable import EventLoop

@Suite("Turn times", .timeLimit(.minutes(30)))
struct TurnTimesTests {
    @Test("say what so many of a hundred stay below, at most a quarter too high", arguments: [0.0, 50, 99, 100])
    func percentile(percent: Double) {
        var times = TurnTimes()
        let values = (1...10_000).map { Int64($0 * $0 * 37) }
        for value in values { times.add(value) }
        let exact = values[max(0, Int((Double(values.count) * percent / 100).rounded(.up)) - 1)]
        let told = times.percentile(percent)
        #expect(told >= exact && told <= max(16_000, exact * 5 / 4 + 1), "\(told) for \(exact)")
        #expect(times.count == 10_000 && times.longest == values.last)
    }

    @Test("take any time, however short or long")
    func extremes() {
        var times = TurnTimes()
        #expect(times.percentile(99) == 0)
        for power in 0..<63 { times.add(1 << Int64(power)) }
        times.add(.max)
        times.add(-1)
        #expect(times.count == 65 && times.longest == .max)
        #expect(times.percentile(100) > 0)
    }
}
