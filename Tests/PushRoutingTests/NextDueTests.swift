import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The router's next timer")
struct NextDueTests {
    /// A router whose tracker waits until 6.001 s for a tap that would make an influenced open a direct one.
    private func waiting(_ table: RoutingTable = .testing()) throws -> Bench {
        var bench = Bench(table)
        try bench.submit(.deliver(Payload.braze(), to: "phone", user: "u1"))
        bench.at(.seconds(1))
        try bench.submit(.session(on: "phone", user: "u1"))
        #expect(bench.nextDue == .milliseconds(6001))
        return bench
    }

    @Test("is the tracker's while its wait ends before a deadline, and the deadline's after it")
    func trackerFirst() throws {
        var bench = try waiting()
        bench.at(.seconds(2))
        try bench.submit(.deliver())
        bench.started(3)
        #expect(bench.nextDue == .milliseconds(6001), "not the deadline, at 11 s")
        bench.at(.milliseconds(6001))
        #expect(bench.clock() == ["InfluencedOpen 1"])
        #expect(bench.nextDue == .seconds(11))
        bench.at(.seconds(11))
        #expect(bench.clock() == ["stop 3.0", "update 3.0 timed_out", "end 3.0 timed_out"])
        #expect(bench.nextDue == nil)
    }

    @Test("is the deadline's while that comes before the end of the tracker's wait, and then the tracker's")
    func deadlineFirst() throws {
        var bench = try waiting(.testing(routes: [.all(to: "crm", budget: .seconds(2))]))
        bench.at(.seconds(2))
        try bench.submit(.deliver())
        bench.started(3)
        #expect(bench.nextDue == .seconds(4))
        bench.at(.seconds(4))
        #expect(bench.clock() == ["stop 3.0", "update 3.0 timed_out", "end 3.0 timed_out"])
        #expect(bench.nextDue == .milliseconds(6001))
        bench.at(.milliseconds(6001))
        #expect(bench.clock() == ["InfluencedOpen 1"])
    }

    @Test("the router's timer moves to an earlier deadline")
    func earlierDeadline() throws {
        var bench = Bench(.testing(routes: [.key("short", to: "crm", budget: .seconds(1)), .all(to: "crm")]))
        try bench.submit(.deliver())
        #expect(bench.nextDue == .seconds(9))
        bench.at(.seconds(2))
        try bench.submit(.deliver(#"{"short":"1"}"#))
        #expect(bench.nextDue == .seconds(3))
    }

    @Test("stays due while many timers are due: each turn handles some of them, in order of time")
    func muchDue() throws {
        var bench = Bench()
        for seq: Int64 in 1...300 {
            bench.at(.milliseconds(seq))
            try bench.submit(.deliver())
        }
        bench.at(.seconds(20))
        var turns: [Int] = []
        while let due = bench.nextDue, due <= .seconds(20) {
            turns.append(bench.clock().count { $0.hasPrefix("end ") })
            let ended = Int64(turns.reduce(0, +))
            #expect(bench.end(ended) != nil && bench.end(ended + 1) == nil)
        }
        #expect(turns.reduce(0, +) == 300 && turns.allSatisfy { $0 <= 64 }, "\(turns)")
    }
}
