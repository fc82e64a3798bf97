import PushModel
import PushTracking
import Testing

@Suite("The tracker of opens")
struct TrackerTests {
    @Test("a delivery is received once, with the facts of the delivery and whole seconds")
    func received() throws {
        var tracker = Tracker(stateID: state)
        let delivery = delivery(1, message: "m1", at: 1_700_000_000_999)
        let received = tracker.receive(delivery, hasOwnID: true, now: delivery.receivedAt)
        let event = try #require(received)
        #expect(event.kind == .received)
        #expect(event.time == 1_700_000_000)
        #expect(event.seq == SequenceNumber(1))
        #expect(event.delivery == SequenceNumber(1))
        #expect(event.externalUserID == "u1")
        #expect(event.deviceID == "phone")
        #expect(event.appID == "shop")
        #expect(event.campaignID == "summer")
        #expect(event.messageID == "m1")
    }

    @Test("times before 1970 are rounded down as well")
    func early() {
        var tracker = Tracker(stateID: state)
        let event = tracker.receive(delivery(1, at: -1), hasOwnID: false, now: WallTime(milliseconds: 0))
        #expect(event?.time == -1)
    }

    @Test("T1, T2: the first tap is an open, any other counts nothing")
    func opens() throws {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(1))
        guard case .opened(let event) = tracker.tap(1, cause: 2) else {
            Issue.record("it was not opened")
            return
        }
        #expect(event.kind == .open)
        #expect(event.seq == SequenceNumber(2))
        #expect(event.delivery == SequenceNumber(1))
        #expect(event.buttonActionType == nil)
        #expect(tracker.tap(1, cause: 3) == .alreadyOpened)
    }

    @Test(
        "the user of the tap is the one who taps, else the one who received it",
        arguments: [
            ("u2", "u2"), (nil, "u1"),
        ] as [(String?, String)])
    func user(tapping: String?, expected: String) {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(1))
        guard case .opened(let event) = tracker.tap(1, cause: 2, by: tapping) else {
            Issue.record("it was not opened")
            return
        }
        #expect(event.externalUserID == expected)
    }

    @Test("T3: without a campaign a tap is nobody's, once")
    func unattributed() {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(1, campaign: nil))
        #expect(tracker.tap(1, cause: 2) == .unattributed)
        #expect(tracker.tap(1, cause: 3) == .alreadyOpened)
    }

    @Test("a tap on what is not remembered is unknown")
    func unknown() {
        var tracker = Tracker(stateID: state)
        #expect(tracker.tap(1, cause: 2) == .unknown)
    }

    @Test("T14: a repeat of a message on its device and app is not received again; elsewhere it is")
    func repeats() {
        var tracker = Tracker(stateID: state)
        #expect(tracker.take(delivery(1, message: "m1")) == true)
        #expect(tracker.take(delivery(2, message: "m1")) == false)
        #expect(tracker.take(delivery(3, message: "m1", device: "tablet")) == true)
        #expect(tracker.take(delivery(4, message: "m1", app: "news")) == true)
        #expect(tracker.take(delivery(5, message: "m2")) == true)
        #expect(tracker.take(delivery(6, message: nil)) == true)
        #expect(tracker.take(delivery(7, message: nil)) == true)
    }

    @Test("an id that is only the request's tells no repeat")
    func requestID() {
        var tracker = Tracker(stateID: state)
        for seq in 1...2 as ClosedRange<Int64> {
            let delivery = delivery(seq, message: "a1", platform: .ios)
            #expect(tracker.receive(delivery, hasOwnID: false, now: delivery.receivedAt) != nil)
        }
    }

    @Test("the delivery that is meant is the latest of its name, on the device or on any")
    func names() {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(1, message: "m1"))
        tracker.take(delivery(2, message: "m1", device: "tablet"))
        tracker.take(delivery(3, message: nil, platform: .ios))
        tracker.take(delivery(4, message: nil, platform: .ios))
        let found = { (subject: Subject, app: String?, device: String?) in
            tracker.delivery(for: subject, app: app, device: device)?.seq.value
        }
        #expect(found(.message("m1"), "shop", "phone") == 1)
        #expect(found(.message("m1"), nil, "tablet") == 2)
        #expect(found(.message("m1"), nil, nil) == 2)
        #expect(found(.message("m1"), "news", "phone") == nil)
        #expect(found(.message("m1"), nil, "watch") == nil)
        #expect(found(.campaign("summer"), nil, "phone") == 4)
        #expect(found(.delivery(SequenceNumber(1)), nil, nil) == 1)
        #expect(found(.delivery(SequenceNumber(1)), nil, "tablet") == nil)
        #expect(found(.delivery(SequenceNumber(9)), nil, nil) == nil)
    }

    @Test("on Android a campaign is no name: every payload has an id")
    func noCampaignName() {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(1, message: nil))
        #expect(tracker.delivery(for: .campaign("summer"), app: nil, device: "phone") == nil)
    }

    @Test("one that waited in its lane is no later than those that came after it")
    func latestByNumber() {
        var tracker = Tracker(stateID: state)
        tracker.take(delivery(2, message: "m1", app: nil))
        tracker.take(delivery(1, message: "m1"))
        #expect(tracker.delivery(for: .message("m1"), app: nil, device: "phone")?.seq == SequenceNumber(2))
    }
}

