import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// A payload and its provider by a shipped rule.
private struct Case: Sendable, CustomTestStringConvertible {
    var platform: Platform
    var payload: String
    var provider: String?
    /// The source of the rule.
    var source: String

    init(_ platform: Platform, _ payload: String, _ provider: String?, _ source: String) {
        self.platform = platform
        self.payload = payload
        self.provider = provider
        self.source = source
    }

    var testDescription: String { "\(platform) \(payload) -> \(provider ?? "nobody") (\(source))" }
}

@Suite("The shipped providers")
struct ProviderRuleTests {
    private static let oneSignal = "NotificationFormatHelper.kt; OneSignalHelper.m copies"
    private static let airship = "PushMessage.kt:183"
    private static let cleverTap = "CleverTapAPI.java:855; CleverTap.m:1515, CTConstants.h:154-156"
    private static let iterable = "IterableNotificationHelper.java:475; Constants.swift:372"
    private static let klaviyo = "KlaviyoRemoteMessage.kt:115; Dictionary+Metadata.swift:43"
    private static let customerIO = "CustomerIOPushNotificationHandler.kt:87; PushNotification.swift:36"
    private static let leanplum = "LeanplumFirebaseServiceHandler.java:85; Constants.java:191-210"
    private static let batch = "BAPushCenter.m:502"
    private static let salesforce = "decompiled PushMessageManager"
    private static let moEngage = "decompiled MoEPushHelper"
    private static let zendesk = "public copies"
    private static let probes = "public copies"

