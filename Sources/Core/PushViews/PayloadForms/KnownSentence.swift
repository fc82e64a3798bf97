import PushModel
import PushRouter

/// A sentence of an SDK, a service or a device about a push, with what it means and what to do about it.
///
/// A text with such a sentence has no payload, or has one that the sentence is about.
public struct KnownSentence: Sendable {
    /// The words of the text, all of which it has. The first one is the place of the sentence.
    private let marks: [String]
    /// The meaning, and the remedy.
    private let meaning: String

    /// The number of lines that have the first word, at least.
    private let times: Int

    private init(_ marks: String..., times: Int = 1, means meaning: String) {
        (self.marks, self.meaning, self.times) = (marks, meaning, times)
    }

    private init(_ marks: [String], _ meaning: String) { (self.marks, self.meaning, times) = (marks, meaning, 1) }

    /// The number of sentences that are told of a text.
    private static let toldMax = 4
    /// The number of reasons that only a list has.
    private static let listMin = 6

    /// Returns what the sentences in a text mean, each with its line, from 1 on.
    public static func all(in lines: [[UInt8]]) -> [(line: Int, text: String)] {
        // Source code names the errors that it handles.
        let lines = lines.map { isCondition($0) ? [] : $0 }
        let text = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        // A page of documentation or a table of source code.
        let reasons = APNsReason.allCases.count { has(text, $0.rawValue) }
        if reasons >= listMin {
            let line = lines.firstIndex { line in APNsReason.allCases.contains { has(line, $0.rawValue) } } ?? 0
            return [(line + 1, "a list of the reasons of APNs, and no answer of it")]
        }
        // The answers of push services to web pushes have reasons of APNs, too.
        let isOfWeb = has(text, "WebPushError") && ofWebPush.contains { $0.isIn(text) }
        let found: [(line: Int, text: String)] = table.compactMap { sentence in
            guard sentence.isIn(text), !isOfWeb || sentence.marks.first != "410",
                sentence.times == 1 || lines.count(where: { has($0, sentence.marks[0]) }) >= sentence.times
            else { return nil }
            let line = lines.firstIndex { has($0, sentence.marks[0]) } ?? 0
            return (line + 1, sentence.meaning)
        }
        var told: Set<String> = []
        return Array(found.sorted { $0.line < $1.line }.filter { told.insert($0.text).inserted }.prefix(toldMax))
    }

    private static func isCondition(_ line: [UInt8]) -> Bool {
        line.drop(while: \.isJSONWhiteSpace).starts(with: "case ".utf8)
            || ["if (", "if(", "=== '", "=== \"", "== '", "== \"", ".equals(\""].contains { line.has($0.utf8) }
    }

    /// Returns what the first sentence of the table that an object has means; `nil` if it has none.
    static func meaning(in object: JSONNode) -> String? {
        let text = Array(object.rawBytes)
        return table.first { $0.times == 1 && $0.isIn(text) }?.meaning
    }

    private func isIn(_ text: [UInt8]) -> Bool { marks.allSatisfy { Self.has(text, $0) } }