@Suite("What the tracker forgets")
struct TrackerMemoryTests {
    @Test("above its capacity the oldest go, and their names with them")
    func capacity() {
        var tracker = Tracker(stateID: state, capacity: 2)
        for seq in 1...3 as ClosedRange<Int64> { tracker.take(delivery(seq, message: "m\(seq)")) }
        #expect(tracker.count == 2)
        #expect(tracker.tap(1, cause: 9) == .unknown)
        #expect(tracker.delivery(for: .message("m1"), app: nil, device: "phone") == nil)
        #expect(tracker.delivery(for: .message("m1"), app: nil, device: nil) == nil)
        #expect(tracker.delivery(for: .message("m2"), app: nil, device: "phone") != nil)
        #expect(tracker.take(delivery(4, message: "m1")) == true, "forgotten, so new again")
    }

    @Test("a name that went over to a later delivery stays when the earlier one goes")
    func nameGoesOver() {
        var tracker = Tracker(stateID: state, capacity: 2)
        tracker.take(delivery(1, message: nil, platform: .ios))
        tracker.take(delivery(2, message: nil, platform: .ios))
        tracker.take(delivery(3, message: "m3"))
        #expect(tracker.delivery(for: .campaign("summer"), app: nil, device: "phone")?.seq == SequenceNumber(2))
    }

    @Test("after the retention a delivery is forgotten, by the clock and not by the times that requests give")
    func retention() {
        var tracker = Tracker(stateID: state, retention: .seconds(10))
        let now = { (seconds: Int64) in WallTime(milliseconds: seconds * 1000) }
        _ = tracker.receive(delivery(1, message: "m1", at: 999_999_000), hasOwnID: true, now: now(100))
        _ = tracker.receive(delivery(2, message: "m2", at: 0), hasOwnID: true, now: now(110))
        #expect(tracker.count == 2)
        _ = tracker.receive(delivery(3, message: "m3", at: 0), hasOwnID: true, now: WallTime(milliseconds: 110_001))
        #expect(tracker.count == 2)
        #expect(tracker.tap(1, cause: 9) == .unknown)
    }

