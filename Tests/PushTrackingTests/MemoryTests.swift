import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The tracker's memory")
struct MemoryTests {
    @Test("forgets the oldest deliveries above its capacity, with all facts about them")
    func capacity() {
        var bench = TrackerBench { $0.rememberMax = 2 }
        for seq in 1...3 { bench.receive("m\(seq)", at: .zero) }
        #expect(bench.tracker.count == 2)
        #expect(bench.tracker.delivery(for: .message("m1"), app: nil, device: "phone") == nil)
        #expect(bench.tracker.delivery(for: .message("m1"), app: nil, device: nil) == nil)
        #expect(bench.tracker.delivery(for: .message("m2"), app: nil, device: "phone") != nil)
        #expect(bench.rows.deliveries.map(\.row.seq.value) == [2, 3])
        #expect(bench.receiveText("m1", at: .zero) == ["received 4"], "forgotten, so new again")
        bench.start(at: .seconds(60))
        #expect(bench.clock(at: .seconds(66)) == ["influenced 3 by 5", "influenced 4 by 5"])
    }

    @Test("keeps a name that moved to a later delivery when the earlier one is forgotten")
    func nameGoesOver() {
        var bench = TrackerBench { $0.rememberMax = 2 }
        for _ in 1...3 { bench.receive("m1", at: .zero, hasOwnID: false, digest: 7) }
        for subject in [.message("m1"), .payload(7)] as [Interaction.Subject] {
            #expect(bench.tracker.delivery(for: subject, app: nil, device: "phone")?.seq == SequenceNumber(3))
        }
    }

    @Test("forgets a delivery after the remembered time, by the clock and not by the times of requests")
    func retention() {
        var bench = TrackerBench { $0.remember = .seconds(10) }
        let push = bench.receive(at: .seconds(-999_999), clock: .seconds(100))
        bench.receive(at: .zero, clock: .seconds(110))
        #expect(bench.tracker.count == 2)
        bench.receive(at: .zero, clock: .seconds(111))
        #expect(bench.tracker.count == 2)
        #expect(bench.tap(push, at: .seconds(111)).first == "held")
    }

