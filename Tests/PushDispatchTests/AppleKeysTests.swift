import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Keys and headers of a push for iOS")
struct AppleKeysTests {
    private static func warnings(_ payload: String) throws -> [Warning] { try decision(.ios, payload).warnings }

    @Test(
        "that Apple does not know give a warning with the key that it knows",
        arguments: [
            (#""content_available":1"#, "content_available", APSKey.contentAvailable),
            (#""mutableContent":1"#, "mutableContent", .mutableContent), (#""threadId":"x""#, "threadId", .threadID),
            (#""interruption_level":"active""#, "interruption_level", .interruptionLevel),
            (#""events":"update""#, "events", .event), (#""state-date":1"#, "state-date", .staleDate),
            (#""Badge":1"#, "Badge", .badge), (#""contnet-available":1"#, "contnet-available", .contentAvailable),
        ])
    func misspelt(_ member: String, _ name: String, _ key: APSKey) throws {
        #expect(try Self.warnings(#"{"aps":{"alert":"x",\#(member)}}"#) == [.apsKeyMisspelt(name, key.rawValue)])
    }

    @Test("that are the app's own give none")
    func own() throws {
        #expect(
            try Self.warnings(
                #"{"aps":{"alert":{"title":"x"},"sound":{"name":"y"}},"category":"z","data":{},"alerts":[],"sounds":1}"#
            ) == [])
    }

    @Test("of the alert beside it, and keys of the app's own in aps, give a warning")
    func foreign() throws {
        #expect(
            try Self.warnings(#"{"aps":{"alert":"x","loc-key":"K","url":"u"}}"#)
                == [.apsKeyMisspelt("loc-key", "alert.loc-key"), .apsKeyForeign("url")])
    }

    @Test("beside aps, in the alert, and values out of Apple's range give a warning")
    func others() throws {
        #expect(
            try Self.warnings(#"{"aps":{"content-available":1},"alert":"x","contentAvailable":1}"#)
                == [.apsKeyOutside("alert", .alert)])
        #expect(
            try Self.warnings(#"{"aps":{"alert":{"loc_key":"x"}}}"#) == [.apsKeyMisspelt("alert.loc_key", "loc-key")])
        #expect(
            try Self.warnings(#"{"aps":{"alert":"x","interruption-level":"loud","relevance-score":7}}"#)
                == [
                    .apsValueOutOfRange(.interruptionLevel, range: "passive, active, time-sensitive, critical"),
                    .apsValueOutOfRange(.relevanceScore, range: "0 to 1"),
                ])
    }

    @Test("at another place, and values of sounds and times, give a warning")
    func places() throws {
        #expect(
            try Self.warnings(#"{"aps":{"alert":{"title":"A","message":"B","badge":1,"url":"u"}}}"#) == [
                .apsKeyMisspelt("alert.message", "body"), .apsKeyMisspelt("alert.badge", "aps.badge"),
                .apsKeyForeign("alert.url"),
            ])
        #expect(try Self.warnings(#"{"aps":{"alert":"A"},"apns-priority":10}"#) == [.headerInPayload("apns-priority")])
        #expect(try Self.warnings(#"{"APS":{"alert":"A"}}"#) == [.apsMisspelt("APS")])
        #expect(try Self.warnings(#"{"k":"v"}"#) == [.apsMissing])
        #expect(
            try Self.warnings(#"{"aps":{"alert":"A","sound":{"name":"a","volume":2}}}"#)
                == [.apsValueOutOfRange(.sound, range: "a volume from 0 to 1")])
        #expect(try Self.warnings(#"{"aps":{"alert":"A","sound":{"name":"a","volume":1}}}"#) == [])
        #expect(
            try Self.warnings(#"{"aps":{"timestamp":1764300000000,"event":"update","content-state":{}}}"#)
                == [.apsValueOutOfRange(.timestamp, range: "seconds since 1970")])
        #expect(
            try Self.warnings(#"{"aps":{"timestamp":1764300000,"event":"start","content-state":{}}}"#)
                == [.liveActivityLacks(.attributesType), .liveActivityLacks(.attributes)])
        #expect(
            try Self.warnings(#"{"aps":{"event":"update","content-state":{}}}"#) == [.liveActivityLacks(.timestamp)])
    }

    @Test(
        "that do not fit together give a warning",
        arguments: [
            (#""apns-push-type":"alert""#, #""content-available":1"#, [APNsMismatch.alertWithoutContent]),
            (
                #""apns-push-type":"background","apns-priority":"5""#, #""content-available":1,"badge":1"#,
                [.backgroundWithContent(["badge"])]
            ),
            (#""apns-push-type":"background","apns-priority":"5""#, "", [.backgroundWithoutWaking]),
            (#""apns-priority":"10""#, #""content-available":1"#, [.silentAtPriority10]),
            (
                #""apns-push-type":"alert","apns-topic":"com.x.voip""#, #""alert":"x""#,
                [.topic("com.x.voip", type: "alert", suffix: nil)]
            ),
            (
                #""apns-push-type":"voip","apns-topic":"com.x""#, #""alert":"x""#,
                [.topic("com.x", type: "voip", suffix: ".voip")]
            ),
            (#""apns-push-type":"voip","apns-expiration":"9""#, #""alert":"x""#, [.expires(type: "voip")]),
            (#""apns-push-type":"alert""#, #""alert":"x","event":"update""#, [.liveActivityOfType("alert")]),
            (
                #""apns-push-type":"pushtotalk","apns-priority":"5""#, "",
                [.priority("5", type: "pushtotalk", wanted: "10")]
            ),
            (#""apns-push-type":"alert","apns-topic":"com.x""#, #""alert":"x""#, []),
            (#""apns-push-type":"background","apns-priority":"5","apns-topic":"com.x""#, #""content-available":1"#, []),
        ])
    func mismatches(_ headers: String, _ aps: String, _ mismatches: [APNsMismatch]) throws {
        let body = #"{"message":{"token":"t","apns":{"headers":{\#(headers)},"payload":{"aps":{\#(aps)}}}}}"#
        let found = try Self.warnings(body).compactMap {
            if case .apnsMismatch(let mismatch) = $0 { mismatch } else { nil }
        }
        #expect(found == mismatches)
    }

    @Test("of a Live Activity that lacks what iOS needs give a warning")
    func liveActivity() throws {
        let body = #"""
            {"message":{"token":"t","apns":{"headers":{"apns-push-type":"liveactivity"},
            "payload":{"aps":{"content-state":{"a":1}}}}}}
            """#
        #expect(try Self.warnings(body) == [.liveActivityLacks(.event), .liveActivityLacks(.timestamp)])
    }
}

@Suite("A push that surprises people")
struct RemarkTests {
    @Test(
        "has a remark",
        arguments: [
            (Platform.android, #"{"message":{"token":"t","data":{"k":"v"}}}"#, [Remark.normalPriority]),
            (.android, #"{"message":{"token":"t","data":{"k":"v"},"android":{"priority":"HIGH"}}}"#, []),
            (
                .android,
                #"{"extras":{"k":"v","google.original_priority":"high","google.delivered_priority":"normal"}}"#,
                [.loweredPriority]
            ),
            (
                .android, #"{"message":{"token":"t","notification":{"title":"x"},"data":{"k":"v"}}}"#,
                [.dataWithTap]
            ),
            (
                .android,
                #"{"extras":{"gcm.n.e":"1","gcm.n.title":"x","gcm.n.click_action":"OPEN","google.message_id":"1"}}"#,
                [.tapByAction]
            ),
            (.android, #"{"message":{"token":"t","notification":{"title":"x"}}}"#, []),
            (.ios, #"{"aps":{"content-available":1}}"#, [.silentOnApple]),
            (.ios, #"{"aps":{"sound":{"critical":1,"name":"x"}}}"#, [.entitlement]),
            (.ios, #"{"aps":{"alert":"x"}}"#, []),
            (.web, #"{"message":{"token":"t","data":{"kind":"sync"}}}"#, [.silentOnWeb]),
            (.web, #"{"message":{"token":"t","notification":{"title":"x"}}}"#, [.clickWithoutLink]),
            (
                .web,
                #"{"message":{"token":"t","notification":{"title":"x"},"webpush":{"fcm_options":{"link":"https://x"}}}}"#,
                []
            ),
            (.web, #"{"notification":{"title":"x","data":{"onActionClick":{"default":{}}}}}"#, [.clickInAngular]),
            (.web, #"{"notification":{"title":"x"}}"#, [.clickInAngularUnknown]),
            (.ios, #"{"aps":{"alert":"x"},"W$id":"0_0"}"#, [.cleverTapTest]),
            (.ios, #"{"aps":{"alert":"x"},"W$id":"1_2"}"#, []),
            (.web, #"{"cid":"c","t":"T"}"#, []),
            (.web, #"{"kind":"sync"}"#, [.silentOnWeb]),
        ])
    func remark(_ platform: Platform, _ payload: String, _ remarks: [Remark]) throws {
        #expect(try decision(platform, payload).remarks == remarks)
    }

    @Test(
        "of FCM's own, or in the form of another service, reaches what the platform runs",
        arguments: [
            // FirebaseInstanceIdReceiver.
            (
                Platform.android,
                #"{"action":"com.google.android.c2dm.intent.RECEIVE","extras":{"wrapped_intent":"Intent { }"}}"#,
                Outcome.swallowed
            ),
            (
                .android, #"{"action":"com.google.firebase.messaging.NOTIFICATION_DISMISS","extras":{"k":"v"}}"#,
                .swallowed
            ),
            // The extras of an intent without their wrapper.
            (.android, #"{"gcm.n.e":"1","gcm.n.title":"x","google.message_id":"m"}"#, .shownBySystem),
        ])
    func outcome(_ platform: Platform, _ payload: String, _ outcome: Outcome) throws {
        #expect(try decision(platform, payload).outcome == outcome)
    }

    @Test("of OneSignal reaches its own receiver over FCM alone", arguments: [Transport.fcm, .hms, .adm])
    func ownReceiver(_ transport: Transport) throws {
        let payload = try json(#"{"custom":"{\"i\":\"n1\"}"}"#)
        let decision = try decide(
            Delivery(platform: .android, transport: transport, payload: payload), settings: .shipped)
        #expect(decision.provider == "onesignal")
        #expect(decision.callbacks == (transport == .fcm ? [] : [.onMessageReceived]))
    }

    @Test("over FCM reaches a service worker in an object of FCM's")
    func web() throws {
        let decision = try decision(
            .web, #"{"message":{"token":"t","data":{"cid":"c","t":"T"},"notification":{"title":"x"}}}"#)
        #expect(decision.provider == nil)
        #expect(decision.reasons.suffix(2) == [.webNotification, .serviceWorker])
        #expect(decision.keys.data("data") == #"{"cid":"c","t":"T"}"#)
        #expect(try self.declarative.reasons.last == .declarativeWebPush(isMutable: false))
    }

    @Test("to a browser is no declaration without the address that a click opens")
    func withoutAddress() throws {
        let decision = try decision(.web, #"{"web_push":8030,"notification":{"title":"x"}}"#)
        #expect(decision.reasons.last == .serviceWorker)
        #expect(decision.warnings == [.declarationLacks("navigate")])
        #expect(try self.declarative.warnings.isEmpty)
    }

    @Test("to a browser runs the worker for a declaration that is mutable, and may run none for any other")
    func mutable() throws {
        let block = #""notification":{"title":"x","navigate":"https://x"}"#
        let mutable = try decision(.web, #"{"web_push":8030,"mutable":true,\#(block)}"#)
        #expect(mutable.reasons.last?.description.contains("starts the worker, for mutable is true") == true)
        for value in ["", #""mutable":false,"#, #""mutable":"true","#] {
            let decision = try decision(.web, "{\"web_push\":8030,\(value)\(block)}")
            #expect(decision.reasons.last?.description.contains("and no worker runs, for mutable is not true") == true)
            #expect(decision.callbacks == [.push])
        }
    }

    private var declarative: Decision {
        get throws { try decision(.web, #"{"web_push":8030,"notification":{"title":"x","navigate":"https://x"}}"#) }
    }
}
