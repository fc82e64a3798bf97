import PushModel
import TestSupport
import Testing

@testable import PushTracking

/// No turn of the loop may be long, whatever clients send; so what one go does is bounded, and counted here.
@Suite("What the tracker does in one go")
struct TurnTests {
    @Test("goes by the deliveries that are looked at: starts of many users on one device are decided over several")
    func startsOnOneDevice() {
        var bench = TrackerBench()
        for _ in 1...10_000 { bench.receive(at: .zero, user: "somebody") }
        let push = bench.receive(at: .zero, user: "u200")
        for user in 1...256 { bench.start(at: .seconds(1), user: "u\(user)") }
        var credited: [String] = []
        var goes = 0
        repeat {
            let before = bench.rows.pendingStarts.count
            credited += bench.clock(at: .seconds(7))
            let decided = before - bench.rows.pendingStarts.count
            #expect((1...27).contains(decided), "\(decided) starts, each a look at 10,001 deliveries")
            goes += 1
        } while bench.tracker.isBehind && goes < 300
        #expect(bench.rows.pendingStarts.isEmpty && bench.tracker.pendingStarts.count == 0)
        #expect(credited == ["influenced \(push) by 10201"])
        #expect(bench.rows.violations == [])
    }

    @Test("ends with 256 taps on one message that wait on one device: one more is unmatched at once")
    func tapsOnOneMessage() {
        var bench = TrackerBench()
        for _ in 1...256 { #expect(bench.interact(.opened, .message("m1"), at: .zero).first == "held") }
        #expect(bench.interact(.opened, .message("m1"), at: .zero) == ["unmatched"])
        #expect(bench.interact(.opened, .message("m1"), at: .zero, device: "tablet").first == "held")
        #expect(bench.interact(.opened, .message("m2"), at: .zero).first == "held")
        #expect(bench.rows.held.count == 258)
        let settled = bench.receiveText("m1", at: .seconds(1)).filter { $0.contains(" is ") }
        #expect(settled.count == 256 && settled.first == "1 is opened 260" && settled.last == "256 is duplicate 260")
        #expect(bench.rows.interactions.count == 257)
        var late = bench.clock(at: .seconds(6))
        while bench.tracker.isBehind { late += bench.clock(at: .seconds(6)) }
        #expect(late.sorted() == ["258 is elsewhere 260", "259 is unmatched"])
        #expect(bench.rows.violations == [])
    }

    @Test("takes out at most 8 timers that mean nothing any more, and yet they never become most of what there is")
    func staleTimers() {
        var bench = TrackerBench()
        let names = (1...1300).map { "d\($0)" }
        for name in names { bench.start(at: .zero, device: name) }
        repeat { bench.clock(at: .seconds(6)) } while bench.tracker.isBehind
        #expect(bench.tracker.timers.count == 0)
        var most = 0
        for name in names {
            bench.end(at: .seconds(7), device: name)
            // It goes on, so its end is none, and the timer of that is stale.
            let before = bench.tracker.timers.count
            bench.start(at: .seconds(7), device: name)
            most = max(most, before - bench.tracker.timers.count)
        }
        #expect((1...8).contains(most), "\(most) at once")
        #expect(bench.tracker.timers.count <= 1010 && bench.tracker.staleTimers == bench.tracker.timers.count)
        repeat { #expect(bench.clock(at: .seconds(20)).isEmpty) } while bench.tracker.isBehind
        #expect(bench.tracker.timers.count == 0 && bench.tracker.staleTimers == 0)
        #expect(bench.rows.sessions.count == 1300)
    }
}