    @Test("keeps every number, name and list right while thousands of deliveries come and go")
    func manyPages() {
        var bench = TrackerBench { $0.rememberMax = 2500 }
        for number in 1...6000 as ClosedRange<Int64> {
            bench.receive(
                "m\(number)", at: .zero, device: "d\(number % 7)", unique: number % 3 == 0 ? "x\(number)" : nil)
        }
        #expect(bench.tracker.count == 2500)
        for number in 1...6000 as ClosedRange<Int64> {
            let isKept = number > 3500
            let device = "d\(number % 7)"
            for subject in [.delivery(SequenceNumber(number)), .message("m\(number)")] as [Interaction.Subject] {
                let found = bench.tracker.delivery(for: subject, app: "shop", device: device)
                #expect(found?.seq == (isKept ? SequenceNumber(number) : nil))
                if isKept { #expect(found?.messageID == "m\(number)" && found?.device == device) }
            }
        }
        bench.start(at: .seconds(1), device: "d3")
        #expect(bench.clock(at: .seconds(7)).count == (3501...6000).count { $0 % 7 == 3 })
        #expect(bench.rows.violations == [])
    }

    @Test("uses the memory of forgotten deliveries again: that of twice as many as a page has is enough")
    func pagesAgain() throws {
        var rules = TrackerRules()
        rules.rememberMax = 5
        var tracker = Tracker(stateID: TrackerBench.stateID, rules: rules)
        for number in 1...(3 * 8192) as ClosedRange<Int64> {
            var output = TrackerOutput()
            tracker.receive(
                TrackedDelivery(
                    seq: SequenceNumber(number), platform: .android, app: "shop", device: "phone", externalID: "u1",
                    messageID: nil, hasOwnID: false, uniqueID: nil, campaignID: nil, digest: nil,
                    receivedAt: TrackerBench.time(.zero)), now: TrackerBench.time(.zero), into: &output)
        }
        #expect(tracker.count == 5)
        #expect(try #require(tracker.deliveries.oldest) < 2 * 8192)
    }

    @Test("forgets a session and the starts of a user when they were unused for long, with their rows")
    func sessions() {
        var bench = TrackerBench { $0.remember = .seconds(100) }
        for user in 1...20 { bench.start(at: .seconds(Int64(user)), user: "u\(user)", device: "d\(user)") }
        #expect(bench.rows.sessions.count == 20)
        for user in 21...60 {
            bench.start(at: .seconds(1000), user: "u\(user)", device: "d\(user)")
            bench.end(at: .seconds(1000), user: "u\(user)", device: "d\(user)")
        }
        #expect(bench.rows.sessions.count == 40)
        #expect(bench.rows.starts.count == 40)
        bench.clock(at: .seconds(1011))
        #expect(bench.rows.sessions == [])
        #expect(bench.rows.violations == [])
    }

    @Test("forgets the sessions and users unused for longest above their number")
    func users() {
        var bench = TrackerBench { $0.rememberUsersMax = 10 }
        for user in 1...1000 { bench.start(at: .seconds(Int64(user)), user: "u\(user)", device: "d\(user)") }
        #expect(bench.rows.sessions.count == 10)
        #expect(bench.rows.starts.count == 10)
        #expect(bench.rows.sessions.contains { $0.externalID == "u1000" })
        #expect(bench.rows.violations == [])
    }

    @Test("keeps neither a device nor a text of forgotten sessions, once the opens of their starts are decided")
    func forgottenTexts() {
        var bench = TrackerBench { $0.rememberUsersMax = 10 }
        for user in 1...1000 { bench.start(at: .seconds(Int64(user)), user: "u\(user)", device: "d\(user)") }
        repeat { bench.clock(at: .seconds(1010)) } while bench.tracker.isBehind
        #expect(bench.rows.sessions.count == 10 && bench.tracker.devices.count == 10)
        let users = Set(bench.rows.sessions.map(\.externalID) + bench.rows.starts.map { $0.key.owner })
        // The app's name, too.
        #expect(bench.tracker.texts.count <= users.count + 1, "\(bench.tracker.texts.count)")
    }

    @Test("forgets nothing by age while the clock is not believed")
    func unbelieved() {
        var bench = TrackerBench { $0.remember = .seconds(100) }
        let pushes = (1...3).map { bench.receive("m\($0)", at: .seconds($0)) }
        // More than two sessions start together, so that the age of some is checked.
        for user in 1...20 { bench.start(at: .seconds(4), user: "u\(user)", device: "d\(user)") }
        bench.clock(at: .seconds(20))
        let users = bench.rows.starts.map(\.number)

        bench.forgetsByAge = false
        let far = Duration.seconds(1_000_000)
        bench.clock(at: far)
        #expect(bench.tap(pushes[0], at: far).first == "opened 1")
        for user in 1...20 {
            #expect(bench.start(at: far, user: "u\(user)", device: "d\(user)") == ["continued"], "it is open")
        }
        for user in 21...60 { bench.start(at: far, user: "u\(user)", device: "d\(user)") }
        #expect(Set(users).isSubset(of: bench.rows.starts.map(\.number)) && bench.tracker.count == 3)
        #expect(bench.end(at: far, user: "u20", device: "d20") == ["ended"])

        bench.forgetsByAge = true
        bench.clock(at: far + .seconds(1))
        #expect(bench.tracker.count == 0)
        #expect(bench.rows.violations == [])
    }

    @Test("keeps the history when a start comes long after the others by a clock that is not believed")
    func unbelievedHistory() throws {
        var bench = TrackerBench { $0.remember = .seconds(100) }
        bench.start(at: .seconds(1), device: "d1")
        bench.end(at: .seconds(2), device: "d1")
        bench.clock(at: .seconds(60))
        bench.forgetsByAge = false
        bench.start(at: .seconds(1_000_000), device: "d1")
        #expect(try #require(bench.rows.starts.first).starts.count == 2)
        bench.forgetsByAge = true
        bench.start(at: .seconds(2_000_000), device: "d2")
        #expect(try #require(bench.rows.starts.first { $0.key.app == "shop" }).starts.count == 1)
    }

    @Test("forgets deliveries above its capacity by any clock")
    func unbelievedCapacity() {
        var bench = TrackerBench { $0.rememberMax = 2 }
        bench.forgetsByAge = false
        for seq in 1...3 { bench.receive("m\(seq)", at: .zero) }
        #expect(bench.tracker.count == 2)
    }

    @Test("keeps a session that has just begun while all others have ended and wait for their end events")
    func newest() {
        var bench = TrackerBench { $0.rememberUsersMax = 1 }
        bench.start(at: .zero, device: "d1")
        bench.end(at: .seconds(1), device: "d1")
        bench.start(at: .seconds(2), device: "d2")
        #expect(bench.rows.sessions.map(\.key.device) == ["d1", "d2"])
        #expect(bench.clock(at: .seconds(20)) == ["end of u1 after 1000 ms"])
        #expect(bench.end(at: .seconds(21), device: "d2") == ["ended"])
        #expect(bench.rows.violations == [])
    }
}
