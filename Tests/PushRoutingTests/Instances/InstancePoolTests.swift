import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The instances of a handler that answers by lines")
struct InstancePoolTests {
    @Test("are opened for the first invocation, and get one invocation after the other")
    func one() {
        var pool = PoolBench()
        #expect(pool.start(1) == ["open 1"])
        #expect(pool.start(2) == [])
        #expect(pool.opened(1) == ["send 1 as 1 to 1", "started 1"])
        #expect(pool.answers(1) == ["finished 1 handled", "send 2 as 2 to 1", "started 2"])
        #expect(pool.answers(2, "declined") == ["finished 2 declined"])
        #expect(pool.start(3) == ["send 3 as 3 to 1", "started 3"])
    }

    @Test("have at most Pipeline= invocations outstanding, answered in any order")
    func pipeline() {
        var pool = PoolBench(pipeline: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.start(2) == ["send 2 as 2 to 1", "started 2"])
        #expect(pool.start(3) == [])
        #expect(pool.answers(2) == ["finished 2 handled", "send 3 as 3 to 1", "started 3"])
        #expect(pool.answers(1, "rejected") == [#"finished 1 rejected: the answer says "rejected""#])
    }

    @Test("are at most Instances= many, each opened when all others are busy")
    func instances() {
        var pool = PoolBench(instances: 2, pipeline: 2)
        #expect(pool.start(1) == ["open 1"])
        _ = pool.opened(1)
        #expect(pool.start(2) == ["send 2 as 2 to 1", "started 2", "open 2"])
        _ = pool.opened(2)
        #expect(pool.start(3) == ["send 3 as 3 to 2", "started 3"], "the one with less to do")
        #expect(pool.start(4) == ["send 4 as 4 to 2", "started 4"])
        #expect(pool.start(5) == [])
    }

