import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The callback of a tap, a button or a dismissal")
struct InteractionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var platform: Platform
        var act: UserAct
        /// The payload; `nil`: an id names the notification.
        var payload: String?
        var provider: String?
        var callback: Callback
        var outcome: Outcome?
        var reasons: [InteractionReason]

        var testDescription: String { "\(platform) \(act) \(payload ?? "")" }
    }

    private static let plain = #"{"aps":{"alert":"x","category":"chat"}}"#
    private static let braze = #"{"aps":{"alert":"x","category":"ab_cat_yes_no"},"ab":{"c":"c"}}"#
    private static let android = #"{"_ab":"true","ab_a0_a":"ab_open","ab_a0_id":"a0"}"#
    private static let accept = UserAct.button(id: "accept", text: nil)

    @Test(
        "follows from the platform, the category and the owner",
        arguments: [
            // Apple: userNotificationCenter(_:didReceive:withCompletionHandler:).
            Case(
                platform: .ios, act: .opened, payload: plain, callback: .didReceiveResponse, reasons: [.defaultAction]),
            Case(
                platform: .ios, act: accept, payload: plain, callback: .didReceiveResponse,
                reasons: [.customAction]),
            Case(
                platform: .ios, act: accept, payload: #"{"aps":{}}"#, callback: .didReceiveResponse,
                reasons: [.customAction, .noCategory]),
            // Apple: UNTextInputNotificationResponse.
            Case(
                platform: .ios, act: .button(id: "reply", text: "hi"), payload: plain, callback: .didReceiveResponse,
                reasons: [.textInput, .customAction]),
            // Apple: UNNotificationDismissActionIdentifier, UNNotificationCategoryOptions.customDismissAction.
            Case(
                platform: .ios, act: .dismissed, payload: plain, callback: .none, outcome: .swallowed,
                reasons: [.dismissalOfOtherCategory]),
            Case(
                platform: .ios, act: .dismissed, payload: #"{"aps":{"category":"news-1"}}"#,
                callback: .didReceiveResponse,
                reasons: [.dismissAction]),
            Case(
                platform: .ios, act: .dismissed, payload: #"{"aps":{"category":""}}"#, callback: .none,
                outcome: .swallowed, reasons: [.dismissalWithoutCategory]),
            Case(
                platform: .ios, act: .dismissed, provider: "braze", callback: .none, outcome: .swallowed,
                reasons: [.dismissalOfUnknownCategory]),
            // braze-swift-sdk: the default categories have customDismissAction.
            Case(
                platform: .ios, act: .dismissed, payload: braze, provider: "braze", callback: .didReceiveResponse,
                reasons: [.dismissAction]),
            Case(
                platform: .ios, act: .button(id: "ab_pb_yes", text: nil), payload: braze, provider: "braze",
                callback: .didReceiveResponse, reasons: [.customAction]),
            Case(
                platform: .ios, act: accept, payload: braze, provider: "braze", callback: .didReceiveResponse,
                reasons: [.unknownButton, .customAction]),

            // The Notifications API; Braze's worker 3.5.1 handles clicks only.
            Case(
                platform: .web, act: .opened, payload: "{}", callback: .notificationclick,
                reasons: [.notificationClick]),
            Case(
                platform: .web, act: accept, payload: "{}", callback: .notificationclick,
                reasons: [.notificationAction]),
            Case(
                platform: .web, act: .dismissed, payload: "{}", callback: .notificationclose,
                reasons: [.notificationClose]),
            Case(
                platform: .web, act: .dismissed, payload: #"{"ab_ids":{}}"#, provider: "braze",
                callback: .notificationclose, outcome: .swallowed, reasons: [.brazeIgnoresClose]),

            // BrazePushReceiver; a tap on another provider's notification starts the intent that it names.
            Case(platform: .android, act: .opened, payload: "{}", callback: .none, reasons: [.intentStarted]),
            Case(
                platform: .android, act: .dismissed, payload: "{}", callback: .none,
                reasons: [.intentOfDismissalStarted]),
            Case(
                platform: .android, act: accept, payload: "{}", callback: .none,
                reasons: [.intentStarted]),
            Case(
                platform: .android, act: .opened, payload: android, provider: "braze", callback: .none,
                reasons: [.brazePushClicked]),
            Case(
                platform: .android, act: .dismissed, payload: android, provider: "braze", callback: .none,
                reasons: [.brazePushDeleted]),
            Case(
                platform: .android, act: .button(id: "a0", text: nil), payload: android, provider: "braze",
                callback: .none, reasons: [.brazeActionClicked]),
            Case(
                platform: .android, act: .button(id: "a1", text: nil), payload: android, provider: "braze",
                callback: .none, reasons: [.unknownButton, .brazeActionClicked]),
        ])
    func isDecided(_ expected: Case) throws {
        let payload = try expected.payload.map { try HandedBackPayload(json($0), platform: expected.platform) }
        #expect(payload == nil || payload?.provider == expected.provider)
        let decision = decide(
            expected.act, on: payload, of: expected.provider, platform: expected.platform,
            rules: InteractionRules(dismissActionCategories: [Glob("news-*")]))
        #expect(decision.callback == expected.callback)
        #expect(decision.outcome == expected.outcome)
        #expect(decision.reasons == expected.reasons)
    }

    @Test(
        "follows from the kind, or from Apple's own identifiers",
        arguments: [
            (InteractRequest.Kind.opened, nil, UserAct.opened), (.dismissed, nil, .dismissed), (.action, nil, .opened),
            (.action, "a", .button(id: "a", text: "t")),
            (.action, "com.apple.UNNotificationDefaultActionIdentifier", .opened),
            (.action, "com.apple.UNNotificationDismissActionIdentifier", .dismissed),
        ] as [(InteractRequest.Kind, String?, UserAct)])
    func isTold(_ kind: InteractRequest.Kind, _ action: String?, _ act: UserAct) {
        #expect(UserAct(kind, action: action, text: "t") == act)
    }

    @Test("has a reason without any text of the payload", arguments: InteractionReason.allCases)
    func isSaid(_ reason: InteractionReason) {
        #expect(!reason.description.isEmpty)
    }
}

