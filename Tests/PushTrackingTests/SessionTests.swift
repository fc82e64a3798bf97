import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Sessions (T7, T8)")
struct SessionTests {
    @Test("a session that ends and resumes many times leaves no timers")
    func timers() {
        var tracker = Tracker(stateID: UUID128(high: 1, low: 2))
        var output = TrackerOutput()
        var most = 0
        for number in 1...20_000 as ClosedRange<Int64> {
            let now = WallTime(milliseconds: 1_700_000_000_000 + number / 20)
            let source = TrackerSource(
                cause: SequenceNumber(number), platform: .web, app: "shop", device: "phone", externalID: nil, at: now)
            tracker.session(number % 2 == 0 ? .end : .start, source, now: now, into: &output)
            most = max(most, tracker.timers.count)
        }
        #expect(most < 2100)
        repeat {
            tracker.takeDue(now: WallTime(milliseconds: 1_700_010_000_000), into: &output)
        } while tracker.isBehind
        #expect(tracker.nextDue == nil && tracker.staleTimers == 0)
        #expect(output.events.count { $0.kind == .sessionEnd } == 1)
    }

    @Test("a session begins, continues after further starts, and ends once, with its duration")
    func course() {
        var bench = TrackerBench()
        #expect(bench.start(at: .zero) == ["started", "session 1 of u1"])
        #expect(bench.start(at: .seconds(50)) == ["continued"])
        #expect(bench.end(at: .milliseconds(60_500)) == ["ended"])
        #expect(bench.end(at: .seconds(61)) == ["noSession"])
        #expect(bench.clock(at: .milliseconds(70_500)) == [])
        #expect(bench.clock(at: .milliseconds(70_501)) == ["end of u1 after 60500 ms"])
        #expect(bench.events.last?.time == 1_700_000_060)
        #expect(bench.events.last?.seq == SequenceNumber(3))
        #expect(bench.end(at: .seconds(80)) == ["noSession"])
    }

    @Test(
        "a session resumes within the timeout of its platform, the timeout itself included",
        arguments: [
            (Platform.android, 10_000, true), (.android, 10_001, false), (.ios, 10_000, true), (.ios, 10_001, false),
            (.web, 1_800_000, true), (.web, 1_800_001, false),
        ] as [(Platform, Int64, Bool)])
    func resumption(platform: Platform, pause: Int64, isResumed: Bool) {
        var bench = TrackerBench()
        bench.start(at: .zero, platform: platform)
        bench.end(at: .seconds(60))
        let start = .seconds(60) + Duration.milliseconds(pause)
        let expected = isResumed ? ["continued"] : ["started", "end of u1 after 60000 ms", "session 3 of u1"]
        #expect(bench.start(at: start, platform: platform) == expected)
    }

    @Test("a resumed session ends as one session")
    func resumed() {
        var bench = TrackerBench()
        bench.start(at: .zero)
        bench.end(at: .seconds(60))
        bench.restart(at: .seconds(61))
        bench.start(at: .seconds(65))
        #expect(bench.clock(at: .seconds(75)) == [])
        bench.end(at: .seconds(90))
        bench.restart(at: .seconds(91))
        #expect(bench.clock(at: .seconds(120)) == ["end of u1 after 90000 ms"])
        #expect(bench.rows.sessions == [])
    }

