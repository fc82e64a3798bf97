import Testing

@testable import PushModel
@testable import PushRouter

// Source: braze-android-sdk 43.0.0, com.braze.push.
@Suite("Braze on Android")
struct BrazeAndroidTests {
    // BrazeFirebaseMessagingService.isBrazePushNotification: data["_ab"] == "true".
    @Test(
        "is recognized by exactly the string true in the data map",
        arguments: [
            (#"{"_ab":"true"}"#, Reason.brazeMarker),
            (#"{"\u005fab":"tru\u0065"}"#, .brazeMarker),
            (#"{"_ab":"TRUE"}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":"True"}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":" true"}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":"true\n"}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":"1"}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":""}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":true}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":null}"#, .brazeMarkerIsNotTrue),
            (#"{"_ab":["true"]}"#, .brazeMarkerIsNotTrue),
            (#"{"_AB":"true"}"#, .noBrazeMarker),
            (#"{"extra":"{\"_ab\":\"true\"}"}"#, .noBrazeMarker),
            (#"{"t":"T","a":"A","cid":"c"}"#, .noBrazeMarker),
            (#"{"notification":{"_ab":"true"}}"#, .noBrazeMarker),
            (#"{"_ab":"false","data":{"_ab":"true"}}"#, .brazeMarker),
        ])
    func isDetected(_ payload: String, _ reason: Reason) throws {
        let decision = try decision(.android, payload)
        #expect(decision.reasons.first == reason)
        #expect((decision.provider == "braze") == (reason == .brazeMarker))
    }

    // handlePushNotificationPayload, steps 2 to 5 and 10, in this order.
    @Test(
        "has the kind of the first step that applies",
        arguments: [
            (#""message_type":"deleted_messages","total_deleted":"3""#, BrazeFacts.Kind.deletedMessages),
            (#""message_type":"deleted_messages","appboy_uninstall_tracking":"1""#, .deletedMessages),
            (#""message_type":"Deleted_Messages""#, .silent),
            (#""appboy_uninstall_tracking":"""#, .uninstallTracking),
            (#""appboy_uninstall_tracking":"false","t":"T","a":"A""#, .uninstallTracking),
            (#""extra":"{\"appboy_uninstall_tracking\":null}""#, .uninstallTracking),
            (#""extra":"{\"k\":1, \"appboy_uninstall_tracking\": false}","t":"T","a":"A""#, .uninstallTracking),
            (#""extra":"{\"x\":{\"appboy_uninstall_tracking\":1}}""#, .silent),
            (#""extra":"appboy_uninstall_tracking","t":"T","a":"A""#, .visible),
            (#""extra":"{\"appboy_uninstall_tracking\":1","t":"T","a":"A""#, .visible),
            (#""extra":{"appboy_uninstall_tracking":"1"},"t":"T","a":"A""#, .visible),
            // The letter that may begin the key is the first one, or the last one.
            (#""extra":"u","t":"T","a":"A""#, .visible),
            (#""extra":"you","t":"T","a":"A""#, .visible),
            (#""t":"T","a":"A""#, .visible),
            (#""t":"","a":"""#, .visible),
            (#""t":"T""#, .silent),
            (#""a":"A""#, .silent),
            (#""extra":"{\"t\":\"T\",\"a\":\"A\"}""#, .silent),
        ])
    func hasKind(_ members: String, _ kind: BrazeFacts.Kind) throws {
        #expect(try decision(.android, #"{"_ab":"true",\#(members)}"#).braze?.kind == kind)
    }

    @Test(
        "has its uninstall probe found in extra with any escaping",
        arguments: [
            #"{\"appboy_uninst\\u0061ll_tracking\":1}"#,
            #"{\"appboy_uninst\u0061ll_tracking\":1}"#,
            #"{\u0022appboy_uninstall_tracking\u0022:1}"#,
            #"{\"\u005cu0061ppboy_uninstall_tracking\":1}"#,
            #"\n{ \"appboy_uninstall_tracking\" : 1 }"#,
        ])
    func findsEscapedProbe(_ extra: String) throws {
        let facts = try decision(.android, #"{"_ab":"true","t":"T","a":"A","extra":"\#(extra)"}"#).braze
        #expect(facts?.kind == .uninstallTracking)
    }

    @Test(
        "has the campaign of cid, if any",
        arguments: [(#""abc""#, "abc"), (#""""#, nil), ("null", nil), ("5", nil)] as [(String, String?)])
    func hasCampaign(_ value: String, _ campaign: String?) throws {
        let probe = try decision(.android, #"{"_ab":"true","appboy_uninstall_tracking":"1","cid":\#(value)}"#)
        let decision = try decision(.android, #"{"_ab":"true","t":"T","a":"A","cid":\#(value)}"#)
        #expect(decision.braze?.campaignID == campaign)
        #expect(decision.reasons.contains(.noCampaign) == (campaign == nil))
        #expect(!probe.reasons.contains(.noCampaign), "there is nothing to open")
    }

    // The keys that Constants.java of braze-android-sdk names.
    @Test(
        "has the features of its keys",
        arguments: [
            (#""ab_cd":"{}""#, BrazeFacts.Feature.contentCardSync),
            (#""br_ffr":"true""#, .featureFlagsRefresh),
            (#""br_br":"true""#, .bannersRefresh),
            (#""ab_sync_geos":"true""#, .geofencesSync),
            (#""ab_push_fetch_test_triggers_key":"true""#, .testInAppMessage),
            (#""ab_c":"1""#, .pushStory),
            (#""br_ffr":"TRUE""#, .featureFlagsRefresh),
            (#""ab_cd":"{}","ab_cd_uid":"u","br_br":"false","br_ffr":"1""#, .contentCardSync),
            (#""ab_a0_a":"ab_open""#, .actions),
        ])
    func hasFeature(_ member: String, _ feature: BrazeFacts.Feature) throws {
        #expect(try decision(.android, #"{"_ab":"true",\#(member)}"#).braze?.features == [feature])
        #expect(try decision(.android, #"{"_ab":"true"}"#).braze?.features == [])
    }

    @Test("fetches test in-app messages only for exactly true")
    func needsExactTestTrigger() throws {
        let payload = #"{"_ab":"true","ab_push_fetch_test_triggers_key":"TRUE"}"#
        #expect(try decision(.android, payload).braze?.features == [])
    }

    @Test("reads the unpublished keys under the configured names")
    func takesKeysFromSettings() throws {
        let payload = try json(#"{"_ab":"true","flags":"true","br_ffr":"true"}"#)
        let delivery = Delivery(platform: .android, payload: payload)
        let settings = DetectionSettings(brazeKeys: BrazeKeys(refreshFeatureFlags: "flags", refreshBanners: "banners"))
        #expect(try decide(delivery, settings: settings).braze?.features == [.featureFlagsRefresh])
        let other = DetectionSettings(brazeKeys: BrazeKeys(refreshFeatureFlags: "f", refreshBanners: "b"))
        #expect(try decide(delivery, settings: other).braze?.features == [])
    }

    struct Case: Sendable {
        var members: String
        var state = AppState.background
        var notifications = NotificationPermission.allowed
        var received: Bool
        var displayed: Bool
        var counts: Bool
    }

    // The tracker's rules T4 and T9.
    @Test(
        "is received when Braze's code runs, displayed when shown, and counted when attributable",
        arguments: [
            Case(members: #""t":"T","a":"A","cid":"c""#, received: true, displayed: true, counts: true),
            Case(members: #""t":"T","a":"A""#, received: true, displayed: true, counts: false),
            Case(
                members: #""t":"T","a":"A","cid":"c""#, notifications: .denied, received: true, displayed: false,
                counts: false),
            Case(
                members: #""t":"T","a":"A","cid":"c""#, state: .forceStopped, received: false, displayed: false,
                counts: false),
            Case(
                members: #""t":"T","a":"A","cid":"c","br_ffr":"true""#, received: true, displayed: true, counts: false),
            Case(
                members: #""t":"T","a":"A","cid":"c","ab_push_fetch_test_triggers_key":"true""#, received: true,
                displayed: false, counts: false),
            Case(members: #""cid":"c""#, received: true, displayed: false, counts: false),
            Case(
                members: #""appboy_uninstall_tracking":"1","t":"T","a":"A","cid":"c""#, received: false,
                displayed: false, counts: false),
            Case(
                members: #""message_type":"deleted_messages","t":"T","a":"A","cid":"c""#, received: false,
                displayed: false, counts: false),
        ])
    func isCounted(_ expected: Case) throws {
        let decision = try decision(
            .android, #"{"_ab":"true",\#(expected.members)}"#, state: expected.state,
            notifications: expected.notifications)
        #expect(decision.received == expected.received)
        #expect(decision.displayed == expected.displayed)
        #expect(decision.braze?.countsForInfluencedOpen == expected.counts)
    }

    @Test("goes to the tracker, even an uninstall probe")
    func goesToTracker() throws {
        let probe = try decision(.android, #"{"_ab":"true","appboy_uninstall_tracking":"1"}"#)
        #expect(probe.invocations == [PlannedInvocation(callback: .onMessageReceived, owner: .tracker)])
        let other = try decision(.android, #"{"k":"v"}"#)
        #expect(other.invocations == [PlannedInvocation(callback: .onMessageReceived, owner: .route)])
        #expect(!other.received && !other.displayed)
    }

    @Test("is lost behind a notification block in the background, with that reason")
    func isLostBehindNotification() throws {
        let payload = #"{"notification":{"title":"x"},"data":{"_ab":"true","t":"T","a":"A","cid":"c"}}"#
        let background = try decision(.android, payload)
        #expect(background.provider == "braze")
        #expect(background.outcome == .shownBySystem)
        #expect(background.reasons.last == .brazeLost)
        #expect(!background.received && !background.displayed)
        #expect(background.warnings == [.brazeBesideNotification])
        let foreground = try decision(.android, payload, state: .foreground)
        #expect(foreground.callbacks == [.onMessageReceived])
        #expect(foreground.received && foreground.displayed)
    }

    @Test(
        "has a button that opens a web address by its scheme alone, whatever follows the colon",
        arguments: [
            ("http:", true), ("https:", true), ("https:x", true), ("https:/", true), ("HTTPS://x", true),
            ("http", true), ("https:x\u{301}", true), ("https:é", true), ("httpsx:", false), ("shop:", false),
            ("htt:/", false), ("shop:x", false), (":", false), ("https:\u{301}x", false),
        ])
    func opensWebAddress(_ link: String, _ isWeb: Bool) throws {
        let members = #""ab_a0_a":"ab_uri","ab_a0_t":"Go","ab_a0_id":"go","ab_a0_uri":"\#(link)""#
        let buttons = try decision(.android, #"{"_ab":"true","t":"T","a":"A",\#(members)}"#).braze?.actions
        #expect(buttons?.map(\.kind) == [isWeb ? .uri : .deepLink])
    }

    // BrazeNotificationActionUtils, and the tracker's rule T1.
    @Test("has the buttons of ab_a*, up to the first without a type")
    func hasActions() throws {
        let payload =
            #"{"_ab":"true","ab_a0_a":"ab_uri","ab_a0_t":"Go","ab_a0_id":"go","ab_a0_uri":"HTTPS://x.example","#
            + #""ab_a1_a":"ab_uri","ab_a1_uri":"shop://orders","ab_a2_a":"ab_open","ab_a3_a":"ab_none","ab_a4_a":"ab_x","#
            + #""ab_a5_a":"ab_uri","ab_a6_a":"","ab_a7_a":"ab_open"}"#
        #expect(
            try decision(.android, payload).braze?.actions == [
                BrazeFacts.Action(id: "go", kind: .uri, title: "Go", uri: "HTTPS://x.example"),
                BrazeFacts.Action(id: nil, kind: .deepLink, uri: "shop://orders"),
                BrazeFacts.Action(id: nil, kind: .open), BrazeFacts.Action(id: nil, kind: .close),
                BrazeFacts.Action(id: nil, kind: .unknown), BrazeFacts.Action(id: nil, kind: .open),
            ])
        #expect(try decision(.android, #"{"_ab":"true","ab_a1_a":"ab_open"}"#).braze?.actions == [])
    }

    @Test("has the deep link of uri, and the dashboard's pairs in extra, or beside the other keys")
    func hasLinkAndPairs() throws {
        let decision = try decision(
            .android, #"{"_ab":"true","uri":"shop://x","k":"no","extra":"{\"k\":\"v\",\"n\":{\"a\":1}}"}"#)
        #expect(decision.braze?.deepLink == "shop://x")
        #expect(decision.keys.keyValues.map(\.key) == ["k", "n"])
        #expect(decision.keys.keyValues.map(\.value) == ["v", #"{"a":1}"#])
        let amazon = try PushDispatchTests.decision(
            .android, #"{"_ab":"true","t":"T","ab_iu":"x","Entree":"Hamburgers","uri":""}"#)
        #expect(amazon.keys.keyValues.map(\.key) == ["Entree"])
        #expect(amazon.braze?.deepLink == nil)
    }

    // handlePushNotificationPayload, step 9: eager display, on unless the app turns it off, and an activity.
    @Test(
        "shows a test in-app message instead of a notification when the app is in the foreground",
        arguments: [
            (#""t":"T","a":"A""#, AppState.foreground, false, true), (#""cid":"c""#, .foreground, false, true),
            (#""t":"T","a":"A""#, .foreground, true, false), (#""t":"T","a":"A""#, .background, false, false),
            (#""t":"T","a":"A""#, .terminated, false, false),
            (#""appboy_uninstall_tracking":"1""#, .foreground, false, false),
        ])
    func showsTestMessage(_ members: String, _ state: AppState, _ locked: Bool, _ isShown: Bool) throws {
        let payload = #"{"_ab":"true","ab_push_fetch_test_triggers_key":"true",\#(members)}"#
        let decision = try decision(.android, payload, state: state, locked: locked)
        #expect((decision.reasons.last == .brazeTestInAppMessage) == isShown)
        #expect(decision.callbacks == [.onMessageReceived])
        #expect(!decision.displayed)
    }

    @Test("shows no push story on an Amazon device")
    func showsNoStoryOnAmazon() throws {
        let extras = #"{"_ab":"true","t":"T","a":"A","cid":"c","ab_c":"1"}"#
        let amazon = try decision(
            .android, #"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":\#(extras)}"#)
        #expect(!amazon.displayed && amazon.received)
        #expect(amazon.reasons.last == .brazeStoryOnAmazon)
        #expect(try decision(.android, extras).displayed)
    }

    @Test("gives a warning above 4,000 bytes of text and key-values, the limit of Braze's API")
    func isWarnedOfSize() throws {
        func warnings(_ count: Int) throws -> [Warning] {
            let text = String(repeating: "x", count: count)
            return try decision(.android, #"{"_ab":"true","a":"\#(text)","extra":"{}"}"#).warnings
        }
        #expect(try warnings(3998) == [])
        #expect(try warnings(3999) == [.brazeTooLarge(bytes: 4001)])
        #expect(try warnings(4090) == [.brazeTooLarge(bytes: 4092), .tooLarge(bytes: 4105)])
    }
}
