import Testing

@testable import PushModel
@testable import PushRouter

@Suite("An instance from which invocations can be taken back")
struct CancellationTests {
    private var pool = PoolBench(pipeline: 2, supportsCancellation: true)

    @Test("continues after a deadline, without an effect on its other invocations")
    mutating func goesOn() {
        #expect(pool.start(1) == ["open 1"])
        _ = pool.opened(1)
        _ = pool.start(2)
        #expect(pool.stop(1) == ["take back 1 from 1"])
        #expect(pool.answers(1) == [], "it says that it has heard")
        #expect(pool.answers(2) == ["finished 2 handled"])
        #expect(pool.start(3) == ["send 3 as 3 to 1", "started 3"])
    }

    @Test("has no room for another one until it confirms the withdrawal")
    mutating func room() {
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        _ = pool.stop(1)
        #expect(pool.start(3) == [])
        #expect(pool.answers(1) == ["send 3 as 3 to 1", "started 3"])
    }

    @Test("is replaced when it does not confirm within a second")
    mutating func silent() {
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.stop(1)
        #expect(pool.nextDue == .seconds(1))
        pool.at(.seconds(1))
        let effects = pool.clock()
        #expect(effects.first == "close 1", "\(effects)")
    }

    @Test("has a second for each, in any order")
    mutating func several() {
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        _ = pool.stop(1)
        pool.at(.milliseconds(300))
        _ = pool.stop(2)
        #expect(pool.nextDue == .seconds(1))
        pool.at(.milliseconds(500))
        _ = pool.answers(1)
        #expect(pool.nextDue == .milliseconds(1300))
        _ = pool.answers(2)
        #expect(pool.nextDue == .milliseconds(300_500))
    }

    @Test("counts as idle from the confirmation on")
    mutating func idle() {
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.stop(1)
        pool.at(.milliseconds(500))
        _ = pool.answers(1)
        #expect(pool.nextDue == .milliseconds(300_500))
    }
}