    /// Whether a text has a mark that no letter precedes or follows.
    private static func has(_ text: [UInt8], _ mark: String) -> Bool {
        let bytes = Array(mark.utf8)
        guard text.has(bytes) else { return false }
        func isLetter(_ byte: UInt8?) -> Bool {
            byte.map { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") } ?? false
        }
        return text.indices.contains { place in
            guard text[place] == bytes[0], text[place...].starts(with: bytes) else { return false }
            let (before, behind) = (place == 0 ? nil : text[place - 1], text.dropFirst(place + bytes.count).first)
            return !(isLetter(bytes.first) && isLetter(before)) && !(isLetter(bytes.last) && isLetter(behind))
        }
    }

    // From reports alone: the errors of clients with HTTP/1, whose server answers with frames of HTTP/2.
    private static let ofHTTP1 = [
        ["Unexpected HTTP/1.x request"], ["Only HTTP/1.0 and HTTP/1.1 version requests are currently supported"],
        ["Received HTTP/0.9 when not allowed"], ["BadStatusLine", "x00\\x00"], ["malformed HTTP response", "x00"],
        ["HPE_INVALID_CONSTANT", "/3/device"],
    ].map {
        KnownSentence(
            $0, "the client speaks HTTP/1, and the server HTTP/2, which APNs takes alone: use a client with HTTP/2")
    }

    private static let table = ofAndroid + ofSDKs + ofApple + ofHTTP1 + ofAPNs + ofFCM + ofWebPush + ofServices + ofCode

    // Source, read 2026-11-30: firebase-android-sdk, CommonNotificationBuilder.getOrCreateChannel (both of channels) and
    // FirebaseApp.getInstance; OneSignal-Android-SDK, NotificationFormatHelper.getOSNotificationIdFromBundle; Braze's
    // BrazeFirebaseMessagingService.handleBrazeRemoteMessage (braze-android-sdk 43.0.0).
    // From reports alone: Android's "No Channel found for pkg" (NotificationManagerService) and the meaning of
    // SERVICE_NOT_AVAILABLE and FIS_AUTH_ERROR, which Google Play services return.
    private static let ofAndroid = [
        KnownSentence(
            "com.google.firebase.MESSAGING_EVENT", times: 2,
            means: """
                the manifest has two services for MESSAGING_EVENT: a push goes to one of them alone, and the other gets \
                none; keep one, which gives each SDK its pushes
                """),
        KnownSentence(
            "did not originate from Braze",
            means: """
                Braze's service got a push of another sender and dropped it: nobody shows it; name a fallback service \
                for it (setFallbackFirebaseMessagingServiceEnabled), or have a service of your own give each SDK its pushes
                """),
        KnownSentence(
            "Not a OneSignal formatted",
            means: """
                OneSignal's SDK got a push without the key custom, which is another sender's, and dropped it: give it to \
                the SDK that it belongs to, or show it
                """),
        KnownSentence(
            "Notification Channel requested", "has not been created by the app",
            means: """
                FCM's SDK shows a notification message itself, in the default channel, for the app has no channel of \
                the name in brackets: create the channel before the push comes, or send the id of one that exists
                """),
        KnownSentence(
            "Missing Default Notification Channel metadata",
            means: """
                FCM's SDK shows a notification message itself, in a channel named Miscellaneous: name one in the \
                manifest (com.google.firebase.messaging.default_notification_channel_id), or send channel_id
                """),
        KnownSentence(
            "No Channel found",
            means: "Android shows nothing, for the app posts to a channel that it did not create: create it first"),
        KnownSentence(
            "Suppressing notification from package", "by user request",
            means: "Android shows nothing, for the user has turned the notifications of the app off"),
        KnownSentence(
            "Default FirebaseApp is not initialized",
            means:
                "the app has no Firebase yet when it is used: no token, no push; call FirebaseApp.initializeApp first"
        ),
        KnownSentence(
            "SERVICE_NOT_AVAILABLE",
            means: "Google Play services did not reach Google: the app has no token yet, and has to try again later"),
        KnownSentence(
            "FIS_AUTH_ERROR",
            means: "Firebase refused the app's API key: the app has no token; the key or its restrictions are wrong"),
    ]

    // Source, read 2026-12-01: Airship's Analytics.addEvent; clevertap-android-sdk, PushNotificationHandler.onMessageReceived.
    // From decompiled copies alone: Braze's sentence, which a later version calls expected for test sends.
    private static let ofSDKs = [
        KnownSentence(
            "No campaign Id associated with this notification",
            means: """
                Braze counts no open of this push, for it has no campaign id (cid), as a test message has none
                """),
        KnownSentence(
            "Analytics disabled - ignoring event",
            means: "Airship's SDK counts neither the push nor its open, for its analytics are turned off in the app"),
        KnownSentence(
            "since cleverTapAPI is null",
            means: """
                CleverTap's SDK got its push and shows nothing, for it has no instance for the account in the push \
                (wzrk_acct_id)
                """),
    ]

    // Source: SpringBoard's lines as reports have them (firebase/flutterfire#12978; its code is not public); Apple's
    // registerForRemoteNotifications and its error of a missing entitlement; firebase-ios-sdk, FIRMessaging.m,
    // retrieveFCMTokenForSenderID (read 2026-11-30). From reports alone: the lines of dasd, of a call that was not posted
    // and of a content state, and "no APNS Token specified".
    private static let ofApple = [
        KnownSentence(
            "hasAlertContent: 0",
            means: """
                iOS got a push without an alert (hasAlertContent: 0) and shows no text; with hasContentAvailable: 1 it \
                may wake the app, and pushType says what the sender called it: a push that shows nothing is background
                """),
        KnownSentence(
            "hasAlertContent: 1",
            means: """
                iOS got a push with an alert (hasAlertContent: 1), which it shows itself; with hasContentAvailable: 0 only \
                a tap runs code of the app in the background, and with hasMutableContent: 1 its service extension
                """),
        KnownSentence(
            "Content-available push notifications are only supported on-device",
            means: "a simulator: it wakes no app for content-available; try it on a device"),
        KnownSentence(
            "entitlement string", "aps-environment",
            means:
                "the app lacks the entitlement aps-environment: iOS gives it no token; add Push Notifications in Xcode"
        ),
        KnownSentence(
            "APNS device token not set before retrieving FCM Token",
            means: "the app asked for FCM's token before iOS gave it one of APNs: ask again when that has come"),
        KnownSentence(
            "no APNS Token specified",
            means: """
                FCM's SDK gets no token, for the app has none of APNs: register for remote notifications first, with \
                Push Notifications in Xcode
                """),
        KnownSentence(
            "never posted an incoming call",
            means: """
                iOS ended the app, for it did not report a call after a VoIP push: call reportNewIncomingCall of CallKit \
                within pushRegistry(_:didReceiveIncomingPushWith:), before its completion
                """),
        KnownSentence(
            "Unable to decode content state",
            means: """
                iOS dropped the push for the Live Activity, for content-state does not fit the app's ContentState: it \
                needs each of its members, in the same spelling and of the same type
                """),
        KnownSentence(
            "CANCELED: com.apple.pushLaunch",
            means: """
                iOS gave the launch of the app for a silent push up (dasd): silent pushes are not promised
                """),
    ]

    // Source: Apple's "Handling notification responses from APNs". Its other reasons say themselves what they mean.
    private static let ofAPNs =
        [
            (
                APNsReason.missingTopic,
                "APNs refused the send, for apns-topic is missing: it is the bundle id of the app (with a token instead of a certificate, always)"
            ),
            (
                .badDeviceToken,
                "APNs refused the send: this is no device token of Apple, or is of the other environment (sandbox for builds of Xcode)"
            ),
            (.deviceTokenNotForTopic, "APNs refused the send: the token is of another app than apns-topic names"),
            (.topicDisallowed, "APNs refused the send: the key or certificate may not send to this topic"),
            (.invalidProviderToken, "APNs refused the send: key, key id or team id of the token do not fit"),
            (.expiredProviderToken, "APNs refused the send: the provider token is older than an hour: make a new one"),
            (.missingProviderToken, "APNs refused the send: it has no provider token and no certificate of the topic"),
            (.badCertificateEnvironment, "APNs refused the send: the certificate is of the other environment"),
            (.badTopic, "APNs refused the send: apns-topic is no bundle id, or is malformed"),
            (.badExpirationDate, "APNs refused the send: apns-expiration is no whole number of seconds since 1970"),
            (.badCollapseID, "APNs refused the send: apns-collapse-id may have 64 bytes"),
            (.badCertificate, "APNs refused the send: the certificate is not valid for it"),
            (.payloadTooLarge, "APNs refused the send: a payload may have 4,096 bytes (5,120 for VoIP)"),
            (.tooManyProviderTokenUpdates, "APNs refused the send: a provider token is kept for 20 minutes at least"),
        ].map { KnownSentence($0.rawValue, means: $1) }
        + [
            KnownSentence(
                "410", "Unregistered",
                means: "APNs delivered nothing: the token is of an app that was removed; stop sending to it")
        ]
        + ["gateway.sandbox.push.apple.com", "gateway.push.apple.com"].map {
            KnownSentence(
                $0, means: "Apple has switched this service off (the binary protocol, 2021): send over HTTP/2 instead")
        }

    // Source: Firebase, "ErrorCode" of FCM v1 and the table of error responses of the API before it; firebase-admin-node,
    // error.ts, and validateStringMap of messaging-internal.ts (read 2026-11-30). From reports alone: answers of FCM in
    // firebase/firebase-admin-dotnet#39 and laravel-notification-channels/fcm#37, "must be a non-empty dictionary".
    private static let ofFCM =
        [
            // From reports alone: firebase-admin's answer after FCM's endpoint for batches ended.
            KnownSentence(
                "Operation is not implemented, or supported, or enabled",
                means:
                    "FCM has switched off the batches of sendAll and sendMulticast: use sendEach, sendEachForMulticast"),
            KnownSentence(
                "InvalidParameters",
                means: "FCM refused the send: a field has a name or a type that it does not take"),
            KnownSentence(
                "\"registration_ids\" field is not a JSON array",
                means: "FCM refused the send: registration_ids is a list of tokens, also of one; to takes a text"),
            KnownSentence(
                "com.google.firebase.messaging", "status: 401",
                means: """
                    FCM refused the send (401): the credentials of the server are wrong, or the APNs key of the Firebase \
                    project is missing or wrong
                    """),
            KnownSentence(
                "must be a non-empty dictionary",
                means: """
                    FCM refused the send: apns.payload has an aps without members; give it one, such as alert or \
                    content-available, or leave out apns.payload
                    """),
            KnownSentence(
                "Invalid value at 'message.", "TYPE_STRING",
                means: """
                    FCM refused the send: a value of data is no text; make the value behind the comma a text, as each value \
                    of data has to be
                    """),
            KnownSentence(
                "must only contain string values",
                means: "firebase-admin refused the message: a value of data is no text; make each value a text"),
            KnownSentence(
                "Invalid JSON payload received", "message.data[",
                means: """
                    FCM refused the send: a value of data is an object, and data has texts alone; keys of Apple's belong \
                    into apns.payload.aps
                    """),
            KnownSentence(
                "Invalid JSON payload received", "Unknown name",
                means: "FCM refused the send: it knows no field of the name that stands behind Unknown name"),
            KnownSentence(
                "InvalidRegistration",
                means: "FCM refused the send: this is no token of FCM; it is cut, or of another service such as APNs"),
            KnownSentence(
                "not a valid FCM registration token",
                means: "FCM refused the send: this is no token of FCM; it is cut, or of another service such as APNs"),
        ]
        + ["NotRegistered", "UNREGISTERED", "registration-token-not-registered", "Requested entity was not found"].map {
            KnownSentence(
                $0,
                means:
                    "FCM delivered nothing: the token is of an app that was removed, or is out of date; delete the token"
            )
        }
        + ["MismatchSenderId", "SENDER_ID_MISMATCH", "SenderId mismatch", "mismatched-credential"].map {
            KnownSentence(
                $0, means: "FCM refused the send: the token is of another Firebase project than the one that sends")
        }
        + ["Deprecated endpoint", "cloud-messaging/migrate-v1", "INVALID_KEY"].map {
            KnownSentence(
                $0,
                means:
                    "FCM refuses sends over its API before v1, which \(PayloadEnvelope.switchedOff): send over HTTP v1")
        }
        + ["Android message is too big", "MessageTooBig"].map {
            KnownSentence(
                $0,
                means: "FCM refused the send: the message is too large, for which Google gives 4,096 bytes")
        } + [
            KnownSentence(
                "InvalidDataKey",
                means: "FCM refused the send: data has a key that FCM keeps for itself, such as from, gcm or google.…"),
            KnownSentence(
                "Expected OAuth 2 access token",
                means: """
                    FCM refused the send: the OAuth 2 access token is missing, too old or of another project; a server \
                    key is none
                    """),
        ]
        + ["THIRD_PARTY_AUTH_ERROR", "Auth error from APNS or Web Push Service", "third-party-auth-error"].map {
            KnownSentence(
                $0,
                means: """
                    FCM could not send to APNs or the browser's service: the APNs key of the Firebase project is missing or \
                    wrong
                    """)
        }

    // Source: RFC 8030, 5 and 7.3 (404, 410, 413); RFC 8292, 4.2 (401, 403); the errors of pywebpush and of webpush for
    // Ruby (read 2026-12-01). From reports alone: the words of web-push and of WebPush for C#, UnauthorizedRegistration.
    static func meaning(ofWebPush status: Int64) -> String? {
        switch status {
        case 404, 410:
            "the browser's push service has no such subscription any more: delete it, and have the page subscribe again"
        case 401, 403:
            """
            the browser's push service refused the VAPID token: sign with the key that the page subscribed with, and for \
            the origin of the endpoint
            """
        case 400:
            """
            the browser's push service refused the request: its VAPID token, a header such as TTL or the encryption is \
            missing or wrong
            """
        case 413: "the browser's push service refused the payload, which is too long: 4,096 bytes when encrypted"
        case 429:
            "the browser's push service refused the send, for there were too many: wait as long as Retry-After says"
        default: nil
        }
    }

    private static let ofWebPush =
        ([400, 401, 403, 404, 410, 413, 429] as [Int64]).flatMap { status in
            let meaning = meaning(ofWebPush: status) ?? ""
            return [
                KnownSentence("statusCode: \(status)", "WebPushError", means: meaning),
                KnownSentence("response code: \(status)", "WebPush", means: meaning),
                KnownSentence("Push failed: \(status)", "WebPushException", means: meaning),
            ]
        }
        + [
            ("Net::HTTPGone", 410), ("WebPush::ExpiredSubscription", 410), ("WebPush::InvalidSubscription", 404),
            ("WebPush::Unauthorized", 403), ("do not correspond to the credentials used to create", 403),
            ("invalid JWT provided", 403), ("UnauthorizedRegistration", 401),
        ].map { (mark: String, status: Int64) in KnownSentence(mark, means: meaning(ofWebPush: status) ?? "") }
        // From reports alone (web-push#947, pywebpush#175).
        + [
            KnownSentence(
                "BadJwtToken",
                means: """
                    Apple's web push service refused the VAPID token: sub has to be mailto: with an address (no blank, no \
                    localhost) or https:, exp at most a day ahead, aud the origin of the endpoint
                    """)
        ]

    // Source: Expo, "Sending notifications with the Expo Push Service", errors; Amazon SNS, API reference of Publish. Moto
    // and LocalStack have SNS's sentence of a missing default, too (read 2026-11-30); "isn't associated with any device"
    // is from reports alone.
    private static let ofServices =
        ["DeviceNotRegistered", "is not a registered push notification recipient", "isn't associated with any device"]
        .map {
            KnownSentence(
                $0,
                means: "Expo delivered nothing: the token is no longer of an app that is installed; stop sending to it")
        } + [
            KnownSentence(
                "No default entry in JSON message body",
                means: """
                    SNS refused the message: with MessageStructure json it needs a member default with a text, beside those \
                    of the services
                    """),
            KnownSentence(
                "All included players are not subscribed",
                means: "OneSignal sent nothing: none of the recipients has a subscription that is active"),
            KnownSentence(
                "80300007", means: "Huawei delivered nothing: all tokens are invalid; take new ones, and delete these"),
            KnownSentence(
                "message_unifiedpush=false",
                means: "ntfy took this for a message of its own: the app of UnifiedPush gets only what comes with up=1"),
            KnownSentence(
                "Endpoint is disabled",
                means: "SNS sent nothing: APNs or FCM had refused the token; set a new one, and enable the endpoint"),
        ]

    // Source: rpush, apns2/delivery.rb (prepare_headers); node-gcm, message-options.js; PushSharp, AdmNotification.
    private static let ofCode = [
        KnownSentence(
            "in JSON at position", "JSON.parse",
            means: """
                a program parsed a text that is no JSON; if it is the push event of a service worker, send JSON, or have \
                it take event.data.text()
                """),
        KnownSentence(
            "Rpush::Apns", "content_available = true", "alert",
            means: """
                rpush sends what has content_available with apns-push-type background, in which Apple allows no alert: \
                iOS does not show it; set apns-push-type alert in data headers
                """),
        KnownSentence(
            "gcm.Message", "content_available",
            means:
                "node-gcm has no option content_available, and drops it: contentAvailable is the one; iOS is not woken"
        ),
        KnownSentence(
            "gcm.Message", "mutable_content",
            means: "node-gcm has no option mutable_content, and drops it: mutableContent is the one"),
        KnownSentence(
            "adm.SendNotification", "Data.Add",
            means: """
                PushSharp sends what is in Data as a message over Amazon Device Messaging: the app's receiver gets it \
                (onMessage), and the system shows nothing by itself; --transport adm explains the data as JSON
                """),
    ]
}

// The answers of services to a send.
extension PayloadEnvelope {
    /// Whether an object is the answer of a service to a send.
    static func isAnswer(_ object: JSONNode) -> Bool { nameOfAnswer(object, for: nil) != nil }

