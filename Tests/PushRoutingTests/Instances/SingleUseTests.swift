import Testing

@testable import PushRouter

@Suite("A socket handler with OneInvocation=yes")
struct SingleUseTests {
    private func bench(instances: Int = 2, idempotent: Bool = false) -> PoolBench {
        PoolBench(instances: instances, pipeline: 4, idempotent: idempotent, socket: true, singleUse: true)
    }

    @Test("opens a connection for each invocation, and ends its input after the one line")
    func connections() {
        var pool = bench()
        #expect(pool.start(1) == ["open 1"])
        #expect(pool.opened(1) == ["send 1 as 1 to 1", "finish 1", "started 1"])
        #expect(pool.start(2) == ["open 2"], "none is opened for nothing, and none is used twice")
        #expect(pool.opened(2) == ["send 2 as 2 to 2", "finish 2", "started 2"])
        #expect(pool.start(3) == [], "no more than Instances=")
        #expect(pool.answers(1) == ["finished 1 handled", "close 1", "open 3"])
        #expect(pool.opened(3) == ["send 3 as 3 to 3", "finish 3", "started 3"])
    }

    @Test("needs no id in the answer, and accepts no other id")
    func identifiers() {
        var pool = bench()
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.writes(#"{"id":7,"status":"handled"}"#, 1).contains { $0.hasPrefix("finished") } == false)
        #expect(pool.writes(#"{"status":"declined"}"#, 1) == ["finished 1 declined", "close 1"])
    }

    @Test("whose line has no status waits for the line that reports the end of the run")
    func exitStatus() {
        var pool = bench()
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.writes(#"{"result":"newData"}"#, 1) == [])
        #expect(pool.writes("chatter", 1) == [])
        #expect(pool.writes(#"{"status":"handled","reason":""}"#, 1) == ["finished 1 handled", "close 1"])
    }

    @Test("leaves the output of a run that ends without a status")
    func noStatus() {
        var pool = bench()
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.writes(#"{"result":"newData"}"#, 1)
        #expect(
            pool.closed(1, "closed the connection") == [
                "finished 1 lost: the socket did not answer: closed the connection; it wrote 1 line without a status, "
                    + "which is one of handled, retry, declined, rejected"
            ])
    }

    @Test("fails a run that ends without an answer, and does not hold up the next", arguments: [false, true])
    func silence(idempotent: Bool) {
        var pool = bench(idempotent: idempotent)
        _ = pool.start(1)
        _ = pool.opened(1)
        let effects = pool.closed(1, "closed the connection")
        #expect(
            effects == ["finished 1 lost: the socket did not answer: closed the connection"],
            "it is not given to another either")
        #expect(pool.start(2) == ["open 2"])
    }

    @Test("closes the connection at the deadline, and opens no other for that invocation")
    func deadline() {
        var pool = bench()
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.stop(1) == ["close 1"])
    }
}
