import Testing

@testable import PushModel

@Suite("The wall clock of a pair's leader")
struct EngineClockTests {
    private static let noon: Int64 = 1_760_000_000_000

    private static func reading(
        _ wall: Int64, at seconds: Int64, taking milliseconds: Int64 = 0, machine: Int64? = nil
    ) -> ClockReading {
        let sent = Instant(nanoseconds: seconds * 1_000_000_000)
        return ClockReading(
            WallTime(milliseconds: noon + wall), sentAt: sent, answeredAt: sent + .milliseconds(milliseconds),
            machine: WallTime(milliseconds: noon + (machine ?? wall)))
    }

    private static func shown(_ clock: EngineClock, at milliseconds: Int64) -> Int64 {
        clock.wall(at: Instant(nanoseconds: milliseconds * 1_000_000)).milliseconds - noon
    }

    @Test("is the engine's, advanced by the monotonic clock, whatever the machine's own clock shows")
    func follows() {
        var clock = EngineClock(Self.reading(0, at: 100, machine: -3_600_000))
        #expect(Self.shown(clock, at: 100_000) == 0 && Self.shown(clock, at: 100_250) == 250)
        clock.read(Self.reading(1_000, at: 101, machine: 3_600_000))
        #expect(Self.shown(clock, at: 102_500) == 2_500)
        // A slow reading is imprecise: the clock stays within its error.
        clock.read(Self.reading(2_000, at: 102, taking: 1_000))
        #expect(Self.shown(clock, at: 103_000) == 3_000)
    }

    @Test("continues after a takeover at its value, though the clocks of the two machines differ by an hour")
    func takesOver() {
        let first = EngineClock(Self.reading(0, at: 50, machine: -3_600_000))
        // The other machine has been up for longer.
        let second = EngineClock(Self.reading(4_000, at: 9_000, taking: 20, machine: 3_600_000))
        #expect(Self.shown(first, at: 54_000) == 4_000)
        #expect((3_990...4_010).contains(Self.shown(second, at: 9_000_010)))
    }

    @Test(
        "is set ahead with the engine's, and never back: it runs slower by a twentieth until the engine's catches up")
    func stepped() {
        var clock = EngineClock(Self.reading(0, at: 0))
        clock.read(Self.reading(11_000, at: 1))
        #expect(Self.shown(clock, at: 1_000) == 11_000)
        // Ten seconds back: 200 seconds later it is right again.
        clock.read(Self.reading(2_000, at: 2))
        #expect(Self.shown(clock, at: 2_000) == 12_000)
        var last = Self.shown(clock, at: 2_000)
        for second in Int64(3)...400 {
            let before = Self.shown(clock, at: second * 1000)
            clock.read(Self.reading(second * 1000, at: second, taking: second % 3 * 10))
            let after = Self.shown(clock, at: second * 1000 + 20)
            #expect(before >= last && after >= before)
            #expect(after - last >= 900 && after - last <= 1_021, "\(second): \(after - last)")
            last = after
        }
        #expect(abs(last - 400_020) <= 20)
    }

    @Test("stays within the last hour when the engine's is set back by an hour, and skips nothing")
    func anHourBack() {
        var clock = EngineClock(Self.reading(0, at: 0))
        var last = Int64(-1)
        for second in Int64(1)...100 {
            clock.read(Self.reading(second * 1000 - 3_600_000, at: second))
            let shown = Self.shown(clock, at: second * 1000)
            #expect(shown > last && shown <= second * 1000)
            last = shown
        }
        #expect(last >= 95_000)
    }

    @Test("ignores a reading older than the last one, and an impossible time")
    func odd() {
        var clock = EngineClock(Self.reading(5_000, at: 5))
        clock.read(Self.reading(90_000, at: 4))
        #expect(Self.shown(clock, at: 5_000) == 5_000 && Self.shown(clock, at: 1_000) == 5_000)
        let ends = [Int64.min, .max].map {
            ClockReading(
                WallTime(milliseconds: $0), sentAt: Instant(nanoseconds: 0), answeredAt: Instant(nanoseconds: 0),
                machine: WallTime(milliseconds: 0))
        }
        #expect(ends.map(\.wall.milliseconds) == [0, 253_402_300_799_000])
        for end in ends { #expect(EngineClock(end).wall(at: Instant(nanoseconds: 2_000_000_000)) >= end.wall) }
    }

    @Test("reports once that the machine's own clock is off by more than a second, and when that changes")
    func tells() {
        var watch = ClockWatch()
        #expect(watch.read(Self.reading(0, at: 0, machine: 900)) == nil)
        #expect(watch.read(Self.reading(1_000, at: 1, machine: 3_601_000)) == .off(.seconds(3_600)))
        #expect(watch.read(Self.reading(2_000, at: 2, machine: 3_602_400)) == nil)
        #expect(watch.read(Self.reading(3_000, at: 3, machine: 1_000)) == .off(.seconds(-2)))
        // A slow answer reports nothing.
        #expect(watch.read(Self.reading(4_000, at: 4, taking: 4_000, machine: 6_000)) == nil)
        #expect(watch.read(Self.reading(5_000, at: 5, machine: 5_000)) == .right)
        #expect(watch.read(Self.reading(6_000, at: 6, machine: 6_000)) == nil)
    }
}
