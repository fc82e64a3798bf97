import Testing

@testable import PushModel
@testable import PushRouter

@Suite("After the tracker forgets a person", .timeLimit(.minutes(30)))
struct ForgetTests {
    private static let start = WallTime(milliseconds: 1_700_000_000_000)
    private var tracker = Tracker(stateID: UUID128(high: 1, low: 2))
    private var seq: Int64 = 0

    private func now(_ seconds: Int64) -> WallTime { WallTime(milliseconds: Self.start.milliseconds + seconds * 1000) }

    private mutating func receive(_ message: String, user: String?, device: String?, at seconds: Int64) {
        seq += 1
        var output = TrackerOutput()
        let delivery = TrackedDelivery(
            seq: SequenceNumber(seq), platform: .android, app: "shop", device: device, externalID: user,
            messageID: message, campaignID: "c", receivedAt: now(seconds))
        tracker.receive(delivery, now: now(seconds), into: &output)
    }

    private mutating func open(_ message: String, device: String?, at seconds: Int64) -> InteractionResult {
        seq += 1
        var output = TrackerOutput()
        let interaction = Interaction(
            cause: SequenceNumber(seq), subject: .message(message), act: .opened, platform: .android, app: "shop",
            device: device, externalID: nil, at: now(seconds))
        return tracker.interact(interaction, now: now(seconds), into: &output)
    }

    private mutating func startSession(user: String?, device: String, at seconds: Int64) -> SessionResult {
        seq += 1
        var output = TrackerOutput()
        let source = TrackerSource(
            cause: SequenceNumber(seq), platform: .android, app: "shop", device: device, externalID: user,
            at: now(seconds))
        return tracker.session(.start, source, now: now(seconds), into: &output)
    }

    @Test("nothing is left of what only the person had")
    mutating func memory() {
        receive("a", user: "anna", device: "d1", at: 0)
        _ = startSession(user: "anna", device: "d2", at: 1)
        _ = startSession(user: "anna", device: "d1", at: 1)
        // The starts are decided: only its session holds the second device.
        var output = TrackerOutput()
        tracker.takeDue(now: now(60), into: &output)
        #expect(tracker.pendingStarts.count == 0 && tracker.sessionCount == 2)
        tracker.forget(Person(externalID: "anna"))
        tracker.takeDue(now: now(3600), into: &output)
        #expect(tracker.sessionCount == 0 && tracker.history.count == 0 && tracker.pendingStarts.count == 0)
        // The delivery stays without a name, on the app's place for unnamed devices.
        let devices = tracker.devices.slots.filter { tracker.devices[$0].name != nil }
        #expect(devices.isEmpty && tracker.devices.count <= 1, "\(devices.count) \(tracker.devices.count)")
        #expect(tracker.texts.find("anna") == nil)
    }

    @Test("a tap on the person's delivery is unmatched; a tap of another person is an open")
    mutating func taps() {
        receive("a", user: "anna", device: "d1", at: 0)
        receive("b", user: "ben", device: "d2", at: 0)
        receive("n", user: nil, device: "d1", at: 0)
        receive("s", user: "ben", device: "d1", at: 0)
        tracker.forget(Person(externalID: "anna", devices: ["d1"]))
        #expect(open("a", device: "d1", at: 1).verdict == nil)
        #expect(open("n", device: "d1", at: 1).verdict == nil)
        #expect(open("b", device: "d2", at: 1).verdict == .opened)
        #expect(open("s", device: "d1", at: 1).verdict == .opened, "it names another user")
    }

    @Test("her deliveries give no influenced open, and held decisions about others come at their time")
    mutating func influence() {
        receive("a", user: "anna", device: "d1", at: 0)
        receive("b", user: "ben", device: "d2", at: 0)
        #expect(startSession(user: "anna", device: "d1", at: 1) == .started)
        tracker.forget(Person(externalID: "anna", devices: ["d1"]))
        #expect(startSession(user: "ben", device: "d2", at: 2) == .started, "it takes the place of the other's wait")
        var output = TrackerOutput()
        let wait = tracker.rules.grace.milliseconds / 1000
        tracker.takeDue(now: now(1 + wait + 1), into: &output)
        #expect(output.events.map(\.externalUserID) == [], "the wait of the forgotten start is over; this one's is not")
        tracker.takeDue(now: now(2 + wait + 1), into: &output)
        #expect(output.events.map(\.externalUserID) == ["ben"])
        #expect(output.events.map(\.content.kind) == [.influencedOpen])
    }

    @Test("the session is forgotten: the next start begins a new one, and the old one has no end event")
    mutating func sessions() {
        #expect(startSession(user: "anna", device: "d1", at: 0) == .started)
        #expect(startSession(user: "ben", device: "d2", at: 0) == .started)
        tracker.forget(Person(externalID: "anna", devices: ["d1"]))
        #expect(startSession(user: "anna", device: "d1", at: 1) == .started)
        #expect(startSession(user: "ben", device: "d2", at: 1) == .continued)
    }

    @Test("a forgotten delivery keeps its slot until it is old, and no record reports its end")
    mutating func places() {
        for number in 0..<10 {
            receive("m\(number)", user: number % 2 == 0 ? "anna" : "ben", device: "d\(number)", at: 0)
        }
        tracker.forget(Person(externalID: "anna", devices: (0..<10).map { "d\($0)" }))
        var output = TrackerOutput()
        tracker.takeDue(now: now(tracker.rules.remember.milliseconds / 1000 + 2), into: &output)
        #expect(tracker.count == 0)
        let forgotten = output.records.compactMap { record -> Int64? in
            if case .forgottenDelivery(let seq) = record { seq.value } else { nil }
        }
        #expect(forgotten == [2, 4, 6, 8, 10])
    }

    @Test("an anonymous device is forgotten by its name")
    mutating func device() {
        receive("a", user: nil, device: "d1", at: 0)
        receive("u", user: "anna", device: "d1", at: 0)
        tracker.forget(Person(externalID: nil, devices: ["d1"]))
        #expect(open("a", device: "d1", at: 1).verdict == nil)
        #expect(open("u", device: "d1", at: 1).verdict == nil)
    }
}
