import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The push types of APNs")
struct PushTypeTests {
    private func decision(_ type: String, _ payload: String = #"{"aps":{}}"#) throws -> Decision {
        try decide(
            Delivery(
                platform: .ios, payload: try json(payload), headers: try json(#"{"apns-push-type":"\#(type)"}"#)),
            settings: .shipped)
    }

    @Test(
        "that other code handles never reach the notification delegate, and the reason names that code",
        arguments: [
            ("voip", ReasonCode.pushKit, "didReceiveIncomingPushWith"), ("complication", .pushKit, "watch app"),
            ("pushtotalk", .pushToTalk, "PTChannelManagerDelegate"),
            ("location", .locationExtension, "CLLocationPushServiceExtension"),
            ("fileprovider", .fileProvider, "File Provider"), ("widgets", .widgetsAndControls, "WidgetKit"),
            ("controls", .widgetsAndControls, "WidgetKit"),
        ])
    func otherCode(_ type: String, _ code: ReasonCode, _ word: String) throws {
        for payload in [#"{"aps":{"alert":"x","content-available":1}}"#, #"{"userInfo":{"call":1}}"#] {
            let decision = try decision(type, payload)
            #expect(decision.outcome == .swallowed)
            #expect(decision.callbacks.isEmpty)
            let reason = try #require(decision.reasons.last)
            #expect(reason.code == code)
            #expect(reason.description.split(separator: word).count > 1)
            #expect(reason.description.hasSuffix("the notification delegate is not called"))
            #expect(!decision.warnings.contains(.apsMissing))
        }
    }

    @Test("of widgets have content-changed and nothing for the app, also without the header")
    func contentChanged() throws {
        let payloads = [
            (#"{"aps":{"content-changed":true}}"#, true), (#"{"aps":{"content-changed":true,"alert":"x"}}"#, false),
            (#"{"aps":{"content-changed":true,"content-available":1}}"#, false), (#"{"aps":{}}"#, false),
            (#"{"aps":{"content-changed":true,"badge":3}}"#, false),
        ]
        for (payload, isForWidgets) in payloads {
            let decision = try decide(Delivery(platform: .ios, payload: json(payload)), settings: .shipped)
            #expect((decision.reasons.last?.code == .widgetsAndControls) == isForWidgets, "\(payload)")
        }
    }

    @Test("of the system go to the system, whatever the payload has")
    func system() throws {
        #expect(try decision("liveactivity").reasons.last == .liveActivity)
        #expect(try decision("mdm").reasons.last == .deviceManagement)
    }

    @Test("alert and background leave the decision to the payload, as without a type")
    func delegates() throws {
        let silent = #"{"aps":{"content-available":1}}"#
        #expect(try decision("alert", #"{"aps":{"alert":"x"}}"#).outcome == .shownBySystem)
        #expect(try decision("background", silent).callbacks == [.didReceiveRemoteNotification])
        // APNs refuses an unknown type; the device would show the push.
        #expect(try decision("colour", #"{"aps":{"alert":"x"}}"#).outcome == .shownBySystem)
    }

    @Test("give the warnings of APNs's refusals beside the payload")
    func refusals() throws {
        let decision = try decision("background", #"{"aps":{"content-available":1}}"#)
        #expect(decision.warnings.contains(.refusedByAPNs(.badBackgroundPriority(nil))))
    }

    @Test("leave the id of APNs's answer as the message id, unless the payload has its own")
    func messageIDs() throws {
        func id(_ platform: Platform, _ payload: String) throws -> String? {
            try decide(Delivery(platform: platform, payload: try json(payload), messageID: "told")).messageID
        }
        let body = #"{"message":{"token":"t","data":{"a":"b"}}}"#
        for platform in Platform.allCases { #expect(try id(platform, body) == "told") }
        let own = #"{"message":{"name":"projects/p/messages/own","token":"t","data":{"a":"b"}}}"#
        #expect(try id(.android, own) == "own")
        #expect(try id(.ios, #"{"aps":{},"gcm.message_id":"own"}"#) == "own")
        // FCM on the device drops the second message of an id.
        let decision = try decide(Delivery(platform: .android, payload: try json(body), messageID: "told"))
        #expect(decision.duplicateID == "told")
    }
}
