import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("The codes of reasons")
struct ReasonCodeTests {
    @Test("the codes of reasons are lower-case words, each unique")
    func words() {
        for code in ReasonCode.allCases {
            #expect(code.rawValue.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (97...122).contains($0) }, "\(code)")
        }
        #expect(Set(ReasonCode.allCases.map(\.rawValue)).count == ReasonCode.allCases.count)
        #expect(Set(InteractionReason.allCases.map(\.code)).count == InteractionReason.allCases.count)
    }

    @Test("accompany every text of an outcome, and only those", arguments: AppState.allCases)
    func outcomes(state: AppState) throws {
        let payloads: [(Platform, String)] = [
            (.android, Payload.braze(message: "m")), (.android, Payload.deletedMessages),
            (.android, #"{"extras":{"message_type":"x"}}"#), (.android, #"{"notification":{"title":"T"}}"#),
            (.android, #"{"action":"com.amazon.device.messaging.intent.REGISTRATION","extras":{"error":"e"}}"#),
            (.ios, Payload.brazeIOS()), (.ios, Payload.otherIOS), (.ios, #"{"mdm":"x"}"#), (.ios, #"{"aps":{}}"#),
            (.web, #"{"k":"v"}"#),
        ]
        for (platform, payload) in payloads {
            for sdk in SDKState.allCases {
                var bench = Bench(.testing(routes: [], handlers: []))
                try bench.submit(.deliver(payload, to: "d", platform: platform, state: state, sdk: sdk))
                try bench.submit(.open(seq: 1, on: "d"))
                for (id, end) in bench.ends {
                    #expect((end.result.reason == nil) == (end.result.reasonCode == nil), "\(id): \(payload)")
                }
            }
        }
    }

    @Test("each reason of the router has its code")
    func router() throws {
        var bench = Bench(.testing())
        try bench.submit(.deliver(Payload.message("m"), to: "d"))
        try bench.submit(.deliver(Payload.message("m"), to: "d"))
        #expect(bench.end(2)?.reasonCode == .repeatedMessageID)
        bench.at(.seconds(9))
        bench.handle(.clock)
        #expect(
            bench.end(1)?.reasonCode == .noHandlerStartedInTime || bench.end(1)?.reasonCode == .notFinishedAtDeadline)

        bench = Bench(.testing())
        try bench.submit(.deliver())
        bench.started(1)
        bench.finished(1, 0, .rejected(reason: "exit status 3"))
        #expect(bench.end(1)?.reasonCode == .handlerRejected && bench.end(1)?.reason == "exit status 3")
        try bench.submit(.deliver())
        bench.handle(.failedToStart(.init(2), reason: "no such file"))
        #expect(bench.end(2)?.reasonCode == .handlerNotStarted && bench.end(2)?.reason == "no such file")
        try bench.submit(.deliver())
        bench.finished(3, 0, .handled(.init(times: 2)))
        #expect(bench.end(3)?.outcome == .handled && bench.end(3)?.reasonCode == .handledWithRemarks)
        try bench.submit(.deliver())
        bench.finished(4, 0, .signaled(11))
        #expect(bench.end(4)?.reasonCode == .endedBySignal)
        try bench.submit(.deliver())
        bench.finished(5, 0, .declined)
        #expect(bench.end(5)?.reasonCode == .everyRouteDeclined)
        try bench.submit(.token(.unregistered, platform: .ios))
        #expect(bench.end(6)?.reasonCode == .noCallbackForToken)
        try bench.submit(.deliver())
        bench.started(7)
        bench.finished(7, 0, .lost(reason: "the worker that had it ended"))
        // The handler may have finished its work.
        #expect(bench.end(7)?.reasonCode == .handlerLost && bench.end(7)?.outcome == .failed)
    }

    @Test("are in an explanation, one for each reason, in order")
    func explanation() throws {
        let deliver = DeliverRequest(
            sdk: .missing, payload: JSONDocument(test: Payload.brazeIOS(contentAvailable: true)).root)
        let explanation = try Explanation(deliver, platform: .ios, table: .testing())
        #expect(explanation.reasonCodes.count == explanation.reasons.count)
        #expect(explanation.reasonCodes.last == .noBrazeInstance && explanation.reasonCodes.first == .owner)
        let json = try JSONDocument(scanning: explanation.json).root
        #expect(json["reason_codes"]?.elements.compactMap(\.string) == explanation.reasonCodes.map(\.rawValue))
        #expect(json["transport"]?.string == "apns")
    }

    // MARK: A tap without an instance of Braze's SDK

    @Test("a tap on iOS without a Braze instance is lost: sdk_not_ready, no open, but a session")
    func tapWithoutInstance() throws {
        var bench = Bench(.testing())
        try bench.submit(.deliver(Payload.brazeIOS(), to: "d", platform: .ios))
        try bench.submit(.open(seq: 1, on: "d", sdk: .missing))
        #expect(bench.outcome(2) == .sdkNotReady && bench.end(2)?.reasonCode == .noBrazeInstance)
        #expect(bench.ledger.events.map(\.kind) == [.received, .sessionStart])
        // The next tap is not lost.
        try bench.submit(.open(seq: 1, on: "d"))
        #expect(bench.outcome(3) == .handedToTracker && bench.end(3)?.reasonCode == .directOpen)
    }

    @Test("on other platforms the SDK creates its instance itself, and a tap on another SDK's push is not Braze's")
    func tapElsewhere() throws {
        var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]))
        try bench.submit(.deliver(Payload.braze(message: "m"), to: "d"))
        try bench.submit(.open(seq: 1, on: "d", sdk: .missing))
        #expect(bench.outcome(2) == .handedToTracker)
        let other = JSONDocument(test: Payload.otherIOS).root
        try bench.submit(.open(.payload(other), on: "i", platform: .ios, sdk: .missing))
        #expect(bench.outcome(3) == .handled)
    }