    @Test("what is restored from the events, in order of their requests, is what was known")
    func restore() {
        var live = Tracker(stateID: state)
        var events: [AnalyticsEvent] = []
        // 4 waited in its lane and was taken over last.
        for (seq, message) in [(1, "m1"), (2, "m2"), (3, "m1"), (5, "m3"), (4, "m3")] as [(Int64, String)] {
            let delivery = delivery(seq, message: message, at: seq * 1000)
            if let event = live.receive(delivery, hasOwnID: true, now: delivery.receivedAt) { events.append(event) }
        }
        if case .opened(let event) = live.tap(2, cause: 6) { events.append(event) }
        var restored = Tracker(stateID: state)
        for event in events.sorted(by: { $0.seq < $1.seq }) { restored.restore(event) }
        #expect(restored.count == live.count)
        for seq in 1...6 as ClosedRange<Int64> {
            let subject = Subject.delivery(SequenceNumber(seq))
            #expect(
                restored.delivery(for: subject, app: nil, device: nil)
                    == live.delivery(for: subject, app: nil, device: nil))
        }
        for message in ["m1", "m2", "m3"] {
            let subject = Subject.message(message)
            #expect(
                restored.delivery(for: subject, app: nil, device: "phone")
                    == live.delivery(for: subject, app: nil, device: "phone"))
        }
        #expect(restored.take(delivery(7, message: "m1")) == false, "a repeat after the restart")
        #expect(restored.tap(2, cause: 8) == .alreadyOpened)
        #expect(restored.tap(1, cause: 8) == live.tap(1, cause: 8))
    }

    @Test("an open of a delivery that is no longer in the ledger restores nothing")
    func restoreOpenAlone() {
        var live = Tracker(stateID: state)
        live.take(delivery(1))
        guard case .opened(let event) = live.tap(1, cause: 2) else {
            Issue.record("it was not opened")
            return
        }
        var restored = Tracker(stateID: state)
        restored.restore(event)
        #expect(restored.count == 0)
    }
}

@Suite("Event ids")
struct EventIdentifierTests {
    @Test(
        "are UUIDs of version 8 and of the variant of RFC 9562",
        arguments: [
            UUID128(high: 0, low: 0), UUID128(high: .max, low: 0), UUID128(high: .max, low: .max), state,
        ])
    func bits(state: UUID128) {
        for seq in [1, 41, 0xFFFF_FFFF_FFFF] as [Int64] {
            for kind in AnalyticsEvent.Kind.allCases {
                let id = AnalyticsEvent.identifier(state: state, cause: SequenceNumber(seq), kind: kind)
                #expect(id.high >> 12 & 0xF == 8)
                #expect(id.low >> 62 == 0b10)
            }
        }
    }

    @Test("are the same for the same cause, and never for two")
    func unique() {
        var seen: Set<UUID128> = []
        for seq in 1...5000 as ClosedRange<Int64> {
            for kind in AnalyticsEvent.Kind.allCases {
                let id = AnalyticsEvent.identifier(state: state, cause: SequenceNumber(seq), kind: kind)
                #expect(seen.insert(id).inserted)
                #expect(id == AnalyticsEvent.identifier(state: state, cause: SequenceNumber(seq), kind: kind))
            }
        }
    }

    @Test("differ between state directories")
    func states() {
        let one = AnalyticsEvent.identifier(state: UUID128(high: 1, low: 4), cause: SequenceNumber(1), kind: .open)
        let other = AnalyticsEvent.identifier(state: UUID128(high: 1, low: 8), cause: SequenceNumber(1), kind: .open)
        #expect(one != other)
    }

    @Test("never change: this one is in ledgers")
    func fixed() {
        let id = AnalyticsEvent.identifier(state: state, cause: SequenceNumber(41), kind: .received)
        #expect(id.description == "00000000-0029-8001-840c-99d16ea6226a")
    }
}

private let state = UUID128(high: 0x0123_4567_89AB_CDEF, low: 0x1111_2222_3333_4444)

private func delivery(
    _ seq: Int64, message: String? = nil, device: String? = "phone", app: String? = "shop",
    platform: Platform = .android, campaign: String? = "summer", at time: Int64 = 1_700_000_000_000
) -> TrackedDelivery {
    TrackedDelivery(
        seq: SequenceNumber(seq), platform: platform, app: app, device: device, externalID: "u1", messageID: message,
        campaignID: campaign, receivedAt: WallTime(milliseconds: time))
}

extension Tracker {
    /// Takes over a delivery whose id is its own, at the time it was received; whether it is new.
    @discardableResult
    fileprivate mutating func take(_ delivery: TrackedDelivery) -> Bool {
        receive(delivery, hasOwnID: true, now: delivery.receivedAt) != nil
    }

    fileprivate mutating func tap(_ seq: Int64, cause: Int64, by user: String? = nil) -> OpenResult {
        open(SequenceNumber(seq), by: user, cause: SequenceNumber(cause), at: WallTime(milliseconds: 1_700_000_100_000))
    }
}
