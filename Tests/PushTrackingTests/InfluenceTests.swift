import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

private let halfHour = Duration.seconds(30 * 60)

@Suite("Influenced opens (T4 to T6, T10)")
struct InfluenceTests {
    @Test(
        "T4: a session that starts less than the window after the receipt",
        arguments: [
            (.zero, true), (.milliseconds(1), true), (.milliseconds(1_799_999), true), (halfHour, false),
            (.milliseconds(-1), false),
        ] as [(Duration, Bool)])
    func window(age: Duration, isInfluenced: Bool) {
        var bench = TrackerBench()
        let received = Duration.seconds(100)
        bench.receive(at: received, clock: received + .seconds(3600))
        bench.start(at: received + age, clock: received + .seconds(3600))
        #expect(bench.clock(at: received + .milliseconds(3_605_000)) == [])
        #expect(
            bench.clock(at: received + .milliseconds(3_605_001)) == (isInfluenced ? ["influenced 1 by 2"] : []))
    }

    @Test("T4: its time is the start's, its user the session's, its campaign and message the delivery's")
    func facts() {
        var bench = TrackerBench()
        bench.receive("m1", at: .zero)
        bench.start(at: .milliseconds(60_999))
        bench.clock(at: .seconds(70))
        let event = bench.events.last
        #expect(event?.kind == .influencedOpen)
        #expect(event?.time == 1_700_000_060)
        #expect(event?.seq == SequenceNumber(2))
        #expect(event?.delivery == SequenceNumber(1))
        #expect(event?.externalUserID == "u1")
        #expect(event?.push?.campaignID == "summer")
        #expect(event?.push?.messageID == "m1")
        #expect(event?.deviceID == "phone")
        #expect(event?.appID == "shop")
    }

    @Test("thousands of them are written in parts, each once and in order, even if the daemon dies between two parts")
    func parts() {
        var bench = TrackerBench()
        let count = 2 * Tracker.creditedAtOnce + 7
        for _ in 0..<count { bench.receive(at: .zero) }
        bench.start(at: .seconds(60))
        let all = (1...count).map { "influenced \($0) by \(count + 1)" }
        #expect(bench.clock(at: .seconds(66)) == Array(all.prefix(Tracker.creditedAtOnce)))
        #expect(bench.tracker.isBehind)
        bench.restart(at: .seconds(67))
        #expect(bench.clock(at: .seconds(67)) == Array(all[Tracker.creditedAtOnce..<2 * Tracker.creditedAtOnce]))
        #expect(bench.tracker.isBehind)
        #expect(bench.clock(at: .seconds(67)) == Array(all.suffix(7)))
        #expect(!bench.tracker.isBehind && bench.rows.pendingStarts.isEmpty)
        #expect(bench.clock(at: .seconds(68)) == [])
    }

    @Test("T4, T9, T10: only a delivery displayed to that user on that device in that app, with a campaign")
    func eligibility() {
        var bench = TrackerBench()
        bench.receive(at: .zero, isDisplayed: false)
        bench.receive(at: .zero, campaign: nil)
        bench.receive(at: .zero, user: "u2")
        bench.receive(at: .zero, user: nil)
        bench.receive(at: .zero, device: "tablet")
        bench.receive(at: .zero, device: nil)
        bench.receive(at: .zero, app: "news")
        bench.receive(at: .zero, campaign: "winter")
        bench.start(at: .seconds(60))
        #expect(bench.clock(at: .seconds(66)) == ["influenced 8 by 9"])
        bench.start(at: .seconds(70), user: nil)
        #expect(bench.clock(at: .seconds(80)) == ["influenced 4 by 10"])
    }

    @Test("T4: once for each delivery, after a restart too")
    func once() {
        var bench = TrackerBench()
        bench.receive(at: .zero)
        bench.start(at: .seconds(60))
        bench.end(at: .seconds(61))
        #expect(bench.clock(at: .seconds(80)) == ["influenced 1 by 2", "end of u1 after 1000 ms"])
        bench.restart(at: .seconds(90))
        bench.start(at: .seconds(100))
        #expect(bench.clock(at: .seconds(110)) == [])
    }

    @Test("T6: every delivery in the window has its own, with its own id; with a setting only the latest")
    func credit() {
        for credit in TrackerRules.Credit.allCases {
            var bench = TrackerBench { $0.influencedCredit = credit }
            bench.receive(at: .seconds(20), clock: .seconds(30), campaign: "winter")
            bench.receive(at: .seconds(10), clock: .seconds(30))
            bench.receive(at: .zero, clock: .seconds(30))
            bench.start(at: .seconds(60))
            let all = ["influenced 1 by 4", "influenced 2 by 4", "influenced 3 by 4"]
            #expect(bench.clock(at: .seconds(66)) == (credit == .all ? all : ["influenced 1 by 4"]))
            #expect(bench.rows.violations == [])
        }
    }

    @Test(
        "T6: a direct open from the grace before the start to the grace after it, both included, replaces it",
        arguments: [
            (-5001, false), (-5000, false), (-1, false), (0, false), (4999, false), (5000, false), (5001, true),
        ] as [(Int64, Bool)])
    func grace(offset: Int64, isInfluenced: Bool) {
        // The tap comes before the start, or after it; the clock event is late, so all taps are in time.
        for tapsFirst in [true, false] {
            var bench = TrackerBench()
            let push = bench.receive(at: .zero)
            let other = bench.receive(at: .zero)
            let start = Duration.seconds(60)
            let tap = start + .milliseconds(offset)
            let clock = Duration.seconds(100)
            if tapsFirst { bench.interact(.opened, .delivery(push), at: tap, clock: clock, app: "shop", user: "u1") }
            bench.start(at: start, clock: clock)
            if !tapsFirst { #expect(bench.tap(push, at: tap, clock: clock) == ["opened 1", "open 1"]) }
            let influenced = bench.clock(at: .seconds(106)).compactMap { $0.hasPrefix("influenced 1") ? $0 : nil }
            // After an open before the start, no delivery is left to influence.
            #expect(influenced.isEmpty == (tapsFirst || !isInfluenced))
            #expect(bench.rows.deliveries.contains { $0.row.seq == other && $0.row.isInfluenced })
        }
    }

    @Test("T6: a tap at the very end of the grace is in time, a later one is an open beside the influenced one")
    func endOfGrace() {
        for (tap, expected) in [(5000, [String]()), (5001, ["influenced 1 by 2"])] as [(Int64, [String])] {
            var bench = TrackerBench()
            let push = bench.receive(at: .zero)
            bench.start(at: .seconds(60))
            let time = Duration.seconds(60) + .milliseconds(tap)
            #expect(bench.clock(at: time) == expected)
            #expect(bench.tap(push, at: time) == ["opened 1", "open 1"])
            #expect(bench.clock(at: time + .seconds(1)) == [])
        }
    }

    @Test("a decision survives a restart, and is made at once if its time has passed meanwhile")
    func restart() {
        var bench = TrackerBench()
        let push = bench.receive(at: .zero)
        bench.receive(at: .zero)
        bench.start(at: .seconds(60))
        bench.restart(at: .seconds(61))
        bench.tap(push, at: .seconds(64))
        bench.restart(at: .seconds(1000))
        #expect(bench.nextDue == .milliseconds(65_001))
        #expect(bench.clock(at: .seconds(1000)) == ["influenced 2 by 3"])
        #expect(bench.rows.pendingStarts == [])
        bench.restart(at: .seconds(1000))
        #expect(bench.clock(at: .seconds(2000)) == [])
    }

    @Test("after a restart with the clock set back a decision waits at most the grace")
    func restartInThePast() {
        var bench = TrackerBench()
        bench.receive(at: .zero)
        bench.start(at: .seconds(60))
        bench.restart(at: .seconds(-7200))
        #expect(bench.clock(at: .milliseconds(-7_200_000 + 5001)) == ["influenced 1 by 2"])
    }

    @Test("T7: a start that continues or resumes a session gives none")
    func resumed() {
        var bench = TrackerBench()
        bench.start(at: .zero)
        bench.receive(at: .seconds(10))
        bench.start(at: .seconds(20))
        bench.end(at: .seconds(30))
        bench.receive(at: .seconds(35))
        bench.start(at: .seconds(40))
        #expect(bench.clock(at: .seconds(60)) == [])
    }

    @Test("T8: the session that a tap begins influences the others")
    func tap() {
        var bench = TrackerBench()
        let push = bench.receive(at: .zero)
        bench.receive(at: .zero)
        bench.tap(push, at: .seconds(60))
        #expect(bench.clock(at: .seconds(66)) == ["influenced 2 by 3"])
    }

    @Test("T12: a dismissed delivery can be influenced, and one with a pressed close button")
    func dismissed() {
        var bench = TrackerBench()
        let push = bench.receive(at: .zero, buttons: [.init(id: "no", action: .close)])
        bench.interact(.dismissed, .delivery(push), at: .seconds(1))
        bench.interact(.button("no"), .delivery(push), at: .seconds(2))
        bench.start(at: .seconds(60))
        #expect(bench.clock(at: .seconds(66)) == ["influenced 1 by 4"])
    }

    @Test("a delivery that comes after the start but was received before it is influenced within the grace")
    func lateDelivery() {
        var bench = TrackerBench()
        bench.start(at: .seconds(60))
        bench.receive(at: .seconds(59), clock: .seconds(62))
        bench.receive(at: .seconds(61), clock: .seconds(62))
        #expect(bench.clock(at: .seconds(66)) == ["influenced 2 by 1"])
    }

    @Test("when the clock is set back no delivery received after the start is influenced")
    func clockSetBack() {
        var bench = TrackerBench()
        bench.receive(at: .seconds(3600))
        bench.start(at: .seconds(60))
        #expect(bench.clock(at: .seconds(66)) == [])
        bench.end(at: .seconds(70))
        bench.start(at: .seconds(3700))
        #expect(bench.clock(at: .seconds(3800)).contains("influenced 1 by 4"))
    }
}

