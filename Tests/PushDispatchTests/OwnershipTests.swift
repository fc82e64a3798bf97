import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The owner of a payload")
struct OwnershipTests {
    @Test("is the matching provider with the lowest order, then name; all matches are listed, the owner first")
    func order() throws {
        let payload = #"{"_k":"","itbl":"x","push_from":"moengage","_ab":"true","wzrk_pn":"1"}"#
        let all = try decision(.android, payload)
        #expect(all.provider == "braze")
        #expect(
            all.matches == ["braze", "clevertap", "iterable", "klaviyo", "moengage"], "moengage is known from a copy")
        #expect(all.invocations == [PlannedInvocation(callback: .onMessageReceived, owner: .tracker)])
        let apple = try decision(.ios, #"{"aps":{},"wzrk_id":"1","com.batch":{"i":1}}"#)
        #expect(apple.matches == ["batch", "clevertap"], "presence before the beginning of a key")
    }

    @Test("is a provider of low confidence only if no other rule matches, whatever its order")
    func lowConfidence() throws {
        let helpshift = try decision(.android, #"{"origin":"helpshift","mp_message":"Hi"}"#)
        #expect(helpshift.matches == ["mixpanel", "helpshift"])
        #expect(try decision(.android, #"{"origin":"helpshift"}"#).provider == "helpshift")
        let rules = [("a", 1, .low), ("b", 900, .high), ("c", 2, .low), ("d", 800, .high)].map {
            name, order, confidence in
            ProviderRule(
                name: name, title: name,
                platforms: [
                    .web: ProviderRule.PlatformRule(
                        order: order, confidence: confidence, all: [.value(at: ["k"], .present)])
                ])
        }
        let delivery = Delivery(platform: .web, payload: try json(#"{"k":"v"}"#))
        #expect(try decide(delivery, settings: DetectionSettings(providers: rules)).matches == ["d", "b", "a", "c"])
    }

    @Test("has a warning with the names if several match")
    func twoOwners() throws {
        let decision = try decision(.android, #"{"_ab":"true","CIO-Delivery-ID":"a","CIO-Delivery-Token":"b"}"#)
        #expect(decision.warnings == [.twoOwners("Braze", others: ["Customer.io"])])
        #expect(
            decision.warnings[0].description
                == "two owners: the rules of Braze and Customer.io match; Braze comes first and has the payload, "
                + "the handlers of Customer.io do not get it")
    }

    @Test("that is a probe of another provider has it swallowed, whatever else the payload has")
    func probes() throws {
        let probe = try decision(.android, #"{"af-uinstall-tracking":"true"}"#, state: .foreground)
        #expect(probe.outcome == .swallowed && probe.invocations == [])
        #expect(
            probe.reasons.last?.description
                == "AppsFlyer's SDK only tests whether the app is installed: there is nothing for a handler to do")
        #expect(try decision(.android, #"{"adjust_purpose":"uninstall detection"}"#).outcome == .swallowed)
    }

    @Test("that is a receiver of the SDK's own takes a message that FCM would hand to the service, and no other")
    func ownReceiver() throws {
        let custom = #""custom":"{\"i\":\"x\"}""#
        let message = try decision(.android, "{\(custom)}")
        #expect(message.outcome == .ownReceiver && message.invocations == [])
        #expect(message.reasons.last == .ownReceiver(title: "OneSignal"))
        #expect(try decision(.android, "{\(custom)}", state: .forceStopped).outcome == .notWoken)
        #expect(try decision(.android, #"{"data":{\#(custom)},"notification":{}}"#).outcome == .shownBySystem)
        #expect(
            try decision(.android, #"{"data":{\#(custom)},"notification":{}}"#, state: .foreground).outcome
                == .ownReceiver)
        let deleted = try decision(.android, #"{"extras":{\#(custom),"message_type":"deleted_messages"}}"#)
        #expect(deleted.callbacks == [.onDeletedMessages])
        let apple = try decision(.ios, #"{"aps":{"content-available":1},"custom":{"i":"x"}}"#)
        #expect(apple.callbacks == [.didReceiveRemoteNotification])
    }

    @Test("is Braze if Braze and OneSignal match, so the service gets it")
    func brazeBeforeOwnReceiver() throws {
        let decision = try decision(.android, #"{"_ab":"true","custom":"{\"i\":1}"}"#)
        #expect(decision.callbacks == [.onMessageReceived])
        #expect(decision.matches == ["braze", "onesignal"])
    }

    @Test("is never Braze without Braze's rule; another rule's reason does not mention the shipped one")
    func withoutBraze() throws {
        let payload = Delivery(platform: .android, payload: try json(#"{"_ab":"true"}"#))
        let none = try decide(payload, settings: DetectionSettings(providers: []))
        #expect(none.provider == nil && none.braze == nil && none.reasons == [.dataMessage])
        var other = ProviderRule.braze
        other.platforms[.android]?.all = [.value(at: ["mark"], .present)]
        let settings = DetectionSettings(providers: [other])
        #expect(try decide(payload, settings: settings).reasons == [.otherBrazeRule, .dataMessage])
        let marked = Delivery(platform: .android, payload: try json(#"{"mark":"1","t":"T","a":"A"}"#))
        #expect(try decide(marked, settings: settings).braze?.kind == .visible)
    }

    @Test("is found by the same rules for a payload handed back")
    func handedBack() throws {
        func provider(_ platform: Platform, _ payload: String) throws -> String? {
            try HandedBackPayload(json(payload), platform: platform, settings: .shipped).provider
        }
        #expect(try provider(.ios, #"{"aps":{},"itbl":{}}"#) == "iterable")
        #expect(try provider(.android, #"{"custom":"{\"i\":1}"}"#) == "onesignal")
        #expect(try provider(.web, #"{"CIO-Delivery-ID":"x","CIO-Delivery-Token":"y"}"#) == "customerio")
        #expect(try provider(.web, #"{"ab_ids":{},"CIO-Delivery-ID":"x","CIO-Delivery-Token":"y"}"#) == "braze")
        #expect(try provider(.web, #"{"cid":"c"}"#) == nil, "a click is Braze's by ab_ids alone")
    }

    @Test(
        "finds Braze's unique id under its key, unless that is blank",
        arguments: [
            (#""br_p_id":"u1""#, "u1"), (#""br_p_id":"""#, nil), (#""br_p_id":" \t""#, nil), (#""br_p_id":null"#, nil),
            (#""br_p_id":5"#, nil), (#""other":"u1""#, nil), (#""br_p_id":" x""#, " x"),
            (#""br_p_id":"\u0009\u000d\u001c\u0020""#, nil), (#""br_p_id":"\u0008""#, "\u{8}"),
            (#""br_p_id":"\u000e""#, "\u{E}"), (#""br_p_id":"\u001b""#, "\u{1B}"),
            (#""br_p_id":"\u0085\u00a0\u1680""#, nil), (#""br_p_id":"\u00a1""#, "\u{A1}"),
            (#""br_p_id":"\u2000\u200a\u2028\u2029\u202f\u205f\u3000""#, nil), (#""br_p_id":"\u200b""#, "\u{200B}"),
        ] as [(String, String?)])
    func uniqueID(_ member: String, _ expected: String?) throws {
        #expect(try decision(.android, #"{"_ab":"true",\#(member)}"#).braze?.uniqueID == expected)
    }

    @Test("finds the unique id under a configurable key")
    func uniqueIDKey() throws {
        let settings = DetectionSettings(brazeKeys: BrazeKeys(uniqueID: "id"))
        let delivery = Delivery(platform: .android, payload: try json(#"{"_ab":"true","id":"u"}"#))
        #expect(try decide(delivery, settings: settings).braze?.uniqueID == "u")
    }
}
