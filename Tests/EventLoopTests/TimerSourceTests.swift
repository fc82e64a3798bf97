import Glibc
import Testing

@testable import LinuxSystem

@Suite("TimerSource", .timeLimit(.minutes(30)))
struct TimerSourceTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(
        "rounds up to microseconds, so that it never fires early",
        arguments: [
            (Int64(0), UInt64(0)), (1, 1), (999, 1), (1000, 1), (1001, 2), (-5, 0), (.max, 9_223_372_036_854_776),
        ])
    func roundsUp(nanoseconds: Int64, microseconds: UInt64) {
        #expect(TimerSource.microseconds(notBefore: nanoseconds) == microseconds)
    }

    @Test("fires at its time: not before, and not 250 ms late as with sd-event's default accuracy")
    func firesOnTime() throws {
        var delays: [Int64] = []
        var due: Int64 = 0
        let timer = try TimerSource(loop: loop) {
            delays.append(EventLoop.nowNanoseconds - due)
            loop.exit(code: 0)
        }
        for _ in 0..<6 {
            due = EventLoop.nowNanoseconds + 3_000_500
            timer.arm(at: due)
            _ = try loop.run()
        }
        #expect(delays.count == 6 && delays.allSatisfy { $0 >= 0 })
        // With the default accuracy it would fire at points 250 ms apart, and all but the first timer are armed just
        // behind one. A busy machine may be as late once, but not each time.
        #expect(try #require(delays.dropFirst().min()) < 100_000_000)
    }

    @Test("fires once each time it is armed")
    func firesOnce() throws {
        var calls = 0
        var timer: TimerSource?
        timer = try TimerSource(loop: loop) {
            calls += 1
            if calls < 3 { timer?.arm(at: 0) }
        }
        timer?.arm(at: 0)
        let last = try TimerSource(loop: loop, priority: .idle) { loop.exit(code: 0) }
        last.arm(at: 0)
        _ = try loop.run()
        #expect(calls == 3)
        timer = nil
    }

    @Test("does not fire when it was disarmed, dropped or never armed")
    func staysQuiet() throws {
        let complain = { () -> Void in _ = Issue.record("fired") }
        let disarmed = try TimerSource(loop: loop, handler: complain)
        disarmed.arm(at: 0)
        disarmed.disarm()
        var dropped: TimerSource? = try TimerSource(loop: loop, handler: complain)
        dropped?.arm(at: 0)
        dropped = nil
        let neverArmed = try TimerSource(loop: loop, handler: complain)
        let last = try TimerSource(loop: loop, priority: .idle) { loop.exit(code: 0) }
        last.arm(at: 0)
        _ = try loop.run()
        withExtendedLifetime((disarmed, neverArmed)) {}
    }
}
