import PushDispatch
import PushModel
import Testing

@Suite("Android payload forms")
struct AndroidFormTests {
    @Test(
        "reads the data map out of every form",
        arguments: [
            #"{"_ab":"true","t":"T","a":"A","k":"v"}"#,
            #"{"data":{"_ab":"true","t":"T","a":"A","k":"v"}}"#,
            #"{"data":{"_ab":"true","t":"T","a":"A","k":"v"},"notification":null,"messageId":"m"}"#,
            #"{"extras":{"_ab":"true","t":"T","a":"A","k":"v","google.message_id":"m","google.ttl":5}}"#,
            #"{"extras":{"_ab":"true","t":"T","a":"A","k":"v"},"app_state":"foreground","expect":{}}"#,
            #"{"message":{"token":"x","data":{"_ab":"true","t":"T","a":"A","k":"v"}}}"#,
            #"{"message":{"topic":"x","android":{"data":{"_ab":"true","t":"T","a":"A","k":"v"}}}}"#,
        ])
    func readsEveryForm(_ payload: String) throws {
        let decision = try decision(.android, payload)
        #expect(decision.braze?.kind == .visible)
        #expect(decision.callbacks == [.onMessageReceived])
        #expect(decision.keys.data("k") == "v")
    }

    @Test("takes a data map whose values have the names of the forms, but are no objects, for a data map")
    func keepsNamesThatAreNoForms() throws {
        let decision = try decision(
            .android, #"{"message":"hello","extras":"x","data":"y","notification":"z","_ab":"true"}"#)
        #expect(decision.callbacks == [.onMessageReceived])
        #expect(decision.provider == "braze")
        #expect(decision.keys.data("notification") == "z")
        #expect(decision.warnings == [])
    }

    // FCM v1, AndroidConfig: "If present, it will override google.firebase.fcm.v1.Message.data."
    @Test("lets android.data of a v1 body replace data, not add to it")
    func replacesData() throws {
        let decision = try decision(
            .android, #"{"message":{"token":"x","data":{"_ab":"true","k":"1"},"android":{"data":{"k":"2"}}}}"#)
        #expect(decision.provider == nil)
        #expect(decision.keys.data("k") == "2")
        #expect(decision.keys.data("_ab") == nil)
    }

    @Test(
        "sees a notification block wherever a form has it",
        arguments: [
            #"{"notification":{"title":"x"}}"#,
            #"{"notification":{},"data":{"k":"v"}}"#,
            #"{"extras":{"gcm.n.e":"1"}}"#,
            #"{"extras":{"gcm.notification.e":"1"}}"#,
            #"{"message":{"token":"x","notification":{"title":"x"}}}"#,
            #"{"message":{"fid":"x","android":{"notification":{"channel_id":"c"}}}}"#,
            #"{"message":{"fid":"x","android_v2":{"remote_notification":{"notification":{"title":"x"}}}}}"#,
            #"{"message":{"fid":"x","androidV2":{"remoteNotification":{}}}}"#,
        ])
    func seesNotifications(_ payload: String) throws {
        #expect(try decision(.android, payload).outcome == .shownBySystem)
    }

    @Test(
        "sees none where FCM sees none",
        arguments: [
            #"{"notification":"x"}"#,
            #"{"gcm.n.e":"1"}"#,
            #"{"extras":{"gcm.n.e":1}}"#,
            #"{"extras":{"gcm.n.e":"true"}}"#,
            #"{"message":{"token":"x","notification":null}}"#,
            #"{"message":{"token":"x","android_v2":{"background_sync":{},"data":{"k":"v"}}}}"#,
            #"{"message":{"token":"x","android_v2":{"remote_notification":{"use_as_v1_data_message":true}}}}"#,
        ])
    func seesNoNotification(_ payload: String) throws {
        #expect(try decision(.android, payload).callbacks == [.onMessageReceived])
    }

    // firebase-android-sdk, Constants.extractDeveloperDefinedPayload.
    @Test("keeps FCM's own extras from the app", arguments: [
        "google.message_id", "gcm.n.e", "from", "message_type", "collapse_key",
    ])
    func dropsReservedExtras(_ key: String) throws {
        #expect(try decision(.android, #"{"extras":{"\#(key)":"v"}}"#).keys.data(key) == nil)
        #expect(try decision(.android, #"{"data":{"\#(key)":"v"}}"#).keys.data(key) == "v")
    }

    @Test("does not dispatch what FCM is only to check", arguments: ["validate_only", "validateOnly"])
    func validatesOnly(_ flag: String) throws {
        let decision = try decision(
            .android, #"{"message":{"token":"x","data":{"_ab":"true","t":"T","a":"A"}},"\#(flag):true}"#
                .replacing("\(flag):", with: "\(flag)\":"))
        #expect(decision.outcome == .swallowed)
        #expect(decision.reasons.last == .validateOnly)
        #expect(!decision.received && !decision.displayed)
    }
}

@Suite("FCM v1 bodies")
struct V1BodyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var payload: String
        var field: String
        var message: String
        var testDescription: String { payload }
    }

