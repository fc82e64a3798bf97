import Glibc
import Testing

@testable import EventLoop

@Suite("TimerSource", .timeLimit(.minutes(30)))
struct TimerSourceTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(
        "rounds up to microseconds, so that it is never early",
        arguments: [
            (Int64(0), UInt64(0)), (1, 1), (999, 1), (1000, 1), (1001, 2), (-5, 0), (.max, 9_223_372_036_854_776),
        ])
    func roundsUp(nanoseconds: Int64, microseconds: UInt64) {
        #expect(TimerSource.microseconds(notBefore: nanoseconds) == microseconds)
    }

    @Test("fires at its time: not before, and not up to 250 ms after as sd-event's default accuracy allows")
    func firesOnTime() throws {
        for _ in 0..<3 {
            let (due, pair) = (EventLoop.nowNanoseconds + 3_000_500, DescriptorPair())
            var fired: [Int64] = []
            let timer = try TimerSource(loop: loop) { fired.append(EventLoop.nowNanoseconds) }
            timer.arm(at: due)
            // However late we are: what became ready later comes later.
            let later = try IOSource(loop: loop, descriptor: pair.near, interest: .read, priority: .idle) { [loop] _ in
                pair.receive()
                loop.exit(code: 0)
            }
            let thread = Self.send(to: pair.far, at: due + 20_000_000)
            _ = try loop.run()
            pthread_join(thread, nil)
            #expect(fired.count == 1 && fired.allSatisfy { $0 >= due })
            withExtendedLifetime((timer, later)) {}
        }
    }

    @Test("fires once for each time it is armed")
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

    @Test("does not fire when it is disarmed, dropped or was never armed")
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

    /// Sends a byte at a time of the loop's clock, from a thread of its own.
    private static func send(to descriptor: Int32, at due: Int64) -> pthread_t {
        let order = UnsafeMutablePointer<(descriptor: Int32, due: Int64)>.allocate(capacity: 1)
        order.initialize(to: (descriptor, due))
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            let order = context?.assumingMemoryBound(to: (descriptor: Int32, due: Int64).self)
            guard let (descriptor, due) = order?.move() else { return nil }
            order?.deallocate()
            while case let rest = due - EventLoop.nowNanoseconds, rest > 0 { usleep(UInt32(rest / 1000) + 1) }
            var byte: UInt8 = 0
            _ = write(descriptor, &byte, 1)
            return nil
        }
        var thread = pthread_t()
        precondition(pthread_create(&thread, nil, body, order) == 0)
        return thread
    }
}
