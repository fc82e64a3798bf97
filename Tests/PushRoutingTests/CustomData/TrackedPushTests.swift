import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A push with matching tracks")
struct TrackedPushTests {
    private static func table(_ occasions: [TrackRule.Occasion] = TrackRule.Occasion.allCases) -> RoutingTable {
        var table = RoutingTable.testing()
        table.tracks = [
            TrackRule(
                name: "push", occasions: occasions, identifier: .brazeID(keyValue: "braze_id"),
                event: .init(name: .fact(.occasion)))
        ]
        return table
    }

    private static let payload =
        #"{"extras":{"_ab":"true","cid":"c","google.message_id":"m1","#
        + #""extra":"{\"braze_id\":\"b1\"}"}}"#

    /// The queued entries, each as its event name and its profile.
    private func queued(_ bench: Bench) -> [String] {
        bench.ledger.customData.rows.values.sorted { $0.entry.number < $1.entry.number }.map { row in
            guard row.state == .queued, case .sent(.brazeID(let id)) = row.entry.destination else {
                return "\(row.state)"
            }
            return "\(row.entry.name ?? "") \(id)"
        }
    }

    @Test("queues an entry in the transaction that accepts it")
    func received() throws {
        var bench = Bench(Self.table())
        let effects = try bench.submit(.deliver(Self.payload, to: "phone", user: "u1"))
        #expect(effects.prefix(3) == ["request 1", "device phone u1", "entry 1 queued"], "\(effects)")
        #expect(queued(bench) == ["received b1"])
        let entry = try #require(bench.ledger.customData[1]?.entry)
        #expect(entry.cause == SequenceNumber(1))
        #expect(entry.app == "shop" && entry.device == "phone")
    }

    @Test("queues nothing when no code of the app runs: dropped by FCM, not woken, shown by the system")
    func notReceived() throws {
        var bench = Bench(Self.table())
        try bench.submit(.deliver(Self.payload, to: "phone"))
        try bench.submit(.deliver(Self.payload, to: "phone"))
        #expect(bench.outcome(2) == .duplicate)
        try bench.submit(.deliver(Self.payload, to: "tablet", state: .forceStopped))
        #expect(bench.outcome(3) == .notWoken)
        let shown = #"{"data":{"braze_id":"b1"},"notification":{"title":"T"}}"#
        try bench.submit(.deliver(shown, to: "tablet"))
        #expect(bench.outcome(4) == .shownBySystem)
        #expect(queued(bench) == ["received b1"])
    }

    @Test("queues an entry for a push that the system shows if the tracker has its receipt")
    func shownOnIOS() throws {
        var bench = Bench(Self.table())
        let payload = #"{"aps":{"alert":"Text"},"ab":{"c":"c"},"braze_id":"b1"}"#
        try bench.submit(.deliver(payload, platform: .ios))
        #expect(bench.outcome(1) == .shownBySystem)
        #expect(queued(bench) == ["received b1"])
    }

    @Test("has its entry rejected with the reason and the track when the payload does not name a profile")
    func withoutIdentifier() throws {
        var bench = Bench(Self.table())
        try bench.submit(.deliver(Payload.braze()))
        let row = try #require(bench.ledger.customData[1])
        #expect(row.state == .rejected)
        #expect(row.reason == "braze_id: the payload has no key-value braze_id (track push)")
        #expect(bench.rejections.map(\.number) == [EntryNumber(1)])
        #expect(bench.rejections.map(\.problem.field) == ["braze_id"], "the producer is told")
        try bench.submit(.open(seq: 1))
        #expect(bench.rejections.map(\.number) == [EntryNumber(2)], "of a tap, too")
        try bench.submit(.deliver())
        #expect(bench.rejections.map(\.number) == [EntryNumber(3)], "of a request its own alone")
        #expect(row.entry.destination == .unidentified)
    }

    @Test("queues its open, by the payload; the same tap again queues nothing")
    func openedByPayload() throws {
        var bench = Bench(Self.table([.opened]))
        try bench.submit(.deliver(Self.payload, to: "phone"))
        let tap = Request.open(.payload(JSONDocument(test: Self.payload).root), on: "phone", app: "shop")
        try bench.submit(tap)
        try bench.submit(tap)
        #expect(bench.end(3)?.reason == "not counted: delivery 1 was already opened")
        #expect(queued(bench) == ["opened b1"])
    }

