import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A sentence about a push")
struct KnownSentenceTests {
    private static func lines(_ text: String) -> [[UInt8]] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }

    @Test(
        "has a meaning, with its line",
        arguments: [
            ("401\nExpected OAuth 2 access token, login cookie", 2, "the OAuth 2 access token is missing"),
            ("apns: 410\nUnregistered", 1, "the token is of an app that was removed"),
            (
                "x\nBadTopic\nBadPriority\nBadMessageId\nBadDeviceToken\nMissingTopic\nIdleTimeout", 2,
                "a list of the reasons of APNs"
            ),
            ("I/Appboy: No campaign Id associated with this notification. Not", 1, "Braze counts no open"),
            ("pywebpush.WebPushException: Push failed: 410 Gone", 1, "delete it, and have the page subscribe again"),
            ("WebPush.WebPushException: Received unexpected response code: 403", 1, "refused the VAPID token"),
            ("d\nNet::HTTPGone 410", 2, "delete it, and have the page subscribe again"),
            ("Android message is too big", 1, "for which Google gives 4,096 bytes"),
            ("code: 401 INVALID_KEY", 1, "before v1"),
            ("it never posted an incoming call to the system", 1, "reportNewIncomingCall"),
            ("Unable to decode content state: missing", 1, "does not fit the app's ContentState"),
            (
                "W/x: hello\nBraze v30 .Service: Remote message did not originate from Braze. Not consuming it", 2,
                "Braze's service got a push of another sender"
            ),
            (
                "[D] Not a OneSignal formatted FCM message. No 'custom' field", 1,
                "OneSignal's SDK got a push without the key custom"
            ),
            (
                "W/FirebaseMessaging: Notification Channel requested (news) has not been created by the app.", 1,
                "FCM's SDK shows a notification message itself"
            ),
            (
                "x\n\nrequest x [ waking: 1, hasAlertContent: 0, hasSound: 1 pushType: Alert]", 3,
                "iOS got a push without an alert"
            ),
            ("{ error: 'NotRegistered' }", 1, "FCM delivered nothing"),
            ("@NotRegistered[", 1, "FCM delivered nothing"), ("{NotRegistered`", 1, "FCM delivered nothing"),
            (#"  "error": "MissingTopic""#, 1, "APNs refused the send, for apns-topic is missing"),
            ("apns: 400 BadDeviceToken", 1, "this is no device token of Apple, or is of the other environment"),
            ("Invalid value at 'message.data[0].value' (TYPE_STRING), 7", 1, "a value of data is no text"),
            (
                "Invalid parameter: Message Structure - No default entry in JSON message body", 1,
                "SNS refused the message"
            ),
            (
                "n = Rpush::Apns2::Notification.new\nn.content_available = true\nn.alert = 'x'", 1,
                "rpush sends what has content_available"
            ),
            ("new gcm.Message({\n content_available: true })", 1, "node-gcm has no option content_available"),
        ])
    func means(_ text: String, _ line: Int, _ meaning: String) throws {
        let found = try #require(KnownSentence.all(in: Self.lines(text)).first, "\(text)")
        #expect(found.line == line && found.text.has(meaning), "\(found)")
        // Four sentences of a text are told, those of its first lines.
        let many = ["FIS_AUTH_ERROR", "NotRegistered", "MismatchSenderId", "InvalidDataKey", "aps-environment"]
        #expect(KnownSentence.all(in: many.map { Array($0.utf8) }).map { $0.line } == [1, 2, 3, 4])
    }

    @Test(
        "is told only where its words are whole",
        arguments: [
            "git: Push failed: 413 Payload Too Large", "I added aps-environment", "The device is NotRegisteredYet",
            "you are NOT_UNREGISTEREDx", "hasAlertContents: 0",
            "gcm.Message({ contentAvailable: true })", "aNotRegistered", "ZNotRegistered", "NotRegisteredz",
            "NotRegisteredA",
            "a plain line",
        ])
    func isNone(_ text: String) { #expect(KnownSentence.all(in: Self.lines(text)).isEmpty, "\(text)") }

    @Test("is in the name of an answer")
    func answers() throws {
        for (answer, meaning) in [
            (
                #"{"data":{"status":"error","message":"x","details":{"error":"DeviceNotRegistered"}}}"#,
                "stop sending to it"
            ),
            (#"{"multicast_id":1,"failure":1,"results":[{"error":"NotRegistered"}]}"#, "delete the token"),
            (
                #"{"error":{"code":400,"message":"Value of [aps] must be a non-empty dictionary.","status":"INVALID_ARGUMENT"}}"#,
                "apns.payload has an aps without members"
            ),
            (#"{"reason":"MissingTopic"}"#, "apns-topic is missing"),
            (#"{"counts":1,"logs":[{"platform":"ios","error":"MissingTopic"}]}"#, "the answer of gorush"),
        ] {
            let name = try #require(PayloadEnvelope.nameOfOther(json(answer)))
            #expect(name.has(meaning), "\(name)")
        }
    }
}
