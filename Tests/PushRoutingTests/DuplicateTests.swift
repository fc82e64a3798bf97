import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.alreadyReceivedMessage.
@Suite("The ten ids that FCM remembers")
struct DuplicateTests {
    @Test("a message with an id of the list is dropped without a callback, whatever its kind")
    func dropped() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.message("m1"), to: "phone"))
        #expect(
            try bench.submit(.deliver(Payload.message("m1"), to: "phone")) == [
                "request 2", "row 2.0 duplicate", "end 2.0 duplicate",
            ])
        #expect(bench.row(2)?.callback == Callback.none)
        let deleted = #"{"extras":{"message_type":"deleted_messages","google.message_id":"m1"}}"#
        #expect(try bench.submit(.deliver(deleted, to: "phone")).last == "end 3.0 duplicate")
    }

    @Test("another device, another app, no device, an empty id or no id make no repeat")
    func noRepeat() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.message("m1"), to: "phone"))
        let others: [Request] = [
            .deliver(Payload.message("m1"), to: "tablet"), .deliver(Payload.message("m1"), to: "phone", app: "news"),
            .deliver(Payload.message("m1")), .deliver(Payload.message("m1")),
            .deliver(Payload.message(""), to: "watch"), .deliver(Payload.message(""), to: "watch"),
            .deliver(to: "car"), .deliver(to: "car"),
        ]
        for other in others {
            #expect(try !bench.submit(other).contains { $0.hasSuffix("duplicate") })
        }
    }

    @Test("iOS and the web have no such list", arguments: [Platform.ios, .web])
    func otherPlatforms(platform: Platform) throws {
        var bench = Bench()
        for _ in 1...2 {
            let request = Request.deliver(#"{"gcm.message_id":"m1","messageId":"m1"}"#, to: "phone", platform: platform)
            #expect(try !bench.submit(request).contains { $0.hasSuffix("duplicate") })
        }
    }

    @Test("the list ends with the process", arguments: [AppState.terminated, .forceStopped])
    func process(state: AppState) throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.message("m1"), to: "phone"))
        try bench.submit(.deliver(Payload.message("m2"), to: "phone", state: state))
        #expect(try !bench.submit(.deliver(Payload.message("m1"), to: "phone")).contains { $0.hasSuffix("duplicate") })
    }

    @Test("a push that the system shows also enters the list")
    func shown() throws {
        var bench = Bench()
        let shown = #"{"extras":{"gcm.n.e":"1","google.message_id":"m1"}}"#
        #expect(try bench.submit(.deliver(shown, to: "phone")).last == "end 1.0 shown_by_system")
        #expect(try bench.submit(.deliver(shown, to: "phone")).last == "end 2.0 duplicate")
    }

    @Test("the list behaves as a model of it", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]))
        // Java's ArrayDeque: an id that it holds is dropped and changes nothing; the eleventh pushes the first out.
        var deque: [String] = []
        for seq in 1...300 as ClosedRange<Int64> {
            let id = "m\(Int.random(in: 0..<14, using: &random))"
            let state: AppState = Int.random(in: 0..<40, using: &random) == 0 ? .terminated : .background
            if state == .terminated { deque = [] }
            let isRepeat = deque.contains(id)
            if !isRepeat {
                if deque.count == 10 { deque.removeFirst() }
                deque.append(id)
            }
            try bench.submit(.deliver(Payload.message(id), to: "phone", state: state))
            #expect((bench.outcome(seq) == .duplicate) == isRepeat, "message \(seq)")
        }
    }
}
