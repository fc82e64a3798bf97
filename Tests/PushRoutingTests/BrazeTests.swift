import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Braze payloads and their taps")
struct BrazeTests {
    @Test("the tracker takes a Braze payload over in the transaction that accepts it")
    func oneTransaction() throws {
        var bench = Bench()
        #expect(
            try bench.submit(.deliver(Payload.braze(), to: "phone")) == [
                "request 1", "device phone anonymous", "received 1", "row 1.0 handed_to_tracker",
                "end 1.0 handed_to_tracker",
            ])
        #expect(bench.end(1)?.completion == Completion(by: .tracker, result: .noData))
        #expect(bench.router.requestsInFlight == 0)
        #expect(bench.nextDue == nil)
    }

    @Test("two callbacks for one Braze payload give one receipt")
    func oneReceipt() throws {
        var bench = Bench()
        let payload = Payload.brazeIOS(contentAvailable: true)
        let effects = try bench.submit(.deliver(payload, platform: .ios, state: .foreground))
        #expect(effects.filter { $0 == "received 1" }.count == 1)
        #expect(bench.outcome(1, 0) == .handedToTracker)
        #expect(bench.outcome(1, 1) == .handedToTracker)
        #expect(bench.end(1, 0)?.completion?.options == ["banner", "list", "sound"])
    }

    @Test("a push that the system shows has one row without a callback; a Braze push on iOS also has a receipt")
    func shownBySystem() throws {
        var bench = Bench()
        #expect(
            try bench.submit(.deliver(Payload.brazeIOS(), platform: .ios)) == [
                "request 1", "received 1", "row 1.0 shown_by_system", "end 1.0 shown_by_system",
            ])
        #expect(bench.row(1)?.callback == Callback.none)
        #expect(bench.end(1)?.completion == nil)
        let android = #"{"data":{"_ab":"true","t":"T","a":"A"},"notification":{"title":"T"}}"#
        #expect(
            try bench.submit(.deliver(android)) == [
                "request 2", "row 2.0 shown_by_system", "end 2.0 shown_by_system",
            ])
    }

    @Test("without a Braze instance a service extension still gets the push: it runs in its own process")
    func serviceExtension() throws {
        var bench = Bench()
        let payload = #"{"aps":{"alert":"Text","mutable-content":1,"content-available":1},"ab":{"c":"summer"}}"#
        try bench.submit(.deliver(payload, platform: .ios, sdk: .missing))
        #expect(bench.row(1, 0)?.callback == .serviceExtension && bench.outcome(1, 0) == .handedToTracker)
        #expect(bench.outcome(1, 1) == .sdkNotReady)
    }

    @Test("in the foreground the answer of willPresent decides whether a push was displayed")
    func presentation() throws {
        for (options, isDisplayed) in [
            ([], false), ([.sound, .badge], false), ([.list], true), ([.banner], true), ([.alert], true), (nil, true),
        ] as [([PresentationOption]?, Bool)] {
            var table = RoutingTable.testing()
            table.completion.presentationOptions = options
            var bench = Bench(table)
            let push = Request.deliver(Payload.brazeIOS(), to: "phone", platform: .ios, state: .foreground)
            try bench.submit(push)
            #expect(bench.ledger.tracker.deliveries.map(\.row.isDisplayed) == [isDisplayed])
            try bench.submit(.deliver(Payload.brazeIOS(), to: "phone", platform: .ios))
            #expect(bench.ledger.tracker.deliveries.last?.row.isDisplayed == true, "the system shows it")
        }
    }

    @Test("a click on the web without a campaign is no open, and runs no handler")
    func clickWithoutCampaign() throws {
        var bench = Bench()
        try bench.submit(.deliver(#"{"t":"T","a":"A","ab_ids":{},"u":"/"}"#, to: "phone", platform: .web))
        let click = JSONDocument(test: #"{"url":"/","ab_ids":{},"actionTargets":{}}"#).root
        try bench.submit(.open(.payload(click), on: "phone", app: "shop", platform: .web))
        #expect(bench.row(1)?.provider == bench.row(2)?.provider)
        #expect(bench.outcome(2) == .handedToTracker)
        #expect(bench.end(2)?.reason == "unattributed: delivery 1 has no campaign id")
        #expect(bench.ledger.tracker.interactions.map(\.verdict) == [.unattributed])
    }

    @Test("without a Braze instance an iOS callback is lost; a push that is still shown has a receipt")
    func noInstance() throws {
        var bench = Bench()
        let payload = Payload.brazeIOS(contentAvailable: true)
        #expect(
            try bench.submit(.deliver(payload, platform: .ios, state: .foreground, sdk: .missing)) == [
                "request 1", "received 1", "row 1.0 sdk_not_ready", "end 1.0 sdk_not_ready", "row 1.1 sdk_not_ready",
                "end 1.1 sdk_not_ready",
            ])
        let silent = #"{"aps":{"content-available":1},"ab":{"c":"x"}}"#
        #expect(
            try bench.submit(.deliver(silent, platform: .ios, sdk: .missing)) == [
                "request 2", "row 2.0 sdk_not_ready", "end 2.0 sdk_not_ready",
            ])
        #expect(try bench.submit(.deliver(Payload.braze(), sdk: .missing)).last == "end 3.0 handed_to_tracker")
    }

    @Test("a repeat of a message id beyond FCM's list is handed over again, without a second receipt")
    func repeated() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone"))
        #expect(
            try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone", state: .terminated)) == [
                "request 2", "row 2.0 handed_to_tracker", "end 2.0 handed_to_tracker",
            ])
        #expect(try bench.submit(.deliver(Payload.braze(message: "m1"), to: "tablet")).contains("received 3"))
    }

    @Test("equal request ids of two producers are no message ids of one payload")
    func requestIDs() throws {
        var bench = Bench()
        for uid in [1, 2] as [UInt32] {
            let request = Request.deliver(Payload.brazeIOS(), to: "phone", platform: .ios, id: "a1")
            #expect(try bench.submit(request, uid: uid).contains { $0.hasPrefix("received") })
        }
        #expect(bench.ledger.requests[SequenceNumber(2)]?.accepted.messageID == "a1")
    }

    @Test("an event has the time that the request gives")
    func eventTime() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(), at: WallTime(milliseconds: 1_600_000_000_999)))
        #expect(bench.ledger.events.map(\.time) == [1_600_000_000])
        try bench.submit(.deliver(Payload.braze()))
        #expect(bench.ledger.events.last?.time == 1_700_000_000)
    }

    @Test("a tap by the delivery's number is one open of that delivery, for its device's user")
    func openBySeq() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone", user: "u1"))
        #expect(
            try bench.submit(.open(seq: 1)) == [
                "request 2", "SessionStart 2", "open 1", "row 2.0 handed_to_tracker", "end 2.0 handed_to_tracker",
            ])
        #expect(bench.end(2)?.reason == "direct open of delivery 1")
        let event = try #require(bench.ledger.events.last)
        #expect(event.externalUserID == "u1")
        #expect(event.push?.campaignID == "summer")
        #expect(event.push?.messageID == "m1")
        #expect(event.seq == SequenceNumber(2))
        let accepted = try #require(bench.ledger.requests[SequenceNumber(2)]?.accepted)
        #expect(accepted.device == "phone")
        #expect(accepted.app == "shop")
        #expect(accepted.messageID == "m1")
        #expect(accepted.externalID == "u1")
    }

    @Test("a tap by the message id opens the latest delivery with it, on the device or on any")
    func openByMessage() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "phone"))
        try bench.submit(.deliver(Payload.braze(message: "m1"), to: "tablet"))
        #expect(try bench.submit(.open(.message("m1"), on: "phone", app: "shop")).contains("open 1"))
        #expect(try bench.submit(.open(.message("m1"))).contains("open 2"))
    }

    @Test(
        "a tap by the payload that the platform hands back",
        arguments: [
            (Payload.braze(message: "m1"), Platform.android), (Payload.brazeIOS(), .ios),
        ])
    func openByPayload(payload: String, platform: Platform) throws {
        var bench = Bench()
        try bench.submit(.deliver(payload, to: "phone", platform: platform))
        let tap = Request.open(.payload(JSONDocument(test: payload).root), on: "phone", app: "shop")
        #expect(try bench.submit(tap).contains("open 1"))
        #expect(bench.row(2)?.callback == (platform == .ios ? .didReceiveResponse : Callback.none))
    }

    @Test("a payload that the platform cannot hand back is refused")
    func invalidHandedBack() throws {
        var bench = Bench()
        let tap = Request.open(.payload(JSONDocument(test: #"{"aps":5}"#).root), platform: .ios)
        #expect(throws: Refusal.self) { try bench.submit(tap) }
    }

    @Test("a second tap, a push without a campaign, and an unknown push give no open, and the reason says so")
    func noOpen() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze()))
        try bench.submit(.deliver(Payload.braze(campaign: nil)))
        try bench.submit(.open(seq: 1))
        for (seq, reason) in [
            (1, "not counted: delivery 1 was already opened"),
            (2, "unattributed: delivery 2 has no campaign id"),
        ] as [(Int64, String)] {
            let effects = try bench.submit(.open(seq: seq))
            #expect(!effects.contains { $0.hasPrefix("open") })
            #expect(bench.ends.values.contains { $0.result.reason == reason })
        }
        let unknown = Request.open(.payload(JSONDocument(test: Payload.braze(message: "m9")).root))
        #expect(try bench.submit(unknown).last == "end 6.0 handed_to_tracker")
        #expect(bench.end(6)?.reason == "no matching push yet; waiting up to 5 s (Grace=)")
    }

    @Test(
        "a dismissal has the reason that it is no open, a second press of a closing button that it was counted")
    func noOpenByClosing() throws {
        func act(_ kind: InteractRequest.Kind, _ action: String? = nil) -> Request {
            let subject = InteractRequest.Subject.delivery(SequenceNumber(1))
            let interact = InteractRequest(target: Target(), kind: kind, subject: subject, action: action)
            return Request(
                action: .interact(interact), id: nil, at: nil, waitsForOutcome: false,
                document: JSONDocument(test: "{}"))
        }
        var bench = Bench()
        let buttons = #""ab_a0_a":"ab_none","ab_a0_id":"no","ab_a0_t":"x""#
        try bench.submit(.deliver(#"{"_ab":"true","t":"T","a":"A","cid":"c",\#(buttons)}"#, to: "phone"))
        for request in [act(.dismissed), act(.action, "no"), act(.action, "no")] { try bench.submit(request) }
        #expect(
            bench.end(2)?.reason
                == "dismissed: not an open; a later session can still count as an influenced open")
        #expect(
            bench.end(4)?.reason
                == "not counted: delivery 1 was already opened, or already closed by this button")
    }

    @Test("the row of a request has its transport, and FCM's two priorities")
    func priorities() throws {
        var bench = Bench()
        try bench.submit(
            .deliver(
                #"{"extras":{"google.original_priority":"high","google.delivered_priority":"normal","k":"v"}}"#))
        let row = try #require(bench.ledger.requests[SequenceNumber(1)]?.accepted)
        #expect(row.transport == .fcm)
        #expect(row.originalPriority == .high)
        #expect(row.deliveredPriority == .normal)
    }

    @Test("a tap that comes before its delivery is held for it", arguments: [Platform.android, .ios])
    func held(platform: Platform) throws {
        var bench = Bench()
        try bench.submit(.open(.message("m1"), on: "phone", app: "shop", platform: platform))
        #expect(bench.outcome(1) == .handedToTracker)
        bench.at(.seconds(5))
        let delivery = Request.deliver(
            #"{"gcm.message_id":"m1","aps":{"alert":"x"},"ab":{"c":"summer"},"_ab":"true","t":"","a":"","cid":"summer"}"#,
            to: "phone", platform: platform)
        #expect(try bench.submit(delivery).contains("open 2"))
    }

    @Test("a tap on a notification of another SDK is routed, by the payload or by the delivery in the ledger")
    func othersTap() throws {
        var bench = Bench()
        let payload = JSONDocument(test: #"{"k":"v"}"#).root
        for platform in [Platform.android, .ios] {
            let effects = try bench.submit(.open(.payload(payload), on: "phone", platform: platform))
            #expect(effects.contains { $0.hasPrefix("start") }, "\(effects)")
            #expect(!effects.contains { $0.hasPrefix("open") })
        }
        #expect(bench.row(1)?.callback == Callback.none)
        #expect(bench.row(2)?.callback == .didReceiveResponse)
        #expect(bench.ledger.events.contains { $0.kind == .sessionStart }, "T8")
        try bench.submit(.deliver(Payload.message("m1"), to: "phone"))
        let accepted = try #require(bench.ledger.requests[SequenceNumber(3)]?.accepted)
        let past = PastDelivery(
            accepted: accepted, provider: nil, request: DeliverRequest(payload: payload))
        let effects = try bench.submit(.open(.message("m1"), on: "phone"), past: past)
        #expect(effects.contains("start 4.0 crm"), "\(effects)")
        #expect(bench.runs[.init(4)]?.subject.payload?.rawBytes == payload.rawBytes)
    }

    @Test("a tap on the repeat of a message opens the original delivery")
    func tapOnRepeat() throws {
        var bench = Bench()
        let payload = Payload.braze(message: "m1")
        try bench.submit(.deliver(payload, to: "phone"))
        try bench.submit(.deliver(payload, to: "phone", state: .terminated))
        let accepted = try #require(bench.ledger.requests[SequenceNumber(2)]?.accepted)
        let past = PastDelivery(accepted: accepted, provider: "braze", request: nil)
        #expect(try bench.submit(.open(seq: 2, on: "phone"), past: past).contains("open 1"))
    }

    @Test("a session start after a push, without a tap, is its influenced open after the grace")
    func influenced() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(), to: "phone", user: "u1"))
        bench.at(.seconds(60))
        try bench.submit(.session(on: "phone", user: "u1"))
        let due = try #require(bench.nextDue)
        #expect(due > .seconds(65) && due < .seconds(66))
        bench.at(due)
        #expect(bench.clock() == ["InfluencedOpen 1"])
    }

    @Test("a time far in the future takes no open from another delivery")
    func farFuture() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze()))
        try bench.submit(.deliver(Payload.braze(), at: WallTime(milliseconds: 250_000_000_000_000)))
        #expect(try bench.submit(.open(seq: 1)).contains("open 1"))
    }
}

