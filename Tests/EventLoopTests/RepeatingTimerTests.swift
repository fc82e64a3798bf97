import Testing

@testable import LinuxSystem

@Suite("A repeating timer", .timeLimit(.minutes(30)))
struct RepeatingTimerTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test("fires after the first span, and then at each interval, never early")
    func again() throws {
        let start = EventLoop.nowNanoseconds
        var calls: [Int64] = []
        let timer = try RepeatingTimer(loop: loop, after: .milliseconds(1), every: .milliseconds(2)) { [loop] in
            calls.append(EventLoop.nowNanoseconds)
            if calls.count == 5 { loop.exit(code: 0) }
        }
        let patience = try TimerSource(loop: loop) { [loop] in loop.exit(code: 1) }
        patience.arm(at: start + 10_000_000_000)
        #expect(try loop.run() == 0, "it called \(calls.count) times, and then no more")
        try #require(calls.count == 5)
        #expect(calls[0] - start >= 1_000_000)
        for (one, next) in zip(calls, calls.dropFirst()) { #expect(next - one >= 2_000_000) }
        withExtendedLifetime(timer) {}
    }

    @Test("waits for its interval before the first call by default")
    func withoutFirst() throws {
        let start = EventLoop.nowNanoseconds
        let timer = try RepeatingTimer(loop: loop, every: .milliseconds(3)) { [loop] in loop.exit(code: 0) }
        _ = try loop.run()
        #expect(EventLoop.nowNanoseconds - start >= 3_000_000)
        withExtendedLifetime(timer) {}
    }

    @Test("is silent after it was dropped")
    func dropped() throws {
        var timer: RepeatingTimer? = try RepeatingTimer(loop: loop, every: .zero) { Issue.record("it called") }
        timer = nil
        let last = try TimerSource(loop: loop, priority: .idle) { [loop] in loop.exit(code: 0) }
        last.arm(at: EventLoop.nowNanoseconds + 1_000_000)
        _ = try loop.run()
        #expect(timer == nil)
    }
}