    /// Keys that the answers of servers and libraries have.
    private static let keysOfAnswers: Set<String> = [
        "success", "status", "result", "results", "error", "errors", "message", "msg", "code", "count",
        "counts", "logs", "statusCode", "headers", "body", "Reason", "ReasonString", "IsSuccessful", "ok",
        "sent", "failed", "failure", "details", "response", "failed_tokens", "total", "statusText", "requestId",
        "supported", "reason",
    ]

    /// The name of the answer of a service, with what it means; `nil` for any other object.
    static func nameOfAnswer(_ object: JSONNode, for platform: Platform?) -> String? {
        let count = object.count
        func answer(of service: String) -> String {
            let taken = (object["success"] ?? object["successCount"])?.int64 ?? 0
            let refused = (object["failure"] ?? object["failureCount"])?.int64 ?? 0
            let known = KnownSentence.meaning(in: object).map { ": \($0)" } ?? ""
            let counts = taken > 0 && refused > 0 ? ": \(taken) accepted, \(refused) refused" : ""
            let meaning = counts + (counts.isEmpty || known.isEmpty ? known : "; of what was refused\(known)")
            return """
                this is the answer of \(service) to a send, not a push\(meaning.isEmpty ? ":" : "\(meaning);") give the body \
                of the send, or what the device got
                """
        }
        if let log = object["logs"]?.elements.first, log["platform"] != nil, log["error"] != nil {
            return answer(of: "gorush")
        }
        if count == 1, object["name"]?.string?.hasPrefix("projects/") == true { return answer(of: "FCM") }
        if let error = object["error"], error["code"]?.kind == .number || error["status"] != nil,
            error["message"] != nil
        {
            return answer(of: "FCM")
        }
        // The inner object of the answer alone.
        let states = ["NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED"]
        if object["code"]?.kind == .number, object["message"]?.kind == .string,
            (states + ["UNAVAILABLE", "INTERNAL"]).contains(object["status"]?.string)
        {
            return answer(of: "FCM")
        }
        let failure = object["failed"] ?? object["error"] ?? object
        if failure["statusCode"] != nil, failure.hasAny("body", "headers"), failure.hasAny("endpoint", "message") {
            let status = failure["statusCode"]?.int64.map { " (\($0))" } ?? ""
            let meaning =
                failure["statusCode"]?.int64.flatMap(KnownSentence.meaning(ofWebPush:)).map { "\($0); " } ?? ""
            return
                "this is the error\(status) of a send by web-push, not a push: \(meaning)give the data of the push event"
        }
        if object.hasAny("failed_registration_ids") { return answer(of: "FCM") }
        if let reason = object["rejectionReason"]?.string, APNsReason(rawValue: reason) != nil {
            return answer(of: "APNs (\(reason)), as pushy gives it,")
        }
        if object.hasAny("multicast_id", "multicast_ids"), object.hasAny("results", "success", "failure") {
            return answer(of: "FCM")
        }
        let progress = ["Enqueued", "DetailedStateAvailable", "Processing", "Completed", "Abandoned", "Cancelled"]
        if progress.contains(object["state"]?.string ?? ""), object.hasAny("trackingId", "notificationId") {
            return answer(of: "Azure Notification Hubs")
        }
        if object["sent"]?.kind == .array, object["failed"]?.kind == .array {
            return answer(of: "APNs, as node-apn gives it,")
        }
        let code = (object["errorInfo"] ?? object)["code"]?.string
        if code?.hasPrefix("messaging/") == true, object.count <= 6 { return answer(of: "firebase-admin") }
        if object["successCount"] != nil, object["failureCount"] != nil { return answer(of: "firebase-admin") }
        if count == 1, object["message_id"]?.kind == .number { return answer(of: "FCM") }
        let status = object["statusCode"] ?? object["status"]
        let isNumber = status.map { $0.kind == .number || $0.string.flatMap(Int.init) != nil }
        let isStatus = isNumber ?? (count <= 2 || object.hasAny("apns-id"))
        if isStatus, let reason = (object["reason"] ?? object["error"])?.string {
            if APNsReason(rawValue: reason) != nil { return answer(of: "APNs (\(reason))") }
            if object["error"] != nil, KnownSentence.meaning(in: object) != nil { return answer(of: "a service") }
            if ["BadJwtToken", "BadWebPushRequest", "BadWebPushTopic", "VapidPkHashMismatch"].contains(reason) {
                return answer(of: "Apple's web push service")
            }
        }
        if object.hasAny("device", "status"), let reason = object["response"]?["reason"]?.string,
            APNsReason(rawValue: reason) != nil
        {
            return answer(of: "APNs (\(reason)), as node-apn gives it,")
        }
        if let errno = object["errno"]?.int64, errno >= 100, object["code"]?.kind == .number,
            object.hasAny("message", "error")
        {
            let meaning = object["code"]?.int64.flatMap(KnownSentence.meaning(ofWebPush:)).map { " (\($0))" } ?? ""
            return answer(of: "Mozilla's push service\(meaning)")
        }
        if object["code"]?.string?.utf8.count == 8, object["msg"] != nil, object["requestId"] != nil {
            return answer(of: "Huawei")
        }
        if object["registrationID"] != nil, object["data"] == nil { return answer(of: "Amazon Device Messaging") }
        if object["MessageId"] != nil, count == 1 || object.hasAny("ResponseMetadata", "SequenceNumber", "$metadata") {
            return answer(of: "Amazon SNS")
        }
        if let tickets = object["data"], count <= 2 {
            let first = tickets.kind == .array ? tickets.elements.first : tickets
            let receipt = first?.members.first?.value
            if [first, receipt].contains(where: { ["ok", "error"].contains($0?["status"]?.string ?? "") }) {
                return answer(of: "Expo")
            }
        }
        let isTicket = object.members.allSatisfy { ["status", "id", "message", "details"].contains($0.key) }
        let isAccepted = object["status"]?.string == "ok" && count == 2 && object["id"]?.string?.has("-") == true
        let isRefused = object["status"]?.string == "error" && object["details"]?.kind == .object
        if isTicket, isAccepted || isRefused { return answer(of: "Expo") }
        let details = object["details"]?.string
        let ofMongoose = ["bad_device_token", "unregistered", "not_registered", "payload_too_large", "bad_topic"]
        if count == 1, details.map({ ofMongoose.contains($0) || $0.hasPrefix("This is not the endpoint") }) == true {
            return answer(of: "MongoosePush")
        }
        if object["id"]?.string != nil, object.hasAny("recipients", "errors"), !object.hasTextsOnly, count <= 4 {
            return answer(of: "OneSignal")
        }
        if object["errors"]?.kind == .array, object["data"] == nil, count <= 2 { return answer(of: "a service") }
        let hasNumber = object.members.contains { $0.value.kind == .bool || $0.value.kind == .number }
        if platform?.takesText != true, hasNumber,
            object.hasAny("success", "result", "ok", "statusCode", "counts", "IsSuccessful", "sent", "error", "code"),
            object.members.allSatisfy({ keysOfAnswers.contains($0.key) })
        {
            return answer(of: "a server")
        }
        if let message = object["message"]?.string, count == 1 && message == "success" || object["dispatch_id"] != nil {
            return answer(of: "Braze")
        }
        if object.hasAny("DebugTrace", "MsgID"), object["ErrCode"] != nil {
            return answer(of: "WNS (Windows, ErrCode \(object["ErrCode"]?.int64 ?? 0))")
        }
        let ofAmazon = [
            "InvalidRegistrationId", "AccessTokenExpired", "MessageTooLarge", "InvalidChecksum", "InvalidData",
            "MaxRateExceeded", "Unregistered",
        ]
        if count == 1, let reason = object["reason"]?.string, ofAmazon.contains(reason) {
            return answer(of: "Amazon Device Messaging (\(reason))")
        }
        if platform == nil, count <= 3, object["error"]?.kind == .string,
            object.members.allSatisfy({ keysOfAnswers.contains($0.key) })
        {
            return answer(of: "a server")
        }
        if object["ok"]?.bool != nil, object.hasAny("operation_id", "push_ids") { return answer(of: "Airship") }
        return nil
    }
}