    private static let cases = [
        Case(.android, #"{"custom":"{\"i\":\"x\"}"}"#, "onesignal", oneSignal),
        Case(.android, #"{"custom":"{\"i\":null}"}"#, "onesignal", oneSignal),
        Case(.android, #"{"custom":"{\"a\":{\"i\":1}}"}"#, nil, oneSignal),
        Case(.android, #"{"custom":"i"}"#, nil, oneSignal),
        Case(.android, #"{"custom":"[\"i\"]"}"#, nil, oneSignal),
        Case(.android, #"{"custom":{"i":"x"}}"#, nil, oneSignal),
        Case(.ios, #"{"aps":{},"custom":{"i":"x"}}"#, "onesignal", oneSignal),
        Case(.ios, #"{"aps":{},"os_data":{"i":"x"}}"#, "onesignal", oneSignal),
        Case(.ios, #"{"aps":{},"custom":"{\"i\":\"x\"}"}"#, nil, oneSignal),
        Case(.ios, #"{"aps":{},"i":"x","custom":{}}"#, nil, oneSignal),

        Case(.android, #"{"com.urbanairship.push.PUSH_ID":""}"#, "airship", airship),
        Case(.android, #"{"com.urbanairship.push.CANONICAL_PUSH_ID":"x"}"#, "airship", airship),
        Case(.android, #"{"com.urbanairship.metadata":"x"}"#, "airship", airship),
        Case(.android, #"{"com.urbanairship.push.ALERT":"x"}"#, nil, airship),
        Case(.ios, #"{"aps":{},"com.urbanairship.metadata":"x"}"#, "airship", airship),
        Case(.ios, #"{"aps":{},"_":"x"}"#, nil, airship),

        Case(.android, #"{"wzrk_pn":""}"#, "clevertap", cleverTap),
        Case(.android, #"{"wzrk_id":"x"}"#, nil, cleverTap),
        Case(.ios, #"{"wzrk_id":"x"}"#, "clevertap", cleverTap),
        Case(.ios, #"{"W$id":"x"}"#, "clevertap", cleverTap),
        Case(.ios, #"{"W\u0024id":"x"}"#, "clevertap", cleverTap),
        Case(.ios, #"{"w$id":"x","WZRK_id":"x","x":{"wzrk_id":1}}"#, nil, cleverTap),

        Case(.android, #"{"itbl":"{}"}"#, "iterable", iterable),
        Case(.android, #"{"itbl":null}"#, "iterable", iterable),
        Case(.ios, #"{"aps":{},"itbl":{}}"#, "iterable", iterable),
        Case(.ios, #"{"aps":{},"itbl":"{}"}"#, nil, iterable),

        Case(.android, #"{"_k":""}"#, "klaviyo", klaviyo),
        Case(.android, #"{"body":"{\"_k\":1}"}"#, nil, klaviyo),
        Case(.ios, #"{"aps":{},"body":{"_k":{}}}"#, "klaviyo", klaviyo),
        Case(.ios, #"{"aps":{},"_k":"","body":"_k"}"#, nil, klaviyo),

        Case(.android, #"{"CIO-Delivery-ID":"","CIO-Delivery-Token":""}"#, "customerio", customerIO),
        Case(.android, #"{"CIO-Delivery-ID":"x"}"#, nil, customerIO),
        Case(.android, #"{"CIO-Delivery-ID":"x","CIO-Delivery-Token":1}"#, nil, customerIO),
        Case(.ios, #"{"aps":{},"CIO-Delivery-ID":"x","CIO-Delivery-Token":"y"}"#, "customerio", customerIO),
        Case(.web, #"{"CIO-Delivery-ID":"x","CIO-Delivery-Token":"y"}"#, "customerio", customerIO),
        Case(.web, #"{"CIO-Delivery-Token":"y"}"#, nil, customerIO),

        Case(.android, #"{"lp_message":"x"}"#, "leanplum", leanplum),
        Case(.android, #"{"_lpm":"x","lp_silent_track":"1"}"#, nil, leanplum),
        Case(.ios, #"{"aps":{},"_lpm":5.571215811412e+15}"#, "leanplum", leanplum),
        Case(.ios, #"{"aps":{},"_lpx":{}}"#, nil, leanplum),

        Case(.android, #"{"pw_msg":"1"}"#, "pushwoosh", "RemoteMessageUtils.java:16"),
        Case(.android, #"{"pw":"1"}"#, nil, "RemoteMessageUtils.java:16"),
        Case(.android, #"{"_xdm":"x"}"#, "adobe", "MessagingService.java:181"),
        Case(.android, #"{"adb_title":"x"}"#, "adobe", "MessagingService.java:181"),
        Case(.android, #"{"adobe_xdm":"x","adb_body":"x"}"#, nil, "MessagingService.java:181"),
        Case(
            .android, #"{"org_ib_d":"{\"messageId\":\"m\",\"text\":\"t\"}"}"#, "infobip", "FirebaseMessageMapper.java"),
        Case(.android, #"{"org_ib_d":"{}"}"#, nil, "FirebaseMessageMapper.java"),

        Case(.ios, #"{"aps":{},"com.batch":{"i":"x"}}"#, "batch", batch),
        Case(.ios, #"{"aps":{},"com.batch":{}}"#, nil, batch),
        Case(.ios, #"{"aps":{},"com.batch":"x"}"#, nil, batch),
        Case(.android, #"{"com.batch":"x"}"#, "batch", "PushModule.java"),

        Case(.android, #"{"_sid":"sfmc"}"#, "salesforce", salesforce),
        Case(.android, #"{"_sid":"SFMC"}"#, "salesforce", salesforce),
        Case(.android, #"{"_sid":"\u017fFMC"}"#, "salesforce", "String.equalsIgnoreCase: the long s is an S"),
        Case(.android, #"{"_sid":"SFMC "}"#, nil, salesforce),
        Case(.android, #"{"push_from":"moengage"}"#, "moengage", moEngage),
        Case(.android, #"{"push_from":"MoEngage"}"#, nil, moEngage),
        Case(
            .android, #"{"intercom_push_type":"x","receiver":"intercom_sdk"}"#, "intercom",
            "copies of SimplePushData.isIntercomPush"),
        Case(.android, #"{"intercom_push_type":"x"}"#, nil, "copies of SimplePushData.isIntercomPush"),
        Case(.android, #"{"receiver":"x","conversation_id":"1"}"#, nil, "public copies of payloads"),
        Case(.android, #"{"smoochNotification":"TRUE"}"#, "zendesk", "parseBoolean"),
        Case(.android, #"{"smoochNotification":"x"}"#, nil, "parseBoolean"),
        Case(.android, #"{"zendesk_sdk_request_id":"1"}"#, "zendesk", zendesk),
        Case(.android, #"{"SmoochNotification":"x"}"#, nil, zendesk),
        Case(.ios, #"{"aps":{},"SmoochNotification":1}"#, "zendesk", zendesk),
        Case(.ios, #"{"aps":{},"smoochNotification":1}"#, nil, zendesk),
        Case(.android, #"{"twi_message_type":"twilio.voice.call"}"#, "twilio", "public copies"),
        Case(.ios, #"{"aps":{},"twi_message_type":"twilio.voice.call"}"#, "twilio", "public copies"),
        Case(.android, #"{"ems_msg":"x"}"#, "emarsys", "MessagingServiceUtils tests"),
        Case(.android, #"{"ems.version":"x"}"#, "emarsys", "EmarsysHuaweiMessagingServiceUtils.kt"),
        Case(.android, #"{"ems":{"version":"x"}}"#, nil, "EmarsysHuaweiMessagingServiceUtils.kt"),
        Case(.android, #"{"mp_message":"x"}"#, "mixpanel", "MixpanelFCMMessagingService tests"),

        Case(.android, #"{"af-uinstall-tracking":"x","k":"v"}"#, "appsflyer-uninstall", probes),
        Case(.android, #"{"af-uninstall-tracking":"x"}"#, nil, probes),
        Case(.android, #"{"adjust_purpose":"uninstall detection"}"#, "adjust-uninstall", probes),
        Case(.android, #"{"adjust_purpose":"uninstall detection","k":"v"}"#, nil, probes),
        Case(.android, #"{"adjust_purpose":"Uninstall detection"}"#, nil, probes),
        Case(
            .android, #"{"extras":{"google.message_id":"m","from":"1","adjust_purpose":"uninstall detection"}}"#,
            "adjust-uninstall", "RemoteMessage.getData: FCM's own extras are not in the map"),

        Case(.ios, #"{"aps":{},"gcm.message_id":"m","google.c.a.e":"1"}"#, nil, "FIRMessagingConstants.m:35"),
        Case(.android, #"{"extras":{"gcm.message_id":"m"}}"#, nil, "a mark of the transport"),
        Case(.android, #"{"message":{"token":"t","data":{"itbl":"{}"}}}"#, "iterable", iterable),
        Case(.android, #"{"message":{"token":"t","data":{"itbl":"x"},"android":{"data":{}}}}"#, nil, "2.5"),
        Case(
            .ios, #"{"message":{"token":"t","apns":{"payload":{"aps":{}}},"data":{"wzrk_id":"1"}}}"#, "clevertap", "2.5"
        ),
    ]

    @Test("match the payloads of their SDKs and no similar ones", arguments: cases)
    private func match(_ expected: Case) throws {
        let decision = try decision(expected.platform, expected.payload)
        #expect(decision.provider == expected.provider)
        #expect(decision.matches == [expected.provider].compactMap(\.self))
    }

    @Test(
        "each have a payload here or in the fixtures on each of their platforms, except Braze, which has its own tests")
    func isComplete() {
        for provider in DetectionSettings.shipped.providers where provider.name != "braze" {
            for platform in provider.platforms.keys {
                #expect(
                    Self.cases.contains { $0.platform == platform && $0.provider == provider.name }
                        || ProviderPayload.all.contains { $0.platform == platform && $0.provider == provider.name },
                    "\(provider.name) on \(platform)")
            }
        }
    }

    @Test("are marked when they are known only from third-party copies")
    func lowConfidence() throws {
        let low = DetectionSettings.shipped.providers.flatMap { provider in
            provider.platforms.filter { $0.value.confidence == .low }.map { "\(provider.name) \($0.key)" }
        }
        #expect(
            Set(low) == [
                "salesforce android", "salesforce ios", "moengage android", "moengage ios",
                "intercom android", "intercom ios", "zendesk android",
                "zendesk ios", "twilio android", "twilio ios", "appsflyer-uninstall android",
                "sendbird android", "sendbird ios", "webengage ios",
                "insider android", "insider ios", "freshchat android", "freshchat ios", "helpshift android",
                "helpshift ios",
            ])
        #expect(
            try decision(.android, #"{"push_from":"moengage"}"#).reasons.map(\.description) == [
                "data has no key _ab: the payload is not Braze's",
                #"data.push_from is exactly "moengage": the payload is MoEngage's; "#
                    + "the rule is known only from third-party copies",
                "the message has no notification block: FCM calls onMessageReceived, whatever the app is doing",
            ])
    }

    /// The possible orders of a rule with this condition. 190 is a narrower rule for the key of another rule, 250 a
    /// rule with short or common keys.
    private static func band(_ condition: ProviderCondition) -> ClosedRange<Int> {
        switch condition {
        case .value(_, .equals): 100...100
        case .value, .inText, .every: 100...250
        case .keyBeginning, .keyContaining, .keyCount: 300...300
        }
    }

    @Test("each name the page of their source")
    func origins() throws {
        for provider in DetectionSettings.shipped.providers {
            for rule in provider.platforms.values {
                #expect(rule.origin != nil && rule.source != nil, "\(provider.name)")
                #expect((rule.origin == .copy) == (rule.confidence == .low), "\(provider.name)")
            }
        }
    }

    @Test("are ordered: Braze, texts, presence, prefixes of keys")
    func areInOrder() {
        for provider in DetectionSettings.shipped.providers where provider.name != "braze" {
            for rule in provider.platforms.values {
                let orders = (rule.all + rule.any).map(Self.band)
                #expect(orders.contains { $0.contains(rule.order) }, "\(provider.name)")
            }
        }
        let braze = DetectionSettings.shipped.providers.first { $0.name == "braze" }
        #expect(braze == .braze, "the shipped file is the rule that is known without a configuration")
    }

    @Test(
        "a provider's match names the condition that matched",
        arguments: [
            (
                .android, #"{"CIO-Delivery-ID":"x","CIO-Delivery-Token":"y"}"#,
                "data.CIO-Delivery-ID and data.CIO-Delivery-Token are strings: the payload is Customer.io's"
            ),
            (
                .android, #"{"custom":"{\"i\":1}"}"#,
                "data.custom is a JSON text with the key i: the payload is OneSignal's"
            ),
            (.android, #"{"itbl":"x"}"#, "data has the key itbl: the payload is Iterable's"),
            (.ios, #"{"aps":{},"body":{"_k":1}}"#, "userInfo.body has the key _k: the payload is Klaviyo's"),
            (.ios, #"{"aps":{},"W$x":1}"#, "userInfo has a key that begins with W$: the payload is CleverTap's"),
            (.ios, #"{"aps":{},"itbl":{}}"#, "userInfo.itbl is an object: the payload is Iterable's"),
            (
                .ios, #"{"aps":{},"com.batch":{"i":1}}"#,
                "userInfo.com.batch is an object with members: the payload is Batch's"
            ),
            (
                .web, #"{"cid":"c","t":"T"}"#,
                "payload.cid is a string and payload has the key t: the payload is Braze's; the rule is an interpretation"
            ),
            (
                .android, #"{"custom":"{\"a\":{\"k.message\":{\"data\":{\"id\":1}}}}"}"#,
                "the JSON text data.custom.a.k.message.data has the key id: the payload is Kumulos's"
            ),
            (
                .android, #"{"pusherTokenValidation":"true"}"#,
                #"data.pusherTokenValidation is exactly "true": the payload is a probe of Pusher Beams's SDK"#
            ),
            (
                .android, #"{"my.pinpoint.id":"1"}"#,
                "data has a key that contains pinpoint: the payload is Amazon Pinpoint's"
            ),
            (.android, #"{"_sp":"1"}"#, "data._sp is a string that is not empty: the payload is Swrve's"),
            (.ios, #"{"aps":{},"_p":1}"#, "userInfo._p is there and not null: the payload is Swrve's"),
            (
                .ios, #"{"aps":{},"appboy_uninstall_tracking":"1"}"#,
                "userInfo.appboy_uninstall_tracking counts as true: the payload is Braze's"
            ),
            (
                .android, #"{"_sid":"sfmc"}"#,
                #"data._sid is "SFMC" in any case: the payload is Salesforce's; the rule is known only from third-party copies"#
            ),
            (
                .android, #"{"adjust_purpose":"uninstall detection"}"#,
                #"data.adjust_purpose is exactly "uninstall detection" and data has exactly one key: "#
                    + "Adjust tests whether the app is still installed"
            ),
        ] as [(Platform, String, String)])
    func sayWhy(_ platform: Platform, _ payload: String, _ reason: String) throws {
        #expect(try decision(platform, payload).providers.map(\.description) == [reason])
    }
}