@Suite("The action of a Braze button")
struct ButtonActionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var platform: Platform
        var payload: String
        var id: String
        var action: ButtonAction?

        var testDescription: String { "\(platform) \(id)" }
    }

    private static let android = """
        {"_ab":"true","ab_a0_a":"ab_uri","ab_a0_id":"web","ab_a0_uri":"HTTPS://example.com","ab_a1_a":"ab_uri",\
        "ab_a1_id":"deep","ab_a1_uri":"app://x/y","ab_a2_a":"ab_open","ab_a2_id":"open","ab_a3_a":"ab_none",\
        "ab_a3_id":"no","ab_a4_a":"ab_other","ab_a4_id":"odd","ab_a6_a":"ab_open","ab_a6_id":"gap"}
        """
    private static let ios = """
        {"aps":{"alert":"x","category":"ab_cat_accept_decline"},"ab":{"c":"c","ab_cat":{"ab_pb_accept":\
        {"a_t":"ab_uri","a_uri":"https://example.com"},"ab_pb_decline":{"a_t":"ab_uri","a_uri":"app://x"},\
        "own":{"a_t":"UNKNOWN","a_uri":"app://x"},"shut":{"a_t":"ab_none"},"bare":{}}}}
        """
    private static let web = """
        {"ab_ids":{"cid":"c"},"actionTargets":{"0":"https://example.com","1":"app:x","2":"/news","3":null,"4":""}}
        """

    // Source: the tracker's rule T1; Braze's SDKs for Android, iOS and the web.
    @Test(
        "follows from its type and target",
        arguments: [
            Case(platform: .android, payload: android, id: "web", action: .uri),
            Case(platform: .android, payload: android, id: "deep", action: .deepLink),
            Case(platform: .android, payload: android, id: "open", action: ButtonAction.none),
            Case(platform: .android, payload: android, id: "no", action: .close),
            Case(platform: .android, payload: android, id: "odd", action: nil),
            Case(platform: .android, payload: android, id: "gap", action: nil),
            Case(platform: .ios, payload: ios, id: "ab_pb_accept", action: .uri),
            // decline is CLOSE, whatever its other keys.
            Case(platform: .ios, payload: ios, id: "ab_pb_decline", action: .close),
            Case(platform: .ios, payload: ios, id: "own", action: .deepLink),
            Case(platform: .ios, payload: ios, id: "shut", action: .close),
            Case(platform: .ios, payload: ios, id: "bare", action: ButtonAction.none),
            Case(platform: .ios, payload: ios, id: "nowhere", action: nil),
            // A button of a category that this notification does not have.
            Case(platform: .ios, payload: ios, id: "ab_pb_cancel", action: nil),
            Case(platform: .web, payload: web, id: "0", action: .uri),
            Case(platform: .web, payload: web, id: "1", action: .deepLink),
            Case(platform: .web, payload: web, id: "2", action: .uri),
            Case(platform: .web, payload: web, id: "3", action: .close),
            Case(platform: .web, payload: web, id: "4", action: .close),
            Case(platform: .web, payload: web, id: "5", action: nil),
        ])
    func isTold(_ expected: Case) throws {
        let payload = try HandedBackPayload(json(expected.payload), platform: expected.platform)
        #expect(payload.action(expected.id).flatMap { ButtonAction($0.kind) } == expected.action)
    }

    @Test(
        "is known for the default categories on iOS without a description in the payload",
        arguments: [
            ("ab_cat_accept_decline", "ab_pb_accept", ButtonAction.none),
            ("ab_cat_accept_decline", "ab_pb_decline", .close), ("ab_cat_yes_no", "ab_pb_yes", ButtonAction.none),
            ("ab_cat_yes_no", "ab_pb_no", .close), ("ab_cat_confirm_cancel", "ab_pb_confirm", ButtonAction.none),
            ("ab_cat_confirm_cancel", "ab_pb_cancel", .close), ("ab_cat_more", "ab_pb_more", ButtonAction.none),
            ("ab_cat_more", "own", nil),
        ] as [(String, String, ButtonAction?)])
    func defaultCategories(_ category: String, _ id: String, _ action: ButtonAction?) throws {
        let payload = #"{"aps":{"alert":"x","category":"\#(category)"},"ab":{"c":"c"}}"#
        let handedBack = try HandedBackPayload(json(payload), platform: .ios)
        #expect(handedBack.action(id).flatMap { ButtonAction($0.kind) } == action)
    }

    @Test(
        "has the kind under which the tracker counts it",
        arguments: [
            (BrazeFacts.Action.Kind.uri, ButtonAction.uri), (.deepLink, .deepLink), (.open, ButtonAction.none),
            (.close, .close), (.unknown, nil),
        ] as [(BrazeFacts.Action.Kind, ButtonAction?)])
    func isNamed(_ kind: BrazeFacts.Action.Kind, _ action: ButtonAction?) {
        #expect(ButtonAction(kind) == action)
    }

    // Source: braze-swift-sdk, ABKPushUtils.m.
    @Test("on iOS is described by the category and ab_cat, in this order")
    func onApple() throws {
        let facts = try #require(try decision(.ios, Self.ios).braze)
        #expect(
            facts.actions == [
                BrazeFacts.Action(id: "ab_pb_accept", kind: .uri, uri: "https://example.com"),
                BrazeFacts.Action(id: "ab_pb_decline", kind: .close, uri: "app://x"),
                BrazeFacts.Action(id: "own", kind: .deepLink, uri: "app://x"),
                BrazeFacts.Action(id: "shut", kind: .close), BrazeFacts.Action(id: "bare", kind: .open),
            ])
        #expect(facts.deepLink == nil)
        let link = #"{"aps":{"alert":"x"},"ab":{"c":"c"},"ab_uri":"https://example.com","ab_use_webview":true}"#
        #expect(try decision(.ios, link).braze?.deepLink == "https://example.com")
        #expect(try decision(.ios, link).braze?.actions == [])
    }

    // Source: the service worker 3.5.1.
    @Test("on the web is described by pab")
    func onTheWeb() throws {
        let payload = """
            {"cid":"c","t":"T","u":"/news","pab":[{"action":"0","title":"View","a":"ab_uri","u":"https://example.com"},\
            {"action":"1","title":"Close","a":"ab_none"},{"action":"2","a":"ab_open"},{"action":"3","a":"odd"},\
            {"action":"4","a":"ab_uri","u":""},{"a":"ab_uri","u":"a/b:c"}]}
            """
        let facts = try #require(try decision(.web, payload).braze)
        #expect(
            facts.actions == [
                BrazeFacts.Action(id: "0", kind: .uri, title: "View", uri: "https://example.com"),
                BrazeFacts.Action(id: "1", kind: .close, title: "Close"), BrazeFacts.Action(id: "2", kind: .open),
                BrazeFacts.Action(id: "3", kind: .unknown), BrazeFacts.Action(id: "4", kind: .open),
                BrazeFacts.Action(id: nil, kind: .uri, uri: "a/b:c"),
            ])
        #expect(facts.deepLink == "/news")
        #expect(try decision(.web, #"{"cid":"c","u":null}"#).braze?.deepLink == nil)
    }
}