    @Test("another user's start ends the open session and begins a new one; so does a start after an end")
    func otherUser() {
        var bench = TrackerBench()
        bench.start(at: .zero)
        #expect(
            bench.start(at: .seconds(30), user: "u2")
                == ["started", "end of u1 after 30000 ms", "session 2 of u2"])
        bench.end(at: .seconds(40))
        #expect(
            bench.start(at: .seconds(41), user: nil)
                == ["started", "end of u2 after 10000 ms", "session 4 of nobody"])
        #expect(bench.rows.sessions.map(\.number.value) == [4], "the row of the one before is gone")
        #expect(bench.rows.violations == [])
    }

    @Test(
        "the row of a session has the number of the start that began it, the row of a user's starts that of the first")
    func numbers() {
        var bench = TrackerBench()
        for (second, user) in [(0, "u1"), (10, "u2"), (20, "u1"), (21, "u1"), (30, "u2")] {
            bench.start(at: .seconds(second), user: user)
            if second == 20 { bench.restart(at: .seconds(20)) }
        }
        #expect(bench.rows.sessions.map(\.number.value) == [5])
        #expect(bench.rows.starts.map(\.number.value) == [1, 2])
        #expect(bench.rows.starts.map(\.starts.count) == [2, 2])
        #expect(bench.rows.violations == [])
    }

    @Test("a request begins at most one session, so each row has its own number")
    func oneEach() {
        var bench = TrackerBench()
        // The first tap begins a session at once and none when its delivery comes; the press begins one only then, on
        // the delivery's device and for its user. All of them begin one in the same call.
        bench.interact(.opened, .message("m1"), at: .zero, device: "tablet", user: "u2")
        bench.interact(.button("yes"), .message("m1"), at: .zero, device: nil, app: nil, user: nil)
        bench.interact(.button("yes"), .message("m1"), at: .zero, device: "phone", user: "u3")
        bench.receive("m1", at: .seconds(1), buttons: [.init(id: "yes", action: .none)])
        #expect(bench.rows.sessions.map(\.number.value) == [1, 3])
        #expect(bench.rows.starts.map(\.number.value) == [1, 2, 3])
        #expect(bench.rows.starts.map(\.key.owner) == ["u2", "u1", "u3"])
        #expect(bench.rows.violations == [])
    }

    @Test("sessions are separate for each app and device; without a device there is none")
    func places() {
        var bench = TrackerBench()
        bench.start(at: .zero)
        #expect(bench.start(at: .zero, app: "news") == ["started", "session 2 of u1"])
        #expect(bench.start(at: .zero, device: "tablet") == ["started", "session 3 of u1"])
        #expect(bench.start(at: .zero, device: nil) == ["withoutDevice"])
        #expect(bench.end(at: .zero, device: nil) == ["withoutDevice"])
        #expect(bench.end(at: .zero, device: "watch") == ["noSession"])
    }

    @Test("an end ends the open session there, whoever's it is; an end before its start has the duration 0")
    func ends() {
        var bench = TrackerBench()
        bench.start(at: .seconds(10))
        #expect(bench.end(at: .seconds(5), clock: .seconds(11), user: "u2") == ["ended"])
        #expect(bench.clock(at: .seconds(22)) == ["end of u1 after 0 ms"])
    }

    @Test("a clock set back makes no wait longer, and a start before an ended session begins another")
    func clockSetBack() {
        var bench = TrackerBench()
        bench.start(at: .seconds(7200))
        #expect(bench.nextDue == .milliseconds(7_205_001))
        #expect(bench.start(at: .seconds(3600)) == ["continued"])
        #expect(bench.nextDue == .milliseconds(3_605_001))
        bench.end(at: .seconds(3601))
        #expect(bench.start(at: .seconds(1800)) == ["started", "end of u1 after 0 ms", "session 4 of u1"])
        #expect(bench.nextDue == .milliseconds(1_804_001))
    }

    @Test("T8: a tap that opens the app begins a session, also on an opened or unknown delivery")
    func taps() {
        var bench = TrackerBench()
        let push = bench.receive(
            at: .zero, buttons: [.init(id: "yes", action: .none), .init(id: "no", action: .close)])
        #expect(bench.tap(push, at: .seconds(1)) == ["opened 1", "session 2 of u1", "open 1"])
        #expect(bench.tap(push, at: .seconds(2)) == ["duplicate 1"])
        bench.end(at: .seconds(3))
        #expect(bench.tap(push, at: .seconds(13)) == ["duplicate 1"], "it is resumed")
        bench.end(at: .seconds(14))
        #expect(
            bench.interact(.button("yes"), .delivery(push), at: .seconds(30))
                == ["duplicate 1", "end of u1 after 13000 ms", "session 7 of u1"])
        bench.end(at: .seconds(31))
        bench.clock(at: .seconds(42))
        #expect(
            bench.interact(.button("no"), .delivery(push), at: .seconds(43)) == ["closed 1", "open 1 by no: close"])
        #expect(bench.interact(.dismissed, .delivery(push), at: .seconds(44)) == ["dismissed 1"])
        #expect(bench.interact(.opened, .message("?"), at: .seconds(45)) == ["held", "session 11 of u1"])
    }

    @Test("T8: a held press of a button that opens the app begins the session at its own time")
    func heldButton() {
        var bench = TrackerBench()
        #expect(bench.interact(.button("yes"), .message("m1"), at: .seconds(1)) == ["held"])
        bench.receive("m1", at: .seconds(2), buttons: [.init(id: "yes", action: .none)])
        #expect(bench.events.map(\.text) == ["received 2", "session 1 of u1", "open 2 by yes: none"])
        #expect(bench.events[1].time == 1_700_000_001)
    }

    @Test("an open session without an event for the remembered time is over, without an end event")
    func silence() {
        var bench = TrackerBench { $0.remember = .seconds(100) }
        bench.start(at: .zero)
        #expect(bench.start(at: .seconds(100)) == ["continued"])
        #expect(bench.start(at: .seconds(101)) == ["started", "session 3 of u1"])
        #expect(bench.end(at: .seconds(202)) == ["noSession"])
    }
}