    // Source: the discovery document of FCM v1, revision 20261023, and what its server answers.
    @Test(
        "are refused as FCM refuses them, naming the field",
        arguments: [
            Case(
                payload: #"{"message":{}}"#, field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has none"),
            Case(
                payload: #"{"message":{"token":null}}"#, field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has none"),
            Case(
                payload: #"{"message":{"topic":"a","token":"b"}}"#, field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has token and topic"),
            Case(
                payload: #"{"message":{"token":5}}"#, field: "payload.message.token",
                message: "this has to be a string; it is a number"),
            Case(
                payload: #"{"message":{"token":"x","data":{"ok":"1","badge":3}}}"#, field: "payload.message.data.badge",
                message: "FCM v1 data values are strings; this is a number"),
            Case(
                payload: #"{"message":{"token":"x","data":{"a":null}}}"#, field: "payload.message.data.a",
                message: "FCM v1 data values are strings; this is null"),
            Case(
                payload: #"{"message":{"token":"x","data":[]}}"#, field: "payload.message.data",
                message: "this has to be an object; it is an array"),
            Case(
                payload: #"{"message":{"token":"x","notification":"hi"}}"#, field: "payload.message.notification",
                message: "this has to be an object; it is a string"),
            Case(
                payload: #"{"message":{"token":"x","android":{},"android_v2":{}}}"#, field: "payload.message.android_v2",
                message: "FCM v1 takes android or android_v2, not both"),
            Case(
                payload: #"{"message":{"token":"x","android":true}}"#, field: "payload.message.android",
                message: "this has to be an object; it is a boolean"),
            Case(
                payload: #"{"message":{"token":"x","android":{"data":{"a":{}}}}}"#,
                field: "payload.message.android.data.a", message: "FCM v1 data values are strings; this is an object"),
            Case(
                payload: #"{"message":{"token":"x","android":{"notification":[]}}}"#,
                field: "payload.message.android.notification", message: "this has to be an object; it is an array"),
            Case(
                payload: #"{"message":{"token":"x","androidV2":{"data":{"a":false}}}}"#,
                field: "payload.message.android_v2.data.a", message: "FCM v1 data values are strings; this is a boolean"),
            Case(
                payload: #"{"message":{"token":"x","apns":{"headers":{"apns-priority":10}}}}"#,
                field: "payload.message.apns.headers.apns-priority",
                message: "FCM v1 headers values are strings; this is a number"),
            Case(
                payload: #"{"message":{"token":"x","apns":{"payload":"{}"}}}"#, field: "payload.message.apns.payload",
                message: "this has to be an object; it is a string"),
            Case(
                payload: #"{"message":{"token":"x","webpush":{"data":{"a":1}}}}"#,
                field: "payload.message.webpush.data.a", message: "FCM v1 data values are strings; this is a number"),
            Case(
                payload: #"{"message":{"token":"x"},"validate_only":"yes"}"#, field: "payload.validate_only",
                message: "this has to be a boolean; it is a string"),
        ])
    func areRefused(_ wrong: Case) throws {
        let expected = PayloadError(field: wrong.field, message: wrong.message)
        #expect(try refusal(.android, wrong.payload) == expected)
    }

    @Test("are checked whole, whatever the platform", arguments: Platform.allCases)
    func areCheckedForEveryPlatform(_ platform: Platform) throws {
        let error = try refusal(platform, #"{"message":{"token":"x","webpush":{"data":{"a":1}}}}"#)
        #expect(error?.field == "payload.message.webpush.data.a")
    }

    @Test("may target by any of the four names", arguments: ["fid", "token", "topic", "condition"])
    func mayTarget(_ name: String) throws {
        #expect(try decision(.android, #"{"message":{"\#(name)":"x"}}"#).callbacks == [.onMessageReceived])
    }

    @Test("beside the v1 form keep data values that are no strings, with a warning")
    func keepOddValuesElsewhere() throws {
        for payload in [#"{"_ab":true,"n":5}"#, #"{"data":{"_ab":true,"n":5}}"#, #"{"extras":{"_ab":true,"n":5}}"#] {
            let decision = try decision(.android, payload)
            #expect(decision.provider == nil)
            #expect(decision.keys.data("n") == "5")
            #expect(
                decision.warnings == [
                    .dataValueIsNoString(key: "_ab", kind: "a boolean"), .dataValueIsNoString(key: "n", kind: "a number"),
                ])
        }
    }

    @Test("other Android forms of a wrong shape name the field too")
    func otherFormsAreRefused() throws {
        #expect(
            try refusal(.android, #"{"data":"x","notification":{}}"#)
                == PayloadError(field: "payload.data", message: "this has to be an object; it is a string"))
        #expect(
            try refusal(.android, #"{"data":{},"notification":"hi"}"#)
                == PayloadError(field: "payload.notification", message: "this has to be an object; it is a string"))
    }
}
