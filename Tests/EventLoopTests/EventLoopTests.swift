import Glibc
import Testing

@testable import LinuxSystem

@Suite("EventLoop", .timeLimit(.minutes(30)))
struct EventLoopTests {
    @Test("returns the first exit code, after the end of the turn")
    func returnsTheExitCode() throws {
        let loop = try EventLoop()
        var events: [String] = []
        let timer = try TimerSource(loop: loop) {
            loop.exit(code: 7)
            loop.exit(code: 8)
            events.append("timer")
        }
        timer.arm(at: 0)
        #expect(try loop.run { events.append("end of turn") } == 7)
        #expect(events == ["timer", "end of turn"])
    }

    @Test("ends a turn once for all ready sources")
    func endsATurnOnce() throws {
        let loop = try EventLoop(turnBudgetNanoseconds: .max)
        let pairs = (0..<3).map { _ in DescriptorPair() }
        var events: [String] = []
        let sources = try pairs.map { pair in
            pair.send()
            return try IOSource(loop: loop, descriptor: pair.near, interest: .read) { _ in
                pair.receive()
                events.append("ready")
            }
        }
        _ = try loop.run {
            events.append("end of turn")
            loop.exit(code: 0)
        }
        #expect(events == ["ready", "ready", "ready", "end of turn"])
        withExtendedLifetime(sources) {}
    }

    @Test("runs the work that handlers leave for the end of a turn once, after all of them; outside a turn at once")
    func leavesForTheEnd() throws {
        let loop = try EventLoop(turnBudgetNanoseconds: .max)
        let pairs = (0..<2).map { _ in DescriptorPair() }
        var events: [String] = []
        loop.atEndOfTurn { events.append("before") }
        #expect(events == ["before"])
        let sources = try pairs.map { pair in
            pair.send()
            return try IOSource(loop: loop, descriptor: pair.near, interest: .read) { [unowned loop] _ in
                pair.receive()
                events.append("ready")
                loop.atEndOfTurn { events.append("left") }
            }
        }
        _ = try loop.run {
            events.append("end of turn")
            loop.atEndOfTurn { loop.atEndOfTurn { events.append("left by what was left") } }
            loop.exit(code: 0)
        }
        let end = ["end of turn", "left", "left", "left by what was left"]
        #expect(events == ["before", "ready", "ready"] + end)
        withExtendedLifetime(sources) {}
    }

    // With an sd_event_add_post source of idle priority the turn never ended: another source was always ready first.
    @Test("ends turns although a source is always ready")
    func endsTurnsUnderLoad() throws {
        let loop = try EventLoop(turnBudgetNanoseconds: 50_000)
        let pair = DescriptorPair()
        let busy = try IOSource(loop: loop, descriptor: pair.near, interest: .write) { _ in }
        var turns = 0
        let code = try loop.run {
            turns += 1
            if turns == 3 { loop.exit(code: 0) }
        }
        #expect(code == 0)
        #expect(turns == 3)
        withExtendedLifetime(busy) {}
    }

    @Test("measures its longest turn, the end included")
    func measuresTheLongestTurn() throws {
        let loop = try EventLoop()
        let spun: Int64 = 2_000_000
        func spin() {
            let start = EventLoop.nowNanoseconds
            while EventLoop.nowNanoseconds - start < spun {}
        }
        let timer = try TimerSource(loop: loop) {
            spin()
            loop.exit(code: 0)
        }
        timer.arm(at: 0)
        _ = try loop.run(endOfTurn: spin)
        #expect(loop.turns.longest >= 2 * spun)
    }

    @Test("traps when another thread uses it")
    func trapsOnAnotherThread() async {
        await #expect(processExitsWith: .failure) {
            let loop = Unmanaged.passRetained(try EventLoop()).toOpaque()
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { context in
                    context.map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue().exit(code: 0) }
                    return nil
                }, loop)
            pthread_join(thread, nil)
        }
    }

    @Test("a running loop sends WATCHDOG=1 to the service manager")
    func answersTheWatchdog() async {
        await #expect(processExitsWith: .success) {
            let manager = try FakeServiceManager()
            setenv("WATCHDOG_USEC", "20000", 1)
            let loop = try EventLoop()
            guard let watchdog = try loop.answerWatchdog() else { fatalError("the watchdog was not asked for") }
            let source = try IOSource(loop: loop, descriptor: manager.descriptor, interest: .read) { _ in
                loop.exit(code: manager.receive() == "WATCHDOG=1" ? 0 : 1)
            }
            guard try loop.run() == 0 else { fatalError("not a watchdog's message") }
            withExtendedLifetime((source, watchdog)) {}
        }
    }

    @Test("sets no watchdog unless the service manager asks for one")
    func setsNoWatchdog() async {
        await #expect(processExitsWith: .success) {
            unsetenv("WATCHDOG_USEC")
            guard try EventLoop().answerWatchdog() == nil else { fatalError("a watchdog that nobody asked for") }
        }
    }
}
