import Testing

@testable import PushModel

@Suite("Times")
struct TimeTests {
    @Test("an instant moves by a span, and saturates instead of overflowing")
    func adding() {
        let instant = Instant(nanoseconds: 5)
        #expect(instant + .seconds(9) == Instant(nanoseconds: 9_000_000_005))
        #expect(instant + .seconds(-1) == Instant(nanoseconds: -999_999_995))
        #expect(Instant(nanoseconds: .max - 1) + .seconds(1) == Instant(nanoseconds: .max))
        #expect(Instant(nanoseconds: .min + 1) + .seconds(-1) == Instant(nanoseconds: .min))
        #expect(Instant(nanoseconds: .max) - Instant(nanoseconds: .min) == .nanoseconds(Int64.max))
        #expect(Instant(nanoseconds: .min) - Instant(nanoseconds: 1) == .nanoseconds(Int64.min))
        #expect(instant + .seconds(Int64.max) == Instant(nanoseconds: .max))
    }

    @Test("the span between instants is signed")
    func difference() {
        #expect(Instant(nanoseconds: 7) - Instant(nanoseconds: 3) == .nanoseconds(4))
        #expect(Instant(nanoseconds: 3) - Instant(nanoseconds: 7) == .nanoseconds(-4))
        #expect(Instant(nanoseconds: 3) < Instant(nanoseconds: 7))
    }

    @Test(
        "whole seconds are rounded down, before 1970 too",
        arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
    func seconds(milliseconds: Int64, seconds: Int64) {
        #expect(WallTime(milliseconds: milliseconds).seconds == seconds)
    }

    @Test("a duration counts in whole units, rounded toward zero, and saturates")
    func durations() {
        let span = Duration.nanoseconds(1_999_999)
        #expect((span.nanoseconds, span.microseconds, span.milliseconds) == (1_999_999, 1999, 1))
        #expect((Duration.zero - span).milliseconds == -1)
        #expect(Duration.seconds(-9).nanoseconds == -9_000_000_000)
        #expect(Duration.seconds(10_000_000_000).nanoseconds == .max)
        #expect(Duration.seconds(-10_000_000_000).nanoseconds == .min)
        #expect(Duration(attoseconds: 999_999_999).nanoseconds == 0)
    }
}
