import Testing

@testable import LinuxSystem

@Suite("DeferSource", .timeLimit(.minutes(30)))
struct DeferSourceTests {
    let loop: EventLoop
    let pair = DescriptorPair()

    init() throws { loop = try EventLoop() }

    @Test("calls its handler repeatedly while it is enabled, and not when it is disabled")
    func again() throws {
        var calls = 0
        var work: DeferSource?
        work = try DeferSource(loop: loop) {
            calls += 1
            if calls == 5 { work?.isEnabled = false }
        }
        work?.isEnabled = true
        let last = try TimerSource(loop: loop, priority: .idle) { [loop] in loop.exit(code: 0) }
        last.arm(at: EventLoop.nowNanoseconds)
        #expect(try loop.run() == 0)
        #expect(calls == 5)
    }

    @Test("may be dropped by its handler")
    func dropped() throws {
        var work: DeferSource?
        work = try DeferSource(loop: loop) { [loop] in
            work = nil
            loop.exit(code: 3)
        }
        work?.isEnabled = true
        #expect(try loop.run() == 3)
    }

    @Test("alternates with ready descriptors and timers of its priority, and with another DeferSource")
    func turns() throws {
        var counts: [String: Int] = [:]
        func count(_ name: String) {
            counts[name, default: 0] += 1
            if counts.values.reduce(0, +) == 400 { loop.exit(code: 0) }
        }
        let works = try ["work", "other work"].map { name in try DeferSource(loop: loop) { count(name) } }
        for work in works { work.isEnabled = true }
        let source = try IOSource(loop: loop, descriptor: pair.near, interest: .read) { _ in count("descriptor") }
        pair.send()
        var timer: TimerSource?
        timer = try TimerSource(loop: loop) {
            timer?.arm(at: 0)
            count("timer")
        }
        timer?.arm(at: 0)
        #expect(try loop.run() == 0)
        #expect(counts.count == 4 && counts.values.allSatisfy { $0 >= 50 }, "\(counts)")
        withExtendedLifetime((works, source)) {}
    }
}