@Suite("The window (T5)")
struct WindowTests {
    /// Whether a start influences a delivery of this age, after these earlier starts.
    private func isInfluenced(
        age: Duration, after starts: [Duration], at start: Duration, _ rules: @escaping (inout TrackerRules) -> Void
    ) -> Bool {
        var bench = TrackerBench(rules)
        for time in starts {
            bench.start(at: time, device: "tablet")
            bench.end(at: time, device: "tablet")
            bench.clock(at: time + .seconds(11))
        }
        bench.receive(at: start - age)
        bench.restart(at: start)
        bench.start(at: start)
        return bench.clock(at: start + .seconds(6)).contains { $0.hasPrefix("influenced") }
    }

    @Test(
        "half the mean of the intervals between the user's last ten starts, on any device, and at least half an hour",
        arguments: [
            // No start, one start: half an hour.
            ([], 1800), ([0], 1800),
            // Two starts: half of their interval.
            ([0, 7200], 3600), ([0, 3600], 1800), ([0, 60], 1800),
            // Three: half the mean of two intervals.
            ([0, 3600, 14_400], 3600),
            // Ten: nine intervals. Of eleven the first does not count.
            ([0, 1, 2, 3, 4, 5, 6, 7, 8, 90_000], 5000),
            ([0, 82_000, 82_001, 82_002, 82_003, 82_004, 82_005, 82_006, 82_007, 82_008, 172_000], 5000),
            // Two at the same time.
            ([0, 7200, 7200], 1800),
        ] as [([Int64], Int64)])
    func history(starts: [Int64], window: Int64) {
        let times = starts.map { Duration.seconds($0) }
        let start = Duration.seconds(200_000)
        #expect(isInfluenced(age: .seconds(window) - .milliseconds(1), after: times, at: start) { _ in })
        #expect(!isInfluenced(age: .seconds(window), after: times, at: start) { _ in })
    }

