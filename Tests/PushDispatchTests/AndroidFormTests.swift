import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Android payload forms")
struct AndroidFormTests {
    @Test(
        "read the data map from every form",
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

    @Test("treat a data map as such when its values have the names of the forms, but are no objects")
    func keepsNamesThatAreNoForms() throws {
        let decision = try decision(
            .android, #"{"message":"hello","extras":"x","data":"y","notification":"z","_ab":"true"}"#)
        #expect(decision.callbacks == [.onMessageReceived])
        #expect(decision.provider == "braze")
        #expect(decision.keys.data("notification") == "z")
        #expect(decision.warnings == [])
    }

    // FCM v1, AndroidConfig: "If present, it will override google.firebase.fcm.v1.Message.data."
    @Test("replace data by android.data of a v1 body, and do not merge them")
    func replacesData() throws {
        let decision = try decision(
            .android, #"{"message":{"token":"x","data":{"_ab":"true","k":"1"},"android":{"data":{"k":"2"}}}}"#)
        #expect(decision.provider == nil)
        #expect(decision.keys.data("k") == "2")
        #expect(decision.keys.data("_ab") == nil)
    }

    @Test(
        "find the notification block of every form",
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
        "find no notification block where FCM finds none",
        arguments: [
            #"{"notification":"x"}"#,
            #"{"gcm.n.e":1}"#,
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
    @Test(
        "hide FCM's own extras from the app",
        arguments: [
            "google.message_id", "gcm.n.e", "from", "message_type", "collapse_key",
        ])
    func dropsReservedExtras(_ key: String) throws {
        #expect(try decision(.android, #"{"extras":{"\#(key)":"v"}}"#).keys.data(key) == nil)
        // A data map has no FCM extras any more: a key with such a name is the producer's, with a warning.
        let decision = try decision(.android, #"{"data":{"\#(key)":"v"}}"#)
        #expect(decision.keys.data(key) == "v")
        #expect(decision.warnings == [.reservedKey(key)])
    }

    @Test("include ADM's intent, which hides no keys from the app and puts the dashboard's pairs beside the others")
    func readsAmazonIntent() throws {
        let decision = try decision(
            .android,
            #"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":{"_ab":"true","from":"x","Entree":"Hamburgers"}}"#
        )
        #expect(decision.provider == "braze")
        #expect(decision.keys.data("from") == "x")
        #expect(decision.keys.keyValue("Entree") == "Hamburgers")
        #expect(decision.message == nil)
        #expect(decision.warnings == [])
    }

    @Test("refuse an action that is no string, and treat null as none")
    func refusesOddAction() throws {
        #expect(
            try refusal(.android, #"{"action":5,"extras":{}}"#)
                == PayloadError(field: "payload.action", message: "this has to be a string; it is a number"))
        #expect(try decision(.android, #"{"action":null,"extras":{}}"#).callbacks == [.onMessageReceived])
        // Without extras, action is a key of the data map.
        #expect(try decision(.android, #"{"action":"x"}"#).keys.data("action") == "x")
    }

    @Test("give a dry run of FCM the outcome swallowed", arguments: ["validate_only", "validateOnly"])
    func validatesOnly(_ flag: String) throws {
        let decision = try decision(
            .android, #"{"message":{"token":"x","data":{"_ab":"true","t":"T","a":"A"}},"\#(flag)":true}"#)
        #expect(decision.outcome == .swallowed)
        #expect(decision.reasons.last == .validateOnly)
        #expect(!decision.received && !decision.displayed)
    }

    @Test("have only the strings of an intent in the data, and no rule reads its other values")
    func dropsOddExtras() throws {
        let odd = try decision(.android, #"{"extras":{"pw_msg":1,"n":5,"k":"v","itbl":{}}}"#)
        #expect(odd.matches == [])
        #expect(odd.keys.data("n") == nil && odd.keys.data("k") == "v")
        #expect(
            odd.warnings == [
                .extraIsNoString(key: "pw_msg", kind: "a number"), .extraIsNoString(key: "n", kind: "a number"),
                .extraIsNoString(key: "itbl", kind: "an object"),
            ])
        let braze = try decision(.android, #"{"extras":{"_ab":"true","t":1,"a":"A"}}"#)
        #expect(braze.braze?.kind == .silent, "there is no title in the data")
        let probe = try decision(
            .android, #"{"extras":{"adjust_purpose":"uninstall detection","androidx.content.wakelockid":5,"n":1}}"#)
        #expect(probe.matches == ["adjust-uninstall"], "the key is the only one in the data")
    }

    @Test("keep data values that are no strings, with a warning, except in the v1 form and intents")
    func keepOddValuesElsewhere() throws {
        for payload in [#"{"_ab":true,"n":5}"#, #"{"data":{"_ab":true,"n":5}}"#] {
            let decision = try decision(.android, payload)
            #expect(decision.provider == nil)
            #expect(decision.keys.data("n") == "5")
            #expect(
                decision.warnings == [
                    .dataValueIsNoString(key: "_ab", kind: "a boolean"),
                    .dataValueIsNoString(key: "n", kind: "a number"),
                ])
        }
    }

    @Test("name the field of a wrong shape")
    func otherFormsAreRefused() throws {
        #expect(
            try refusal(.android, #"{"data":"x","notification":{}}"#)
                == PayloadError(field: "payload.data", message: "this has to be an object; it is a string"))
        #expect(
            try refusal(.android, #"{"data":{},"notification":"hi"}"#)
                == PayloadError(field: "payload.notification", message: "this has to be an object; it is a string"))
    }
}