    // MARK: Taps on pushes that were not displayed

    @Test(
        "a tap on a push that was not displayed counts as before, and its reason says that it was not displayed")
    func notDisplayed() throws {
        var bench = Bench(.testing())
        try bench.submit(.deliver(#"{"_ab":"true","cid":"c","t":"only a title"}"#, to: "d"))
        try bench.submit(.open(seq: 1, on: "d"))
        #expect(bench.end(2)?.reasonCode == .openedNotDisplayed)
        #expect(
            bench.end(2)?.reason == "direct open of delivery 1, which was never displayed")
        #expect(bench.ledger.tracker.interactions.map(\.verdict) == [.opened])
    }

    // MARK: Taps that are held

    @Test("a held tap by payload reports whether the push was opened before, as its verdict does after the grace")
    func heldTaps() throws {
        var bench = Bench(.testing())
        let payload = JSONDocument(test: Payload.brazeIOS()).root
        try bench.submit(.deliver(Payload.brazeIOS(), to: "d", platform: .ios))
        for _ in 1...2 { try bench.submit(.open(.payload(payload), on: "d", platform: .ios)) }
        #expect(bench.end(2)?.reasonCode == .directOpen)
        #expect(bench.end(3)?.reasonCode == .heldForDelivery)
        #expect(bench.end(3)?.reason?.hasPrefix("delivery 1 was already opened; waiting up to") == true)
        try bench.submit(.open(.payload(payload), on: "other", platform: .ios))
        #expect(bench.end(4)?.reason?.hasPrefix("no matching push yet; waiting up to") == true)
        try bench.submit(.open(seq: 1, on: "other"))
        #expect(bench.end(5)?.reason?.hasPrefix("delivery 1 went to another device or app; waiting up to") == true)
        bench.at(.seconds(10))
        bench.clock()
        #expect(bench.ledger.tracker.interactions.map(\.verdict) == [.opened, .duplicate, .unmatched, .elsewhere])
    }

    // MARK: Names of devices

    /// The letter é as one character, and as e with a combining accent.
    private static let names = ["caf\u{E9}", "cafe\u{301}"]

    @Test("two spellings of a name are two devices, with two lanes, two lists of recent ids and two rows in the ledger")
    func deviceNames() throws {
        #expect(Self.names[0] == Self.names[1])
        #expect(DeviceKey(app: "a", device: Self.names[0]) != DeviceKey(app: "a", device: Self.names[1]))
        #expect(DeviceKey(app: Self.names[0], device: "d") != DeviceKey(app: Self.names[1], device: "d"))
        #expect(Set(Self.names.map { DeviceKey(app: nil, device: $0) }).count == 2)
        var bench = Bench(.testing())
        for (index, name) in Self.names.enumerated() {
            let effects = try bench.submit(.deliver(Payload.message("m"), to: name, user: "u\(index)"))
            #expect(effects.contains("start \(index + 1).0 crm"), "a lane of its own, and its own list")
        }
        #expect(bench.ledger.devices.count == 2)
        for (index, name) in Self.names.enumerated() {
            try bench.submit(.session(on: name))
            #expect(bench.ledger.requests[SequenceNumber(Int64(index) + 3)]?.accepted.externalID == "u\(index)")
        }
        // The tracker distinguishes them as well, once their lanes are free.
        bench.finished(1)
        bench.finished(2)
        try bench.submit(.deliver(Payload.braze(message: "b"), to: Self.names[0]))
        try bench.submit(.open(.message("b"), on: Self.names[1]))
        #expect(bench.row(6)?.result?.reasonCode == .heldForDelivery)
        try bench.submit(.open(.message("b"), on: Self.names[0]))
        #expect(bench.row(7)?.result?.reasonCode == .directOpen)
    }
}