    @Test("a half that is no whole millisecond is not rounded down")
    func fraction() {
        let starts = [Duration.zero, .milliseconds(7_200_001)]
        #expect(isInfluenced(age: .milliseconds(3_600_000), after: starts, at: .seconds(20_000)) { _ in })
        #expect(!isInfluenced(age: .milliseconds(3_600_001), after: starts, at: .seconds(20_000)) { _ in })
    }

    @Test(
        "the window and the rule are settings",
        arguments: [
            (.max, 1800, 3600), (.min, 1800, 1800), (.fixed, 1800, 1800), (.max, 7200, 7200), (.min, 7200, 3600),
            (.fixed, 7200, 7200),
        ] as [(TrackerRules.WindowRule, Int64, Int64)])
    func rules(rule: TrackerRules.WindowRule, fixed: Int64, window: Int64) {
        let starts = [Duration.zero, .seconds(7200)]
        let change = { (rules: inout TrackerRules) in
            rules.windowRule = rule
            rules.influencedWindow = .seconds(fixed)
        }
        #expect(isInfluenced(age: .seconds(window) - .milliseconds(1), after: starts, at: .seconds(20_000), change))
        #expect(!isInfluenced(age: .seconds(window), after: starts, at: .seconds(20_000), change))
    }

    @Test("starts of another user or app do not count; an anonymous user's starts belong to the device")
    func others() {
        var bench = TrackerBench()
        for (user, app, device) in [("u2", "shop", "phone"), ("u1", "news", "phone"), (nil, "shop", "tablet")]
            as [(String?, String, String)]
        {
            bench.start(at: .zero, user: user, device: device, app: app)
            bench.end(at: .seconds(1), device: device, app: app)
            bench.start(at: .seconds(20_000), user: user, device: device, app: app)
            bench.end(at: .seconds(20_001), device: device, app: app)
        }
        bench.clock(at: .seconds(20_100))
        bench.receive(at: .seconds(30_000))
        bench.receive(at: .seconds(30_000), user: nil)
        bench.receive(at: .seconds(30_000), device: "tablet", user: nil)
        bench.start(at: .seconds(32_000))
        bench.start(at: .seconds(32_006), user: nil)
        bench.start(at: .seconds(32_006), user: nil, device: "tablet")
        let influenced = bench.clock(at: .seconds(32_100)).filter { $0.hasPrefix("influenced") }
        #expect(influenced.count == 1 && influenced.first?.hasPrefix("influenced 15") == true, "\(influenced)")
    }

    @Test(
        "an interval over twice the remembered time restarts the history; a start long before the others is ignored")
    func farTimes() {
        let month = Duration.seconds(30 * 86_400)
        // The clock was at 1970 for a while.
        #expect(!isInfluenced(age: halfHour, after: [.seconds(-1_700_000_000), .zero], at: .seconds(86_400)) { _ in })
        #expect(isInfluenced(age: month - .seconds(7), after: [.zero, month * 2], at: month * 3) { _ in })
        var bench = TrackerBench()
        bench.start(at: .zero)
        bench.end(at: .zero)
        bench.receive(at: .seconds(-5_184_100), clock: .seconds(20))
        bench.start(at: .seconds(-5_184_001), clock: .seconds(20))
        #expect(bench.clock(at: .seconds(30)) == [], "a start of its own, but none that counts")
        #expect(bench.rows.pendingStarts == [])
    }
}
