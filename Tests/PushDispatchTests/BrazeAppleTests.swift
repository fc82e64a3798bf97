import Testing

@testable import PushModel
@testable import PushRouter

// Source: braze-swift-sdk 18.2.0, ABKPushUtils.m.
@Suite("Braze on iOS")
struct BrazeAppleTests {
    // isAppboyRemoteNotification: a dictionary, and its count > 0.
    @Test(
        "is recognized by a non-empty object ab at the top level",
        arguments: [
            (#""ab":{"c":"x"}"#, Reason.brazeObject),
            (#""ab":{"c":null}"#, .brazeObject),
            (#""ab":{}"#, .brazeObjectIsEmpty),
            (#""ab":"true""#, .brazeObjectIsNone),
            (#""ab":null"#, .brazeObjectIsNone),
            (#""ab":1"#, .brazeObjectIsNone),
            (#""ab":[{"c":"x"}]"#, .brazeObjectIsNone),
            (#""d":{"ab":{"c":"x"}}"#, .noBrazeObject),
            (#""ab_uri":"https://example.com""#, .noBrazeObject),
            (#""_ab":"true","a":"A","t":"T""#, .noBrazeObject),
        ])
    func isDetected(_ members: String, _ reason: Reason) throws {
        let decision = try decision(.ios, #"{"aps":{"alert":"x"},\#(members)}"#)
        #expect(decision.reasons.first == reason)
        #expect((decision.provider == "braze") == (reason == .brazeObject))
    }

    @Test("is recognized by ab at the top level, not in aps")
    func looksAtTopLevel() throws {
        #expect(try decision(.ios, #"{"aps":{"alert":"x","ab":{"c":"x"}}}"#).provider == nil)
    }

    // isUninstallTrackingRemoteNotification: boolValue, without a test of ab.
    @Test(
        "has its uninstall probe recognized before ab, by boolValue",
        arguments: [
            ("true", true), ("1", true), ("-0.5", true), (#""1""#, true), (#""true""#, true), (#""YES""#, true),
            (#"" +01""#, true), (#""t""#, true),
            ("false", false), ("0", false), ("0.0", false), ("null", false), ("{}", false), (#""0""#, false),
            (#""""#, false), (#""no""#, false), (#""--1""#, false), (#""x1""#, false),
        ])
    func tellsProbe(_ value: String, _ isProbe: Bool) throws {
        let alone = try decision(.ios, #"{"aps":{"content-available":1},"appboy_uninstall_tracking":\#(value)}"#)
        #expect(alone.braze?.kind == (isProbe ? .uninstallTracking : nil))
        let withObject = try decision(
            .ios, #"{"aps":{"content-available":1},"ab":{"c":"x"},"appboy_uninstall_tracking":\#(value)}"#)
        #expect(withObject.braze?.kind == (isProbe ? .uninstallTracking : .silent))
        #expect(withObject.received == !isProbe)
    }

    // isAppboySilentRemoteNotification: intValue == 1, whether or not there is an alert.
    @Test(
        "is silent when content-available has the intValue 1",
        arguments: [
            ("1", true), ("1.0", true), ("1.9", true), ("1e0", true), ("true", true), (#""1""#, true),
            (#"" +1x""#, true), (#""01.7""#, true),
            ("0", false), ("2", false), ("0.9", false), ("-1", false), ("false", false), ("null", false),
            ("[1]", false), (#""yes""#, false), (#""""#, false), (#""-1""#, false), ("1e300", false),
            (#""18446744073709551617""#, false),
        ])
    func isSilent(_ value: String, _ silent: Bool) throws {
        for alert in [#""alert":"x","#, ""] {
            let payload = #"{"aps":{\#(alert)"content-available":\#(value)},"ab":{"c":"x"}}"#
            #expect(try decision(.ios, payload).braze?.kind == (silent ? .silent : .visible))
        }
    }

    @Test(
        "has the campaign of ab.c, if any",
        arguments: [(#""c":"abc""#, "abc"), (#""c":null"#, nil), (#""c":"""#, nil), (#""c":5"#, nil), (#""d":1"#, nil)]
            as [(String, String?)])
    func hasCampaign(_ member: String, _ campaign: String?) throws {
        let decision = try decision(.ios, #"{"aps":{"alert":"x"},"ab":{\#(member)}}"#)
        #expect(decision.braze?.campaignID == campaign)
        #expect(decision.braze?.countsForInfluencedOpen == (campaign != nil))
    }

    @Test(
        "has the features of its keys",
        arguments: [
            (#""ab":{"ab_cd":{}}"#, BrazeFacts.Feature.contentCardSync),
            (#""ab":{"c":1},"ab_sync_geos":true"#, .geofencesSync),
            (#""ab":{"c":1},"ab_push_fetch_test_triggers_key":true"#, .testInAppMessage),
            (#""ab":{"ab_carousel":{}}"#, .pushStory),
            (#""ab":{"ab_cat":{}}"#, .actions),
            (#""ab":{"att":{"url":"https://example.com/a.png","type":"png"}}"#, .attachment),
        ])
    func hasFeature(_ members: String, _ feature: BrazeFacts.Feature) throws {
        #expect(try decision(.ios, #"{"aps":{"alert":"x"},\#(members)}"#).braze?.features == [feature])
    }

    @Test("has actions by a default category, without ab_cat")
    func hasDefaultCategory() throws {
        for (category, features) in [("ab_cat_more", [BrazeFacts.Feature.actions]), ("own", [])] {
            let payload = #"{"aps":{"alert":"x","category":"\#(category)"},"ab":{"c":"x"}}"#
            #expect(try decision(.ios, payload).braze?.features == features)
        }
    }

    struct Case: Sendable {
        var aps: String
        var more = #""ab":{"c":"x"}"#
        var state = AppState.background
        var notifications = NotificationPermission.allowed
        var received: Bool
        var displayed: Bool
    }

    // The tracker's rules T9.
    @Test(
        "is received and displayed whenever iOS shows it, whether code of the app runs or not",
        arguments: [
            Case(aps: #""alert":"x""#, received: true, displayed: true),
            Case(aps: #""alert":"x""#, state: .foreground, received: true, displayed: true),
            Case(aps: #""alert":"x""#, state: .terminated, received: true, displayed: true),
            Case(aps: #""alert":"x""#, state: .forceQuit, received: true, displayed: true),
            Case(aps: #""alert":"x""#, notifications: .denied, received: false, displayed: false),
            Case(aps: #""alert":"x""#, state: .foreground, notifications: .denied, received: false, displayed: false),
            Case(aps: #""alert":"x","mutable-content":1"#, received: true, displayed: true),
            // Silent to the SDK, but shown.
            Case(aps: #""alert":"x","content-available":1"#, received: true, displayed: true),
            Case(aps: #""alert":"x","content-available":1"#, state: .forceQuit, received: true, displayed: true),
            Case(
                aps: #""alert":"x","content-available":1"#, notifications: .denied, received: true, displayed: false),
            Case(aps: #""content-available":1"#, received: true, displayed: false),
            Case(aps: #""content-available":1"#, state: .forceQuit, received: false, displayed: false),
            Case(aps: #""badge":1"#, received: false, displayed: false),
            Case(aps: #""alert":"""#, received: false, displayed: false),
            Case(
                aps: #""alert":"x""#, more: #""ab":{"c":"x"},"appboy_uninstall_tracking":true"#, received: false,
                displayed: false),
            Case(
                aps: #""alert":"x""#, more: #""ab":{"c":"x"},"ab_push_fetch_test_triggers_key":true"#,
                state: .foreground, received: true, displayed: false),
        ])
    func isCounted(_ expected: Case) throws {
        let decision = try decision(
            .ios, #"{"aps":{\#(expected.aps)},\#(expected.more)}"#, state: expected.state,
            notifications: expected.notifications)
        #expect(decision.received == expected.received)
        #expect(decision.displayed == expected.displayed)
        #expect(decision.braze?.countsForInfluencedOpen == expected.displayed)
    }
}
