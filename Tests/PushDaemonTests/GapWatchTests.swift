import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("The watch for gaps")
struct GapWatchTests {
    private static let start: Int64 = 1_795_230_480_000

    /// The clocks, in seconds since the start.
    private func clocks(wall: Double, monotonic: Double, boot: Double? = nil) -> GapWatch.Clocks {
        GapWatch.Clocks(
            wall: time(wall), monotonic: nanoseconds(monotonic), boot: 7_000_000_000 + nanoseconds(boot ?? monotonic))
    }

    private func time(_ seconds: Double) -> WallTime { WallTime(milliseconds: Self.start + Int64(seconds * 1000)) }

    private func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1000) * 1_000_000 }

    private func watch() -> GapWatch { GapWatch(clocks(wall: 0, monotonic: 0)) }

    @Test("reports a clock that is set, ahead or back, once, and no correction of less than a second")
    func steps() {
        var watch = watch()
        #expect(watch.check(clocks(wall: 10.9, monotonic: 10)) == [])
        #expect(
            watch.check(clocks(wall: 3620.9, monotonic: 20))
                == [DaemonGap(.clockStepped, begin: time(20.9), end: time(3620.9))])
        #expect(watch.check(clocks(wall: 3630.9, monotonic: 30)) == [])
        #expect(
            watch.check(clocks(wall: 40, monotonic: 40)) == [
                DaemonGap(.clockStepped, begin: time(3640.9), end: time(40))
            ])
    }

    @Test("reports a suspension, which sets no clock")
    func suspension() {
        var watch = watch()
        #expect(
            watch.check(clocks(wall: 610, monotonic: 10, boot: 610))
                == [DaemonGap(.suspended, begin: time(10), end: time(610))])
        #expect(watch.check(clocks(wall: 620, monotonic: 20, boot: 620)) == [])
        #expect(
            watch.check(clocks(wall: 1000, monotonic: 30, boot: 730)).map(\.kind) == [.suspended, .clockStepped],
            "both at once")
    }

    @Test("reports a stall once it is over, and several in a row as one")
    func stalls() {
        var watch = watch()
        func stalled(_ begin: Double, _ end: Double) -> DaemonGap? {
            watch.stalled(
                from: nanoseconds(begin), to: nanoseconds(end), at: clocks(wall: end, monotonic: end))
        }
        #expect(stalled(1, 2) == nil && stalled(2.5, 4) == nil && stalled(0.5, 4) == nil)
        #expect(watch.check(clocks(wall: 4.5, monotonic: 4.5)) == [], "another may follow")
        #expect(stalled(8, 9) == DaemonGap(.diskStalled, begin: time(0.5), end: time(4)))
        #expect(watch.check(clocks(wall: 10, monotonic: 10)) == [DaemonGap(.diskStalled, begin: time(8), end: time(9))])
        #expect(watch.check(clocks(wall: 20, monotonic: 20)) == [])
        #expect(stalled(21, 22) == nil)
        #expect(
            watch.end(clocks(wall: 22, monotonic: 22)) == [DaemonGap(.diskStalled, begin: time(21), end: time(22))])
    }

    @Test("reports an engine that was away for a second or longer, separately from a time without a standby")
    func engine() {
        var watch = watch()
        func stalled(_ kind: DaemonGap.Kind, _ begin: Double, _ end: Double) -> DaemonGap? {
            watch.stalled(
                kind, from: nanoseconds(begin), to: nanoseconds(end), at: clocks(wall: end, monotonic: end))
        }
        #expect(stalled(.engineAway, 1, 3) == nil && stalled(.unprotected, 3, 5) == nil)
        #expect(stalled(.engineAway, 3.5, 4) == nil, "the lease was renewed later than a batch was written")
        #expect(
            watch.check(clocks(wall: 6, monotonic: 6)) == [
                DaemonGap(.engineAway, begin: time(1), end: time(4)),
                DaemonGap(.unprotected, begin: time(3), end: time(5)),
            ])
        #expect(stalled(.unprotected, 30, 41) == nil && stalled(.engineAway, 37, 41) == nil)
        #expect(
            watch.check(clocks(wall: 50, monotonic: 50)) == [DaemonGap(.unprotected, begin: time(30), end: time(41))],
            "the slow commit waited for the standby")
        #expect(stalled(.engineAway, 7, 7.9) == nil && stalled(.unprotected, 8, 8.9) == nil)
        #expect(watch.end(clocks(wall: 20, monotonic: 20)) == [], "less than a second is none")
    }

    @Test("reports at most sixty gaps of a kind in an hour")
    func storm() {
        var watch = watch()
        var kinds: [DaemonGap.Kind: Int] = [:]
        for turn in 1...200 {
            let seconds = Double(turn) * 10
            // Each look finds the clock one minute further ahead.
            for gap in watch.check(clocks(wall: seconds * 7, monotonic: seconds)) { kinds[gap.kind, default: 0] += 1 }
        }
        #expect(kinds == [.clockStepped: 60])
        #expect(watch.check(clocks(wall: 14_500, monotonic: 2010, boot: 2510)).map(\.kind) == [.suspended])
        #expect(watch.check(clocks(wall: 40_000, monotonic: 3700)).map(\.kind) == [.clockStepped], "an hour later")
    }
}