    @Test("queues its open by an id, with the payload from the ledger when the tracker does not keep it")
    func openedByID() throws {
        var bench = Bench(Self.table([.opened]))
        try bench.submit(.deliver(Self.payload, to: "phone"))
        let named = DeliveryReference(.seq(SequenceNumber(1)), app: nil, device: nil)
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) == named)
        let accepted = try #require(bench.ledger.requests[SequenceNumber(1)]?.accepted)
        let deliver = DeliverRequest(payload: JSONDocument(test: Self.payload).root)
        let past = PastDelivery(accepted: accepted, provider: "braze", request: deliver)
        #expect(try bench.submit(.open(seq: 1), past: past).contains("open 1"))
        #expect(queued(bench) == ["opened b1"])
        bench.handle(.reconfigured(Self.table([.received, .dismissed])))
        #expect(bench.router.deliveryToRead(for: .open(seq: 1)) == nil)
    }

    /// Payloads with one button, with and without the ids of deliveries and campaigns.
    private static let taps: [(Platform, payload: String)] =
        [#","google.message_id":"m1""#, ""].flatMap { id in
            [#","cid":"c""#, ""].map { campaign in
                (
                    .android,
                    #"{"extras":{"_ab":"true","t":"T","a":"A","ab_a0_a":"ab_none","ab_a0_id":"go"\#(id)\#(campaign),"#
                        + #""extra":"{\"braze_id\":\"b1\"}"}}"#
                )
            }
        } + [#""c""#, "null"].map { (.ios, #"{"aps":{"alert":"Text"},"ab":{"c":\#($0)},"braze_id":"b1"}"#) }

    /// A tap on one of them, or a press of its button.
    private static func act(
        _ subject: InteractRequest.Subject, _ platform: Platform, button: String? = nil, on device: String? = "phone"
    ) -> Request {
        var interact = InteractRequest(
            target: Target(platform: platform, app: "shop", device: device),
            kind: button == nil ? .opened : .action, subject: subject)
        interact.action = button
        return Request(
            action: .interact(interact), id: nil, at: nil, waitsForOutcome: false, document: JSONDocument(test: "{}"))
    }

    @Test(
        "queues nothing for a missing button or a repeated tap: delivered or not, with or without the device",
        arguments: taps.flatMap { tap in [true, false].map { (tap.0, tap.payload, $0) } })
    func countsNothing(platform: Platform, payload: String, isDelivered: Bool) throws {
        for device in ["phone", nil] {
            var bench = Bench(Self.table([.opened, .action]))
            if isDelivered { try bench.submit(.deliver(payload, to: "phone", platform: platform)) }
            let subject = InteractRequest.Subject.payload(JSONDocument(test: payload).root)
            try bench.submit(Self.act(subject, platform, button: "nosuch", on: device))
            #expect(queued(bench) == [], "a button that is not there, on \(device ?? "no device")")
            for _ in 1...2 { try bench.submit(Self.act(subject, platform, on: device)) }
            #expect(queued(bench) == ["opened b1"], "the same tap twice, on \(device ?? "no device")")
        }
    }

    @Test("queues nothing by an id either: for a missing button, on another device, or a repeated tap")
    func countsNothingByID() throws {
        for subject in [InteractRequest.Subject.delivery(SequenceNumber(1)), .message("m1")] {
            var bench = Bench(Self.table([.opened, .action]))
            try bench.submit(.deliver(Self.payload, to: "phone"))
            let accepted = try #require(bench.ledger.requests[SequenceNumber(1)]?.accepted)
            let deliver = DeliverRequest(payload: JSONDocument(test: Self.payload).root)
            let past = PastDelivery(accepted: accepted, provider: "braze", request: deliver)
            try bench.submit(Self.act(subject, .android, button: "nosuch"), past: past)
            try bench.submit(Self.act(subject, .android, on: "tablet"), past: past)
            #expect(queued(bench) == [])
            for _ in 1...2 { try bench.submit(Self.act(subject, .android), past: past) }
            #expect(queued(bench) == ["opened b1"])
        }
    }

    @Test("queues the acts of two people with the same payload, whose deliveries are unknown")
    func twoDevices() throws {
        var bench = Bench(Self.table([.opened]))
        let subject = InteractRequest.Subject.payload(JSONDocument(test: Self.payload).root)
        for device in ["phone", "tablet"] { try bench.submit(Self.act(subject, .android, on: device)) }
        #expect(queued(bench) == ["opened b1", "opened b1"])
    }

    @Test("queues acts on another provider's push as well")
    func foreign() throws {
        var bench = Bench(Self.table([.opened, .dismissed, .action]))
        let payload = JSONDocument(test: #"{"extras":{"braze_id":"b1","onesignalData":"1"}}"#).root
        try bench.submit(.open(.payload(payload), on: "phone", app: "shop"))
        let states = bench.ledger.customData.states
        #expect(states.count == 1, "\(states)")
    }

    @Test("queues an entry once, whenever the daemon dies")
    func crash() throws {
        var bench = Bench(Self.table())
        try bench.submit(.deliver(Self.payload, to: "phone"))
        bench.crash()
        #expect(bench.router.customDataSummary.queued == 1)
        #expect(queued(bench) == ["received b1"])
    }

    @Test("is never refused for lack of room: the entry is rejected")
    func noRoom() throws {
        var table = Self.table()
        table.customData.pendingMax = 1
        var bench = Bench(table)
        try bench.submit(.event())
        try bench.submit(.deliver(Self.payload, to: "phone"))
        #expect(bench.ledger.customData.states == [.pending, .rejected])
        #expect(bench.outcome(2) == .handedToTracker)
    }
}