    @Test(
        "answer by a status; a line with a wrong status is a failure with its reason",
        arguments: [
            (#"{"id":1,"status":"handled","result":"newData"}"#, "finished 1 handled"),
            (#"{"status":"retry","id":1,"retry_after_ms":250}"#, "finished 1 retry 250"),
            (#"{"status":"retry","id":1,"retry_after_ms":-1}"#, "finished 1 retry later"),
            (#"{"id":1,"status":"retry"}"#, "finished 1 retry later"),
            (#"{"id":1,"status":"declined"}"#, "finished 1 declined"),
            (
                #"{"id":1}"#,
                "finished 1 rejected: the answer has a fault: no status, "
                    + "one of handled, retry, declined, rejected"
            ),
            (
                #"{"id":1,"status":"ok"}"#,
                #"finished 1 rejected: the answer has a fault: status: "ok" is not one of handled, retry, "#
                    + "declined, rejected"
            ),
        ])
    func statuses(line: String, effect: String) {
        var pool = PoolBench()
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.writes(line, 1) == [effect])
    }

    @Test(
        "may write lines without an answer, which change nothing",
        arguments: ["", "starting", "[1]", #"{"status":"handled"}"#, #"{"id":2,"status":"handled"}"#, #"{"id":"1"}"#])
    func strayLines(line: String) {
        var pool = PoolBench(pipeline: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.writes(line, 1) == [])
        #expect(pool.answers(1) == ["finished 1 handled"])
        #expect(pool.answers(1) == [], "an answer counts once")
        #expect(pool.start(2) == ["send 2 as 2 to 1", "started 2"])
    }

    @Test("that answer the line of another instance answer nothing, and the other still has it")
    func foreignLine() {
        var pool = PoolBench(instances: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.start(2) == ["open 2"])
        #expect(pool.opened(2) == ["send 2 as 2 to 2", "started 2"])
        #expect(pool.answers(1, by: 2) == [])
        #expect(pool.answers(2, by: 1) == [])
        #expect(pool.answers(1, by: 1) == ["finished 1 handled"])
        #expect(pool.answers(2, by: 2) == ["finished 2 handled"])
    }

    @Test("are replaced after a thousand lines in a row without an answer", arguments: ["x", ""])
    func flood(line: String) {
        var pool = PoolBench(pipeline: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        for _ in 1..<InstancePool.strayLinesMax { #expect(pool.writes(line, 1) == []) }
        #expect(
            pool.writes(line, 1) == [
                "close 1",
                "finished 1 lost: the worker did not answer: wrote 1000 lines that answer no callback",
            ])
    }

    @Test("are replaced at once after a missed deadline; their other invocations fail, with the reason")
    func missed() {
        var pool = PoolBench(pipeline: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        _ = pool.start(3)
        #expect(
            pool.stop(1) == [
                "close 1",
                "finished 2 lost: the worker did not answer: another invocation missed its deadline",
                "open 2",
            ])
        #expect(pool.closed(1) == [], "what is said of one that was closed counts no more")
        #expect(pool.answers(2) == [])
        #expect(pool.opened(2) == ["send 3 as 3 to 2", "started 3"])
    }

    @Test("report that a worker has written no line, until it writes one")
    func silence() {
        var pool = PoolBench()
        _ = pool.start(1)
        _ = pool.opened(1)
        let silence = "the worker has never written a line; a program that writes to a pipe must flush each line"
        #expect(pool.seen == [1: silence])
        _ = pool.writes("", 1)
        #expect(pool.seen == [1: ""])
        _ = pool.answers(1)
        _ = pool.start(2)
        #expect(pool.seen == [1: ""])
    }

    @Test("report of unanswered invocations that the worker wrote a line without an answer, once for each")
    func strayReason() {
        var pool = PoolBench(pipeline: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        for _ in 1...100 { _ = pool.writes("chatter", 1) }
        let text = "the worker wrote a line that is not a JSON object"
        #expect(pool.seen == [1: text, 2: text])
        #expect(pool.sightings == 6, "that it was silent, that it is not, and what it wrote, of each")
        _ = pool.answers(1)
        _ = pool.start(3)
        _ = pool.writes("{}", 1)
        #expect(pool.seen[3] == #"the worker wrote a line without the "id" that it answers"#)
    }

    @Test("that are lost leave repeatable invocations to another instance, ahead of waiting ones")
    func repeated() {
        var pool = PoolBench(pipeline: 2, idempotent: true)
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        _ = pool.start(3)
        #expect(pool.stop(1) == ["close 1", "open 2"])
        #expect(pool.opened(2) == ["send 2 as 3 to 2", "started 2", "send 3 as 4 to 2", "started 3"])
        #expect(pool.answers(2, by: 2) == [], "the id of the first line is nobody's any more")
        #expect(pool.answers(3, by: 2) == ["finished 2 handled"])
    }

    @Test("get a repeatable invocation at most three times")
    func poison() {
        var pool = PoolBench(idempotent: true)
        _ = pool.start(1)
        for id: Int64 in 1...2 {
            _ = pool.opened(id)
            #expect(pool.closed(id) == [])
            pool.at(.seconds(id))
            #expect(pool.clock() == ["open \(id + 1)"])
        }
        _ = pool.opened(3)
        #expect(
            pool.closed(3) == [
                "finished 1 lost: the worker did not answer: ended by signal 9; "
                    + "3 instances received the callback"
            ])
    }

    @Test("are opened again after a failure with a wait that doubles up to 2 s, until one answers")
    func backOff() {
        var pool = PoolBench()
        _ = pool.start(1, within: .seconds(60))
        var time = Duration.zero
        for (id, wait) in [100, 200, 400, 800, 1600, 2000, 2000].enumerated() {
            #expect(pool.failsToOpen(Int64(id) + 1) == [])
            #expect(pool.clock() == [], "not before its time")
            time += .milliseconds(wait)
            #expect(pool.nextDue == time)
            pool.at(time)
            #expect(pool.clock() == ["open \(id + 2)"])
        }
        _ = pool.opened(8)
        _ = pool.answers(1, by: 8)
        _ = pool.start(2)
        _ = pool.closed(8)
        #expect(pool.start(3) == [])
        #expect(pool.nextDue == time + .milliseconds(100))
    }

    @Test("that cannot be opened before a deadline leave the reason")
    func expiring() {
        var pool = PoolBench(socket: true)
        _ = pool.start(1, within: .milliseconds(250))
        #expect(pool.failsToOpen(1, "cannot be connected to: nobody listens on /run/crm") == [])
        pool.at(.milliseconds(100))
        #expect(pool.clock() == ["open 2"])
        #expect(
            pool.failsToOpen(2, "cannot be connected to: nobody listens on /run/crm") == [
                "failed 1: the socket cannot be connected to: nobody listens on /run/crm, 2 times in a row"
            ])
        #expect(pool.start(2, within: .milliseconds(50)).count == 1, "nothing waits for what cannot be in time")
        #expect(pool.start(3, within: .seconds(1)) == [])
        #expect(pool.nextDue == .milliseconds(300))
    }

    @Test("end after IdleTimeout=, first by the end of their input, then by SIGKILL")
    func idle() {
        var pool = PoolBench(idleTimeout: .seconds(10))
        _ = pool.start(1)
        _ = pool.opened(1)
        pool.at(.seconds(5))
        _ = pool.answers(1)
        #expect(pool.nextDue == .seconds(15))
        pool.at(.seconds(15))
        #expect(pool.clock() == ["finish 1"])
        #expect(pool.start(2) == ["open 2"], "it gets nothing more")
        pool.at(.seconds(16))
        #expect(pool.clock() == ["close 1"])
        var other = PoolBench(idleTimeout: nil)
        _ = other.start(1)
        _ = other.opened(1)
        _ = other.answers(1)
        #expect(other.nextDue == nil)
    }

    @Test("may end by themselves after an answer: the next invocation opens another without a wait")
    func endAfterAnswer() {
        var pool = PoolBench(socket: true)
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.answers(1)
        #expect(pool.closed(1, "closed the connection") == [])
        #expect(pool.start(2) == ["open 2"])
    }

    @Test("end at once when the handler is removed, and busy ones after their answers")
    func retired() {
        var pool = PoolBench(instances: 2)
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        _ = pool.opened(2)
        _ = pool.answers(2, by: 2)
        #expect(pool.retire() == ["finish 2"])
        #expect(pool.start(3) == ["open 3"], "what was accepted before still runs")
        #expect(pool.answers(1) == ["finished 1 handled", "send 3 as 3 to 1", "started 3", "finish 3"])
        #expect(pool.answers(3) == ["finished 3 handled", "finish 1"])
        for id: Int64 in 1...3 { #expect(pool.closed(id) == []) }
        #expect(pool.pool.isEmpty)
    }

    @Test("that open at the deadline of a retired pool's last invocation end when that is stopped")
    func openedTooLate() {
        var pool = PoolBench(idleTimeout: nil)
        _ = pool.start(1, within: .seconds(1))
        #expect(pool.retire() == [], "it opens for an invocation")
        pool.at(.seconds(1))
        #expect(pool.opened(1) == [], "nothing is sent at its deadline")
        #expect(pool.stop(1) == ["finish 1"])
    }

    @Test("that break the protocol are replaced, after a wait")
    func lost() {
        var pool = PoolBench(idempotent: true)
        _ = pool.start(1)
        _ = pool.opened(1)
        #expect(pool.lose(1) == ["close 1"])
        pool.at(.milliseconds(100))
        #expect(pool.clock() == ["open 2"])
    }

    @Test("that end after an answer with an unread line leave that invocation to the next instance")
    func unread() {
        var pool = PoolBench()
        _ = pool.start(1)
        _ = pool.opened(1)
        _ = pool.start(2)
        #expect(pool.answers(1) == ["finished 1 handled", "send 2 as 2 to 1", "started 2"])
        #expect(pool.acceptsNoLines(1, leavesLast: true) == ["pass on 2 from 1", "open 2"])
        #expect(pool.opened(2) == ["send 2 as 3 to 2", "started 2"])
        #expect(pool.closed(1) == [], "it had nothing left to lose")
        #expect(pool.answers(3, by: 2) == ["finished 2 handled"])
    }

    @Test("that read the line before the end have it failed, as have instances that never answered")
    func perhapsRead() {
        var pool = PoolBench(pipeline: 3)
        _ = pool.start(1)
        _ = pool.opened(1)
        for seq: Int64 in 2...4 { _ = pool.start(seq) }
        #expect(pool.answers(1) == ["finished 1 handled", "send 4 as 4 to 1", "started 4"])
        #expect(pool.answers(3) == ["finished 3 handled"])
        _ = pool.acceptsNoLines(1, leavesLast: true)
        #expect(pool.closed(1) == ["finished 2 lost: the worker did not answer: ended by signal 9"])
        pool.at(.milliseconds(100))
        #expect(pool.opened(2) == ["send 4 as 5 to 2", "started 4"])
        #expect(pool.acceptsNoLines(2, leavesLast: true) == [], "others would leave it unread as well, and at once")
        #expect(pool.closed(2) == ["finished 4 lost: the worker did not answer: ended by signal 9"])
    }

    @Test(
        "that are lost with very many invocations end 128 of them at once, and a clock event continues with the others")
    func lostWithMuch() {
        let count: Int64 = 1000
        var pool = PoolBench(pipeline: Int(count))
        _ = pool.start(1)
        _ = pool.opened(1)
        for seq in 2...count { _ = pool.start(seq) }
        var effects = pool.closed(1)
        #expect(effects.first?.hasPrefix("finished 1 lost") == true)
        #expect(pool.start(count + 1) == [], "the turn has done enough")
        #expect(pool.stop(count) == [], "it missed its deadline before it was told")
        var ends = 0
        while pool.nextDue == .zero {
            ends += effects.count
            #expect(!effects.isEmpty && effects.count <= 128)
            effects = pool.clock()
        }
        #expect(ends + effects.count == Int(count) - 1)
        pool.at(.milliseconds(100))
        #expect(pool.clock() == ["open 2"])
    }

    @Test("get 128 waiting or returned invocations at once, and a clock event continues with the others")
    func muchThatWaits() {
        let count = 1000
        var pool = PoolBench(pipeline: count, idempotent: true)
        for seq in 1...Int64(count) { _ = pool.start(seq) }
        for id: Int64 in 1...2 {
            var effects = pool.opened(id)
            var sent = 0
            while pool.nextDue == .seconds(id - 1) {
                sent += effects.count / 2
                #expect(!effects.isEmpty && effects.count <= 2 * 128)
                effects = pool.clock()
            }
            #expect(sent + effects.count / 2 == count)
            _ = pool.closed(id)
            pool.at(.seconds(id))
            #expect(pool.clock() == ["open \(id + 1)"])
        }
    }

    @Test(
        "that cannot be opened end 128 invocations at once with the reason, and a clock event ends the others")
    func muchInVain() {
        let count = 1000
        var pool = PoolBench()
        for seq in 1...Int64(count) { _ = pool.start(seq, within: .milliseconds(50)) }
        var effects = pool.failsToOpen(1)
        var ends = 0
        while pool.nextDue == .zero {
            ends += effects.count
            #expect(!effects.isEmpty && effects.count <= 128)
            effects = pool.clock()
        }
        #expect(ends + effects.count == count)
        #expect(pool.pool.isEmpty && pool.pool.queuedCount < 100)
    }

    @Test("that cannot be opened for now: the pool checks waiting invocations once, and each later one alone")
    func lookedAtOnce() {
        var pool = PoolBench()
        for seq: Int64 in 1...500 { _ = pool.start(seq) }
        #expect(pool.failsToOpen(1) == [])
        for seq: Int64 in 501...600 {
            #expect(pool.start(seq, within: .milliseconds(50)) == ["failed \(seq): the worker cannot start"])
            #expect(pool.start(seq + 1000) == [])
        }
        #expect(pool.pool.expiringScans == 1)
        pool.at(.milliseconds(100))
        #expect(pool.clock() == ["open 2"])
        #expect(pool.failsToOpen(2) == [])
        #expect(pool.pool.expiringScans == 2)
    }

    @Test("that do not open leave nothing of the invocations that waited for them")
    func forgotten() {
        var pool = PoolBench()
        _ = pool.start(1)
        for seq: Int64 in 2...10_000 {
            _ = pool.start(seq)
            _ = pool.stop(seq)
            // A retry has the same number.
            _ = pool.start(1_000_000)
            _ = pool.stop(1_000_000)
        }
        #expect(pool.pool.queuedCount < 100)
        #expect(pool.opened(1) == ["send 1 as 1 to 1", "started 1"])
    }

    @Test("whose input ends while they open have their time to end from the moment they are open")
    func endedWhileOpening() {
        var pool = PoolBench()
        _ = pool.start(1)
        _ = pool.stop(1)
        #expect(pool.retire() == ["finish 1"])
        pool.at(.milliseconds(900))
        #expect(pool.opened(1) == [])
        #expect(pool.nextDue == .milliseconds(1900))
    }
}
