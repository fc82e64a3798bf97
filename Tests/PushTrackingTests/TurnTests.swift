import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// A turn of the loop must be short, whatever clients send; so the work of one turn is bounded, and counted here.
@Suite("The tracker's work in one turn")
struct TurnTests {
    @Test("depends on the deliveries searched: starts of many users on one device are decided over several turns")
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

    @Test("has at most 256 held taps on one message and device: one more is unmatched at once")
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

    @Test("removes at most 8 stale timers, and yet stale timers never become the majority")
    func staleTimers() {
        var bench = TrackerBench()
        let names = (1...1300).map { "d\($0)" }
        for name in names { bench.start(at: .zero, device: name) }
        repeat { bench.clock(at: .seconds(6)) } while bench.tracker.isBehind
        #expect(bench.tracker.timers.count == 0)
        var most = 0
        for name in names {
            bench.end(at: .seconds(7), device: name)
            // The session continues, so the timer of its end is stale.
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
