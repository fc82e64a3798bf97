import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("FCM v1 bodies")
struct V1BodyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var payload: String
        var field: String
        var message: String
        var testDescription: String { payload }
    }

    // Source: the discovery document of FCM v1, revision 20261023, and its server's answers.
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
                payload: #"{"message":{"token":"x","android":{},"android_v2":{}}}"#,
                field: "payload.message.android_v2",
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
                field: "payload.message.android_v2.data.a", message: "FCM v1 data values are strings; this is a boolean"
            ),
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
                message: #"this has to be a boolean; it is "yes""#),
            // The target.
            Case(
                payload: #"{"message":{"fid":"a","token":"b","topic":"c"}}"#, field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has fid and token and topic"),
            Case(
                payload: #"{"message":{"token":""}}"#, field: "payload.message.token",
                message: "this names no target: it is empty"),
            Case(
                payload: #"{"message":{"topic":"/topics/news"}}"#, field: "payload.message.topic",
                message: "a topic is 1 to 900 of A-Z, a-z, 0-9 and -_.~%, without /topics/ before it"),
            // Names that the server does not know.
            Case(
                payload: #"{"message":{"token":"x","to":"y"}}"#, field: "payload.message.to",
                message:
                    #"FCM v1 has no field of this name, but message.token: it answers Unknown name "to" at 'message'"#),
            Case(
                payload: #"{"message":{"token":"x","android":{"notification":{"Title":"y"}}}}"#,
                field: "payload.message.android.notification.Title",
                message: #"FCM v1 has no field of this name: it answers Unknown name "Title" "#
                    + "at 'message.android.notification'"
            ),
            Case(
                payload: #"{"message":{"token":"x"},"dry_run":true}"#, field: "payload.dry_run",
                message: #"FCM v1 has no field of this name, but validate_only: it answers Unknown name "dry_run""#),
            Case(
                payload: #"{"message":{"token":"x","android_v2":{"priority":"HIGH"}}}"#,
                field: "payload.message.android_v2.priority",
                message: #"FCM v1 has no field of this name: it answers Unknown name "priority" "#
                    + "at 'message.android_v2'"),
            // Types.
            Case(
                payload: #"{"message":{"token":"x","notification":{"title":5}}}"#,
                field: "payload.message.notification.title", message: "this has to be a string; it is a number"),
            Case(
                payload: #"{"message":{"token":"x","android":{"priority":"urgent"}}}"#,
                field: "payload.message.android.priority",
                message: #"this has to be one of NORMAL, HIGH; it is "urgent""#),
            Case(
                payload: #"{"message":{"token":"x","android":{"notification":{"notificationCount":1.5}}}}"#,
                field: "payload.message.android.notification.notification_count",
                message: #"this has to be a whole number of 32 bits; it is "1.5""#),
            Case(
                payload: #"{"message":{"token":"x","android":{"notification":{"title_loc_args":["a",2]}}}}"#,
                field: "payload.message.android.notification.title_loc_args[1]",
                message: "this has to be a string; it is a number"),
            Case(
                payload: #"{"message":{"token":"x","android":{"notification":{"event_time":"yesterday"}}}}"#,
                field: "payload.message.android.notification.event_time",
                message: #"this has to be a time as RFC 3339 has it; it is "yesterday""#),
            Case(
                payload: #"{"message":{"token":"x","android":{"ttl":3600}}}"#, field: "payload.message.android.ttl",
                message: "this has to be a string; it is a number"),
            Case(
                payload: #"{"message":{"token":"x","android":{"ttl":"3600"}}}"#, field: "payload.message.android.ttl",
                message: #"this has to be seconds with an s behind, like "3.5s"; it is "3600""#),
            // Checks of FCM beyond the types.
            Case(
                payload: #"{"message":{"token":"x","android":{"ttl":"2419200.5s"}}}"#,
                field: "payload.message.android.ttl", message: "FCM v1 keeps a message for 0 to 2419200 s, four weeks"),
            Case(
                payload: #"{"message":{"token":"x","androidV2":{"ttl":"-1s"}}}"#,
                field: "payload.message.android_v2.ttl",
                message: "FCM v1 keeps a message for 0 to 2419200 s, four weeks"),
            Case(
                payload: #"{"message":{"token":"x","android_v2":{"remote_notification":{},"background_sync":{}}}}"#,
                field: "payload.message.android_v2",
                message: "FCM v1 takes remote_notification or background_sync, not both"),
            Case(
                payload: #"{"message":{"token":"x","data":{"from":"y"}}}"#, field: "payload.message.data.from",
                message: "FCM keeps this key for itself: it answers Invalid data payload key: from"),
            Case(
                payload: #"{"message":{"token":"x","android":{"data":{"google.c.a.e":"1"}}}}"#,
                field: "payload.message.android.data.google.c.a.e",
                message: "FCM keeps this key for itself: it answers Invalid data payload key: google.c.a.e"),
            Case(
                payload: #"{"message":{"token":"x","webpush":{"fcm_options":{"link":"http://x.example"}}}}"#,
                field: "payload.message.webpush.fcm_options.link", message: "FCM v1 takes links with https only"),
        ])
    func areRefused(_ wrong: Case) throws {
        let expected = PayloadError(field: wrong.field, message: wrong.message)
        #expect(try refusal(.android, wrong.payload) == expected)
        // `V1Body` reports the same error.
        let body = try JSONDocument(scanning: Array(wrong.payload.utf8)).root
        do {
            _ = try V1Body(body)
            Issue.record("V1Body takes it")
        } catch {
            #expect(error.error == expected)
        }
    }

    @Test("are checked as a whole, whatever the platform", arguments: Platform.allCases)
    func areCheckedForEveryPlatform(_ platform: Platform) throws {
        let error = try refusal(platform, #"{"message":{"token":"x","webpush":{"data":{"a":1}}}}"#)
        #expect(error?.field == "payload.message.webpush.data.a")
    }

    @Test("may target by any of the four names", arguments: ["fid", "token", "topic", "condition"])
    func mayTarget(_ name: String) throws {
        #expect(try decision(.android, #"{"message":{"\#(name)":"x"}}"#).callbacks == [.onMessageReceived])
    }

    // ErrorCode, INVALID_ARGUMENT.
    @Test(
        "refuse reserved keys in the data",
        arguments: [
            ("from", false), ("message_type", false), ("gcm", false), ("google", false), ("googleplay", false),
            ("google.x", false), ("gcm.notification.title", false), ("From", true), ("gcmx", true),
            ("collapse_key", true), ("notification", true), ("to", true),
        ])
    func keepKeys(_ key: String, _ isTaken: Bool) throws {
        let error = try refusal(.android, #"{"message":{"token":"x","data":{"\#(key)":"v"}}}"#)
        #expect((error == nil) == isTaken)
    }

    // V1Parts.sizeLimit has the sources.
    @Test("FCM v1 refuses data beyond 4096 bytes", arguments: ["token", "fid", "topic", "condition"])
    func haveRoom(_ target: String) throws {
        func error(_ bytes: Int) throws -> PayloadError? {
            let value = String(repeating: "ä", count: (bytes - 2) / 2)
            return try refusal(.android, #"{"message":{"\#(target)":"x","data":{"kk":"\#(value)"}}}"#)
        }
        #expect(try error(4096) == nil)
        #expect(
            try error(4098)
                == PayloadError(
                    field: "payload.message",
                    message: "4098 bytes of data and notification for Android, keys and values: "
                        + "FCM takes 4096 and answers that the message is too large"))
    }

    @Test(
        "may use every spelling that protobuf reads",
        arguments: [
            #""android":{"priority":"high"}"#, #""android":{"priority":1}"#, #""android":{"priority":null}"#,
            #""android":{"ttl":"0s"}"#, #""android":{"ttl":"2419200s"}"#, #""android":{"ttl":"0.000000001s"}"#,
            #""android":{"collapseKey":"k","restrictedPackageName":"p","directBootOk":true}"#,
            #""android":{"notification":{"notification_count":"3","visibility":"public"}}"#,
            #""android":{"notification":{"notification_count":3.0,"vibrate_timings":["0.5s"]}}"#,
            #""android_v2":{"remote_notification":{"notification":{"id":5},"mutable_content":true}}"#,
            #""androidV2":{"backgroundSync":{},"collapseKey":"k"}"#,
            #""webpush":{"fcmOptions":{"link":"https://x.example"}},"fcmOptions":{"analyticsLabel":"a"}"#,
        ])
    func mayBeSpelled(_ members: String) throws {
        #expect(try refusal(.android, #"{"message":{"token":"x",\#(members)}}"#) == nil)
    }

    @Test(
        "of FCM's own SDKs are accepted, for every platform",
        arguments: Fixture.list("payloads/fcm-apns", suffix: ".json").filter { $0.contains("fcmv1-") })
    func ofSDKsAreTaken(_ path: String) throws {
        let payload = try JSONDocument(scanning: Fixture.bytes(path)).root
        for platform in Platform.allCases {
            _ = try decide(Delivery(platform: platform, payload: payload))
        }
        let body = try V1Body(payload)
        let platforms = platforms(of: payload["message"])
        #expect(body.onlyPlatform == (platforms.count == 1 ? platforms.first : nil))
    }

    @Test(
        "accept a floating point number in a string, as protobuf's JSON mapping does",
        arguments: [
            (#""0.5""#, true), (#""1e-3""#, true), (#""NaN""#, true), (#""-Infinity""#, true), ("0.5", true),
            (#""""#, false), (#"" 1""#, false), (#""0x1p3""#, false), (#""nan""#, false), (#""true""#, false),
        ])
    func numbersInTexts(_ red: String, _ isRight: Bool) throws {
        let light = #"{"color":{"red":\#(red)},"light_on_duration":"1s","light_off_duration":"1s"}"#
        let body = #"{"message":{"token":"t","android":{"notification":{"light_settings":\#(light)}}}}"#
        #expect((try refusal(.android, body) == nil) == isRight)
    }

    /// The platforms that a message has a part for, by the names of the parts.
    private func platforms(of message: JSONNode?) -> Set<Platform> {
        var platforms: Set<Platform> = []
        if message?["android"] != nil || message?["android_v2"] != nil { platforms.insert(.android) }
        if message?["apns"] != nil { platforms.insert(.ios) }
        if message?["webpush"] != nil { platforms.insert(.web) }
        return platforms
    }

    @Test("return their target, the dry-run flag, and the package")
    func tellWhatTheySay() throws {
        func body(_ text: String) throws -> V1Body { try V1Body(JSONDocument(scanning: Array(text.utf8)).root) }
        #expect(try body(#"{"message":{"token":"x"}}"#).recipient == .token("x"))
        #expect(try body(#"{"message":{"fid":"x"}}"#).recipient == .fid("x"))
        #expect(try body(#"{"message":{"topic":"x"}}"#).recipient == .topic("x"))
        #expect(try body(#"{"message":{"condition":"'x' in topics"}}"#).recipient == .condition("'x' in topics"))
        let dry = try body(#"{"message":{"token":"x","android":{"restrictedPackageName":"p"}},"validateOnly":true}"#)
        #expect(dry.isDryRun)
        #expect(dry.package == "p")
        #expect(try !body(#"{"message":{"token":"x"},"validate_only":false}"#).isDryRun)
    }

    @Test(
        "are malformed with a wrong name or type, and refused with a wrong value",
        arguments: [
            (#"{"message":{"token":"x","to":"y"}}"#, true), (#"{"message":{"token":5}}"#, true),
            (#"{"message":5}"#, true), ("{}", false), (#"{"message":{}}"#, false),
            (#"{"message":{"token":""}}"#, false),
            (#"{"message":{"token":"x","data":{"from":"y"}}}"#, false),
        ])
    func areMalformed(_ text: String, _ isMalformed: Bool) throws {
        let body = try JSONDocument(scanning: Array(text.utf8)).root
        do {
            _ = try V1Body(body)
            Issue.record("V1Body takes it")
        } catch {
            if case .malformed = error.answer { #expect(isMalformed) } else { #expect(!isMalformed) }
        }
    }
}