@Suite("The last known facts of a device")
struct KnownDeviceTests {
    @Test("stand in for a platform and a user that a request leaves out")
    func standsIn() throws {
        var bench = Bench()
        #expect(
            try bench.submit(.deliver(Payload.otherIOS, to: "phone", platform: .ios, user: "u1")).contains(
                "device phone u1"))
        let effects = try bench.submit(.deliver(Payload.otherIOS, to: "phone", platform: nil))
        #expect(!effects.contains { $0.hasPrefix("device") })
        let accepted = try #require(bench.ledger.requests[SequenceNumber(2)]?.accepted)
        #expect(accepted.platform == .ios)
        #expect(accepted.externalID == "u1")
    }

    @Test("are separate for each app, and missing without a device")
    func apart() throws {
        var bench = Bench()
        try bench.submit(.deliver(to: "phone", user: "u1"))
        try bench.submit(.deliver(to: "phone", app: "news"))
        #expect(try bench.submit(.deliver()) == ["request 3", "row 3.0 started", "start 3.0 crm"])
        #expect(bench.ledger.requests[SequenceNumber(2)]?.accepted.externalID == nil)
        #expect(bench.ledger.requests[SequenceNumber(3)]?.accepted.externalID == nil)
        #expect(bench.ledger.requests[SequenceNumber(3)]?.accepted.platform == .android)
    }

    @Test("are kept for a limited number of devices; the one unused for longest is forgotten")
    func bounded() throws {
        var bench = Bench(devicesMax: 2)
        for device in ["a", "b", "a"] { try bench.submit(.deliver(to: device, user: "u")) }
        let effects = try bench.submit(.deliver(to: "c", user: "u"))
        #expect(effects.contains("device c u") && effects.contains("forget device 2"))
        #expect(bench.ledger.devices.mapValues(\.key.device) == [SequenceNumber(1): "a", SequenceNumber(4): "c"])
        bench.crash()
        #expect(try bench.submit(.deliver(to: "d", user: "u")).contains("forget device 1"), "after a restart too")
        #expect(bench.ledger.violations == [])
    }

    @Test("keep the number of the request that first named the device; a forgotten device gets a new number")
    func number() throws {
        var bench = Bench(devicesMax: 1)
        for user in ["u1", "u2"] { try bench.submit(.deliver(to: "a", user: user)) }
        bench.crash()
        try bench.submit(.deliver(to: "a", user: "u3"))
        #expect(bench.ledger.devices.mapValues(\.externalID) == [SequenceNumber(1): "u3"])
        for device in ["b", "a"] { try bench.submit(.deliver(to: device, user: "u")) }
        #expect(bench.ledger.devices.mapValues(\.key.device) == [SequenceNumber(5): "a"])
        #expect(bench.ledger.violations == [])
    }

    @Test("keep their user after a tap that names the delivery alone")
    func keptByTap() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.braze(), to: "phone", user: "u1"))
        try bench.submit(.open(seq: 1))
        try bench.submit(.deliver(Payload.braze(), to: "phone"))
        #expect(bench.ledger.requests[SequenceNumber(3)]?.accepted.externalID == "u1")
    }

    @Test("belong to the app that an .apns file names")
    func appOfPayload() throws {
        var bench = Bench()
        let file = #"{"Simulator Target Bundle":"shop","aps":{"alert":"Text"}}"#
        try bench.submit(.deliver(Payload.otherIOS, to: "phone", platform: .ios, user: "u1"))
        try bench.submit(.deliver(file, to: "phone", app: nil, platform: .ios))
        let accepted = try #require(bench.ledger.requests[SequenceNumber(2)]?.accepted)
        #expect(accepted.app == "shop")
        #expect(accepted.externalID == "u1")
    }

    @Test("the last known facts of a device survive a restart")
    func restart() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.otherIOS, to: "phone", platform: .ios, user: "u1"))
        bench.crash()
        try bench.submit(.deliver(Payload.otherIOS, to: "phone", platform: nil))
        #expect(bench.ledger.requests[SequenceNumber(2)]?.accepted.externalID == "u1")
    }
}
