import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

// Source: the service worker 3.5.1 of braze-web-sdk.
@Suite("Braze on the web")
struct BrazeWebTests {
    @Test(
        "is recognized by a string cid beside a title or a body, or by a key of Braze's",
        arguments: [
            (#"{"cid":"c","t":"T"}"#, Reason.brazeWebCampaign),
            (#"{"cid":"c","a":"A"}"#, .brazeWebCampaignAndContent),
            // The payloads from Stream Chat's documentation.
            (#"{"cid":"c"}"#, .noBrazeWebKey),
            (#"{"t":"T","ab_cd":{}}"#, .brazeWebKey),
            (#"{"cid":5}"#, .noBrazeWebKey),
            (#"{"ab":1,"xab_":1}"#, .noBrazeWebKey),
            (#"{"t":"T","a":"A"}"#, .noBrazeWebKey),
            // "Server has no pending push message".
            (#"{}"#, .webPayloadEmpty),
            // FCM's worker gets the data in an object of FCM's (internal-message-payload.ts), where Braze's does not look.
            (#"{"message":{"topic":"x","webpush":{"data":{"cid":"c","t":"T"}},"data":{"k":"v"}}}"#, .noBrazeWebKey),
            (#"{"message":{"topic":"x","data":{"cid":"c","t":"T"}}}"#, .noBrazeWebKey),
            (#"{"message":{"topic":"x","notification":{"title":"T"}}}"#, .noBrazeWebKey),
        ])
    func isDetected(_ payload: String, _ reason: Reason) throws {
        let decision = try decision(.web, payload)
        #expect(decision.reasons.first == reason)
        let isBraze = [.brazeWebCampaign, .brazeWebCampaignAndContent, .brazeWebKey].contains(reason)
        #expect(decision.invocations == [PlannedInvocation(callback: .push, owner: isBraze ? .tracker : .route)])
        #expect(decision.braze?.kind == (isBraze ? .visible : nil))
    }

    @Test("starts the service worker in every state", arguments: AppState.allCases)
    func startsWorker(_ state: AppState) throws {
        let decision = try decision(.web, #"{"cid":"c","t":"T"}"#, state: state)
        #expect(decision.callbacks == [.push])
        #expect(decision.received && decision.displayed && decision.braze?.countsForInfluencedOpen == true)
        #expect(decision.reasons.last == .serviceWorker)
    }

    @Test("is not displayed if notifications are denied, nor as a test of an in-app message")
    func isNotDisplayed() throws {
        let denied = try decision(.web, #"{"cid":"c","t":"T"}"#, notifications: .denied)
        #expect(denied.received && !denied.displayed)
        let test = try decision(.web, #"{"cid":"c","t":"T","ab_push_fetch_test_triggers_key":true}"#)
        #expect(test.received && !test.displayed)
        #expect(test.braze?.features == [.testInAppMessage])
    }

    @Test("has the features of its keys")
    func hasFeatures() throws {
        #expect(
            try decision(.web, #"{"cid":"c","t":"T","pab":[{}],"ab_cd":{}}"#).braze?.features == [
                .contentCardSync, .actions,
            ])
        #expect(try decision(.web, #"{"cid":"c","t":"T","pab":[]}"#).braze?.features == [])
    }

    @Test("leaves an object called message to the page unless it is a v1 body")
    func keepsOwnMessage() throws {
        let decision = try decision(.web, #"{"cid":"c","t":"T","message":{"text":"hi"}}"#)
        #expect(decision.provider == "braze")
        #expect(decision.keys.data("message") == #"{"text":"hi"}"#)
    }
}

@Suite("Payloads handed back with an interaction")
struct HandedBackPayloadTests {
    // Click: Braze's iff notification.data.ab_ids exists.
    @Test("on the web are Braze's if they have ab_ids")
    func onTheWeb() throws {
        let click = try JSONDocument(scanning: Fixture.bytes("payloads/braze-web/click-notification-data.json")).root
        let braze = try HandedBackPayload(click, platform: .web)
        #expect(braze.provider == "braze")
        #expect(braze.campaignID == "64b0f3a2c7e94d0012ab34cd")
        let near = try JSONDocument(scanning: Fixture.bytes("payloads/braze-web/near-click-no-ab-ids.json")).root
        let other = try HandedBackPayload(near, platform: .web)
        #expect(other.provider == nil && other.campaignID == nil && other.messageID == nil)
        #expect(try HandedBackPayload(json(#"{"cid":"c"}"#), platform: .web).provider == nil)
    }

    @Test("on Android and iOS equal the delivered payload")
    func onDevices() throws {
        let android = try HandedBackPayload(
            json(#"{"extras":{"_ab":"true","cid":"c","google.message_id":"m"}}"#), platform: .android)
        #expect(android.provider == "braze" && android.campaignID == "c" && android.messageID == "m")
        let ios = try HandedBackPayload(json(#"{"aps":{},"ab":{"c":"c"},"gcm.message_id":"m"}"#), platform: .ios)
        #expect(ios.provider == "braze" && ios.campaignID == "c" && ios.messageID == "m")
        let other = try HandedBackPayload(json(#"{"aps":{},"gcm.message_id":"m"}"#), platform: .ios)
        #expect(other.provider == nil && other.campaignID == nil && other.messageID == "m")
    }
}
