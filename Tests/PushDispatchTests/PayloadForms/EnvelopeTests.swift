import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("An object that people take for a payload")
struct EnvelopeTests {
    private static func opened(_ text: String, for platform: Platform? = nil) throws -> WrittenPayload? {
        try PayloadEnvelope.open(json(text), for: platform)
    }

    @Test(
        "is a web push of plain text where the platform is the web, as the gateway delivers it",
        arguments: [
            ("Hello, world", #"{"text":"Hello, world"}"#, "event.data.json() throws a SyntaxError"),
            ("one line\nand another\n", #"{"text":"one line\u000aand another"}"#, "event.data.text()"),
            (#""a text in JSON""#, #"{"text":"\"a text in JSON\""}"#, "a value that is no object"),
            ("42", #"{"text":"42"}"#, "a value that is no object"), ("", "{}", "without a body: event.data is null"),
            ("\n", "{}", "without a body"),
        ])
    func plainText(_ text: String, _ payload: String, _ name: String) throws {
        let read = try PayloadEnvelope.read(Array(text.utf8), for: .web, limits: JSONLimits())
        #expect(String(decoding: read.object.compactBytes, as: UTF8.self) == payload)
        #expect(read.facts.name?.contains(name) == true && read.facts.platform == .web)
        for platform in [nil, Platform.android, .ios] where text != "42" && !text.hasPrefix("\"") {
            #expect(throws: PayloadFormError.self) {
                try PayloadEnvelope.read(Array(text.utf8), for: platform, limits: JSONLimits())
            }
        }
    }

    @Test(
        "is no plain text if it has a name, is a log, begins like a payload or is too long, unless a person says so",
        arguments: [
            "<html><body>Hello", "11-30 08:00:00.000 I/App: Hello", #"{"a": 1"#, "[1, 2]", "curl https://example.com",
            "error: NotRegistered",
        ])
    func noPlainText(_ text: String) {
        let limits = JSONLimits()
        #expect(PayloadEnvelope.webPush(of: Array(text.utf8), isSaid: false, limits: limits) == nil)
        let said = PayloadEnvelope.webPush(of: Array(text.utf8), isSaid: true, limits: limits)
        #expect(said.map { String(decoding: $0.json, as: UTF8.self).hasPrefix(#"{"text":""#) } == true)
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: WebPushText.max + 1)
        #expect(PayloadEnvelope.webPush(of: long, isSaid: true, limits: limits) == nil)
        #expect(PayloadEnvelope.webPush(of: Array(#"{"a":1}"#.utf8), isSaid: true, limits: limits) == nil)
        let bytes = PayloadEnvelope.webPush(of: [0xFF, 0xFE, 0x00], isSaid: true, limits: limits)
        #expect(bytes.map { String(decoding: $0.json, as: UTF8.self) } == #"{"base64url":"__4A"}"#)
    }

    @Test("is repaired where a page asks for it, and the remarks have their lines")
    func repaired() throws {
        let text = "{\"aps\": {\"alert\": {\"title\": \"x\"\n\"body\": \"y\"}}"
        #expect(throws: PayloadFormError.self) {
            try PayloadEnvelope.read(Array(text.utf8), for: nil, limits: JSONLimits())
        }
        let read = try PayloadEnvelope.read(Array(text.utf8), for: nil, limits: JSONLimits(), repairs: true)
        #expect(
            String(decoding: read.object.compactBytes, as: UTF8.self) == #"{"aps":{"alert":{"title":"x","body":"y"}}}"#)
        #expect(
            read.facts.remarks == [
                "line 1: the comma at the end of this line is missing: read as if it were there",
                "line 2: 1 closing bracket is missing at the end: read as if the text were whole",
            ])
        let log = "the push is {\"to\": \"t\", \"data\": {\"k\": xxxx}}"
        let behind = try PayloadEnvelope.read(Array(log.utf8), for: nil, limits: JSONLimits(), repairs: true)
        #expect(behind.facts.remarks.first?.contains("xxxx is no value of JSON") == true)
    }

    @Test(
        "has the payload inside, with the facts of its form",
        arguments: [
            (
                #"{"actionId":"tap","notification":{"id":"1","data":{"_ab":"true","google.message_id":"m"}}}"#, nil,
                #"{"_ab":"true","google.message_id":"m"}"#, Transport?.none
            ),
            (
                #"{"request":{"content":{"data":{}},"trigger":{"type":"push","remoteMessage":{"data":{"k":"v"}}}}}"#,
                nil,
                #"{"data":{"k":"v"}}"#, nil
            ),
            (
                #"{"notification":{"request":{"content":{},"trigger":{"payload":{"aps":{}}}}},"actionIdentifier":"x"}"#,
                nil,
                #"{"aps":{}}"#, nil
            ),
            (
                #"{"message":{"data":"{\"_ab\":\"true\"}","token":["t"],"android":{"urgency":"HIGH"}}}"#, nil,
                #"{"data":{"_ab":"true"}}"#, .hms
            ),
            (#"{"data":{"_ab":"true"},"consolidationKey":"k"}"#, nil, #"{"_ab":"true"}"#, .adm),
            (
                #"{"default":"x","GCM":"{\"data\":{\"k\":\"v\"}}","APNS":"{\"aps\":{}}"}"#, nil, #"{"data":{"k":"v"}}"#,
                nil
            ),
            (#"{"default":"x","GCM":"{}","APNS":"{\"aps\":{}}"}"#, Platform.ios, #"{"aps":{}}"#, nil),
            (
                #"{"token":"t","data":{"k":"v"},"android":{"ttl":3600000},"apns":{"payload":{"aps":{"contentAvailable":true}}}}"#,
                nil,
                #"{"message":{"token":"t","data":{"k":"v"},"android":{"ttl":"3600s"},"apns":{"payload":{"aps":{"content-available":1}}}}}"#,
                nil
            ),
            (
                #"{"to":"t","priority":"high","time_to_live":5,"data":{"k":"v"}}"#, nil,
                #"{"originalPriority":"high","ttl":5,"data":{"k":"v"}}"#, nil
            ),
            (
                #"{"alert":{"title":"T"},"badge":1,"foreground":true}"#, nil,
                #"{"aps":{"alert":{"title":"T"},"badge":1}}"#, nil
            ),
            // With the priority alone, as node-gcm makes it; and for a worker of FCM's in a browser.
            (
                #"{"priority":"high","content-available":1,"notification":{"title":"T"}}"#, .ios,
                #"{"aps":{"alert":{"title":"T"}}}"#, nil
            ),
            (
                #"{"to":"t","notification":{"title":"T"},"fcm_options":{"link":"/"}}"#, .web,
                #"{"notification":{"title":"T"},"fcmOptions":{"link":"/"},"fcmMessageId":""}"#, nil
            ),
            (
                #"{"apns":{"payload":{"aps":{"contentAvailable":true}}}}"#, nil,
                #"{"message":{"token":"token","apns":{"payload":{"aps":{"content-available":1}}}}}"#, nil
            ),
            (
                #"{"to":"t","content_available":true,"notification":{"title":"T","badge":"2"},"data":{"k":"v"}}"#, .ios,
                #"{"aps":{"content-available":1,"badge":2,"alert":{"title":"T"}},"k":"v"}"#, nil
            ),
            (
                #"{"to":"ExponentPushToken[x]","title":"Hi","_contentAvailable":true}"#, .ios,
                #"{"aps":{"alert":{"title":"Hi"},"content-available":1},"experienceId":"@owner/app","scopeKey":"@owner/app"}"#,
                nil
            ),
            // Expo's without data has texts only; its body is the message on Android.
            (
                #"{"to":"ExponentPushToken[x]","title":"T","body":"B"}"#, nil,
                #"{"data":{"title":"T","message":"B","experienceId":"@owner/app","scopeKey":"@owner/app"}}"#, nil
            ),
            // Huawei's form before its push kit.
            (
                #"{"hps":{"msg":{"type":3,"body":{"title":"T","content":"C"}}}}"#, nil,
                #"{"notification":{"title":"T","body":"C"}}"#, .hms
            ),
            (
                #"{"hps":{"msg":{"type":1,"body":"{\"k\":\"v\"}"}}}"#, nil, #"{"data":{"k":"v"}}"#, .hms
            ),
            // The log of a request.
            (
                #"{"body":"{\"message\":{\"token\":\"t\"}}","headers":[],"path":"/v1"}"#, nil,
                #"{"message":{"token":"t"}}"#, nil
            ),
            (
                #"{"notification":{"title":"T","data":{"onActionClick":{}}}}"#, nil,
                #"{"notification":{"title":"T","data":{"onActionClick":{}}}}"#, nil
            ),
            (#"{"_alert":"Hi","_data":{"k":"v"}}"#, nil, #"{"aps":{"alert":"Hi"},"k":"v"}"#, nil),
            (
                #"{"message":"There","title":"Hi","additionalData":{"foreground":true,"k":"v"}}"#, nil,
                #"{"data":{"message":"There","title":"Hi","k":"v"}}"#, nil
            ),
            (#"{"notification":{"title":null,"body":null},"data":{"k":1}}"#, nil, #"{"data":{"k":1}}"#, nil),
            // A body of FCM's API before v1 with keys of v1, which FCM drops.
            (
                #"{"to":"t","android":{"priority":"high"},"apns":{"payload":{"aps":{}}},"data":{"k":"v"}}"#, nil,
                #"{"data":{"k":"v"}}"#, nil
            ),
            (
                #"{"to":"t","content_available":true,"apns":{"payload":{"aps":{"alert":"x"}}},"data":{"k":"v"}}"#, .ios,
                #"{"aps":{"content-available":1},"k":"v"}"#, nil
            ),
            // A message of node-gcm without its target.
            (
                #"{"timeToLive":5,"contentAvailable":true,"data":{"k":"v"}}"#, .ios,
                #"{"aps":{"content-available":1},"k":"v"}"#, nil
            ),
            (
                #"{"encoding":"utf8","payload":{"k":"v"},"compiled":false,"aps":{"alert":"x"},"priority":10,"topic":"a"}"#,
                nil, #"{"aps":{"alert":"x"},"k":"v"}"#, nil
            ),
            (
                #"{"notification":{"payload":{"rawPayload":{"aps":{"alert":"x"}},"title":"T"}},"action":{}}"#, nil,
                #"{"aps":{"alert":"x"}}"#, nil
            ),
            (
                #"{"message":"M","count":1,"sound":"s","additionalData":{"content-available":1,"foreground":true,"k":"v"}}"#,
                .ios, #"{"aps":{"alert":"M","badge":1,"sound":"s","content-available":1},"k":"v"}"#, nil
            ),
            (
                #"{"title":"T","message":"M","soundName":null,"foreground":true,"userInteraction":true,"finish":["f"],"data":{"k":"v"}}"#,
                .ios, #"{"aps":{"alert":{"title":"T","body":"M"}},"k":"v"}"#, nil
            ),
            (
                #"{"APNS_VOIP":"{\"aps\":{},\"k\":\"v\"}"}"#, nil, #"{"aps":{},"k":"v"}"#, nil
            ),
            (
                #"{"web_push":8030,"notification":{"title":"T"}}"#, nil,
                #"{"web_push":8030,"notification":{"title":"T"}}"#, nil
            ),
            (#"{"FCM_MSG":{"data":{"k":"v"}}}"#, nil, #"{"data":{"k":"v"}}"#, nil),
            (#"{"UIApplicationLaunchOptionsRemoteNotificationKey":{"aps":{}}}"#, nil, #"{"aps":{}}"#, nil),
            // Texts beside data, as Capacitor gives them.
            (
                #"{"id":"1","title":"T","body":"B","data":{"k":"v"}}"#, nil,
                #"{"notification":{"title":"T","body":"B"},"data":{"k":"v"}}"#, nil
            ),
            (
                #"{"title":"T","body":"B","data":{"k":"v"}}"#, .ios,
                #"{"aps":{"alert":{"title":"T","body":"B"}},"k":"v"}"#, nil
            ),
            // Events of plugins.
            (
                #"{"opened_from_tray":1,"fcm":{"title":"T"},"id":"1","k":"v"}"#, nil,
                #"{"notification":{"title":"T"},"data":{"k":"v"}}"#, nil
            ),
            (#"{"wasTapped":true,"k":"v","from":"1"}"#, nil, #"{"from":"1","data":{"k":"v"}}"#, nil),
            (
                #"{"extras":{"onesignalData":"{\"alert\":\"A\",\"custom\":\"{}\"}"}}"#, nil,
                #"{"extras":{"alert":"A","custom":"{}"}}"#, nil
            ),
            // An object around the push.
            (
                #"{"body":{"notification":{"title":"T"},"data":{}},"n":1}"#, nil,
                #"{"notification":{"title":"T"},"data":{}}"#, nil
            ),
            (#"{"push":{"aps":{"alert":"x"}}}"#, nil, #"{"aps":{"alert":"x"}}"#, nil),
            // Parts of a message for one platform.
            (
                #"{"webpush":{"fcm_options":{"link":"https://x"}}}"#, .web,
                #"{"message":{"token":"token","webpush":{"fcm_options":{"link":"https://x"}}}}"#, nil
            ),
            (
                #"{"android":{"notification":{"title":"T"}}}"#, nil,
                #"{"message":{"token":"token","android":{"notification":{"title":"T"}}}}"#, nil
            ),
            (#"{"default":"x","ADM":"{\"data\":{\"k\":\"v\"}}"}"#, nil, #"{"data":{"k":"v"}}"#, .adm),
            // Expo's, with a variable for the token; and what SNS's operation Publish takes.
            (
                #"{"to":"token","title":"T","data":{"k":"v"}}"#, nil,
                #"{"data":{"title":"T","body":"{\"k\":\"v\"}","experienceId":"@owner/app","scopeKey":"@owner/app"}}"#,
                nil
            ),
            (
                #"{"interests":["a"],"web":{"notification":{"title":"T"}}}"#, nil, #"{"notification":{"title":"T"}}"#,
                nil
            ),
            (#"{"web":{"notification":{"title":"T"}}}"#, nil, #"{"notification":{"title":"T"}}"#, nil),
            (#"{"pn_gcm":{"data":{"k":"v"}},"pn_apns":{"aps":{}}}"#, nil, #"{"data":{"k":"v"}}"#, nil),
            (#"{"pn_apns":{"aps":{"alert":"T"}},"text":"T"}"#, .ios, #"{"aps":{"alert":"T"}}"#, nil),
            (#"{"TargetArn":"x","Message":"hello"}"#, nil, #"{"data":{"default":"hello"}}"#, nil),
            (#"{"TargetArn":"x","Message":"hello"}"#, .ios, #"{"aps":{"alert":"hello"}}"#, nil),
            (
                #"{"MessageStructure":"json","Message":{"default":"x","APNS":{"aps":{}}}}"#, nil, #"{"aps":{}}"#, nil
            ),
            (
                #"{"notification":{"data":{"k":"v"}},"pressAction":{"id":"default"}}"#, nil, #"{"data":{"k":"v"}}"#,
                nil
            ),
            // The message that React Native Firebase and FlutterFire make of a push on iOS.
            (
                #"{"messageId":"m","data":{"k":false},"contentAvailable":true,"notification":null}"#, .ios,
                #"{"aps":{"content-available":1},"gcm.message_id":"m","k":false}"#, nil
            ),
            (
                #"{"sentTime":1,"data":{"k":"v"},"mutableContent":false,"notification":{"title":"T","apple":{"badge":"2","sound":{"name":"s"}}}}"#,
                nil, #"{"aps":{"badge":2,"sound":{"name":"s"},"alert":{"title":"T"}},"k":"v"}"#, nil
            ),
        ] as [(String, Platform?, String, Transport?)])
    func isOpened(_ text: String, _ platform: Platform?, _ payload: String, _ transport: Transport?) throws {
        let opened = try #require(try Self.opened(text, for: platform))
        #expect(String(decoding: opened.json, as: UTF8.self) == payload)
        #expect(opened.transport == transport)
        #expect(opened.name != nil)
    }

    @Test("is a data message where an answer has texts alone, or keys that answers do not have")
    func noAnswer() throws {
        let texts = [
            #"{"success":"true","message":"M"}"#, #"{"status":"ok"}"#, #"{"success":true,"_ab":"true"}"#,
            #"{"title":"Done","status":"ok","id":"a-1"}"#, #"{"status":"error","message":"M","id":"7"}"#,
            #"{"state":"shipped","trackingId":"1Z"}"#, #"{"details":"Your order ships"}"#,
            #"{"reason":"Shutdown","status":"down"}"#, #"{"text":"^_^"}"#, #"{"hosting":"yes"}"#, #"{"expo":"summit"}"#,
            #"{"to":"Anna","title":"T","body":"B","sound":"s"}"#,
        ]
        for text in texts { #expect(try Self.opened(text) == nil, "\(text)") }
        #expect(try Self.opened(#"{"sent":1,"message":"Anna","code":7}"#, for: .web) == nil)
        let legacy = try Self.opened(#"{"to":"DEVICE_TOKEN","title":"T","body":"B","data":{"a":"b"}}"#)
        #expect(legacy?.name?.hasPrefix("a send body of FCM's API before v1") == true)
    }

    @Test("has the headers and the platform that its form says")
    func facts() throws {
        let voip = try #require(try Self.opened(#"{"APNS_VOIP_SANDBOX":"{\"aps\":{}}"}"#))
        #expect(voip.headers.map { String(decoding: $0, as: UTF8.self) } == #"{"apns-push-type":"voip"}"#)
        let print = try #require(try Self.opened(#"{"payload":{},"compiled":true,"aps":{},"topic":"a","priority":5}"#))
        #expect(
            print.headers.map { String(decoding: $0, as: UTF8.self) } == #"{"apns-topic":"a","apns-priority":"5"}"#)
        #expect(try Self.opened(#"{"web_push":8030,"notification":{}}"#)?.platform == .web)
        let legacy = try Self.opened(#"{"to":"t","apns":{},"data":{}}"#)
        #expect(
            legacy?.name
                == "a send body of FCM's API before v1, which Google has been switching off since July 22, 2024; FCM drops what it does not know: apns"
        )
        let misplaced = try Self.opened(#"{"to":"t","x":1,"notification":{"channel_id":"c"}}"#)
        #expect(
            misplaced?.name?.hasSuffix(
                "what it does not know: x; notification.channel_id is no field (notification.android_channel_id is), and shows nothing: an Android app finds it as gcm.notification.channel_id"
            ) == true)
        let types = try Self.opened(
            #"{"registration_ids":"t","priority":10,"content_available":"true","notification":{"a":1,"b":2}}"#)
        for words in [
            "priority is neither high nor normal", "content_available is a string", "registration_ids is a text",
            "notification.a is no field; notification.b is no field, and", "--platform ios explains",
        ] {
            #expect(types?.name?.has(words) == true, "\(words)")
        }
        let right = try Self.opened(#"{"to":"t","priority":"high","content_available":true,"data":{}}"#, for: .ios)
        #expect(right?.name?.hasSuffix("since July 22, 2024") == true)
        let sns = try #require(try Self.opened(#"{"APNS":{"aps":{"alert":"x"}}}"#)?.name)
        #expect(
            sns.hasSuffix("APNS has an object, where SNS takes a text that is JSON, and the text default is missing"))
        #expect(
            try Self.opened(#"{"default":"x","APNS":"{\"aps\":{}}"}"#)?.name == "a message of Amazon SNS")
        let inFront = try Self.opened(#"{"data":{"aps":{"alert":"x"}},"foreground":true}"#)
        #expect(inFront?.name?.hasSuffix("--app-state foreground explains that") == true)
        // A service worker has texts beside data of its own.
        #expect(try Self.opened(#"{"title":"T","body":"B","data":{"url":"/"}}"#, for: .web) == nil)
    }

    @Test("of FCM v1 may lack its target for a person, and for nobody else")
    func withoutTarget() throws {
        let body = try json(#"{"message":{"notification":{"title":"T"}}}"#)
        #expect(try PayloadEnvelope.open(body, for: nil) == nil)
        let opened = try #require(try PayloadEnvelope.open(body, for: nil, addsTarget: true))
        #expect(
            String(decoding: opened.json, as: UTF8.self)
                == #"{"message":{"token":"token","notification":{"title":"T"}}}"#)
        #expect(opened.name?.has("FCM refuses it as it is") == true)
    }

    @Test(
        "is taken as it is if it is a payload",
        arguments: [
            #"{"aps":{"alert":"x"},"message":"success","errors":[]}"#,
            #"{"_ab":"true","t":"T","payload":"{\"aps\":{}}"}"#,
            #"{"data":{"k":"v"},"from":"1","to":"2"}"#, #"{"message":{"token":"t","data":{"k":"v"}}}"#,
            #"{"op":"deliver","payload":{"aps":{}}}"#, #"{"extras":{"k":"v"}}"#, #"{"custom":"{\"i\":\"1\"}"}"#,
            #"{"payload":{"custom":1}}"#,
            // The data of an Android message has texts only, and its keys are the app's own.
            #"{"campaign_id":"x","audience":"all","include_tax":"1","app_id":"2","contents":"c"}"#,
            #"{"android":"1","data":"x","to":"me","additionalData":"y","message":"m"}"#,
            #"{"data":{"k":"v"},"priority":"high","ttl":5}"#,
            #"{"code":"7","msg":"m","requestId":"1"}"#, #"{"apns":"a","fcm":"b"}"#,
        ])
    func isLeft(_ text: String) throws { #expect(try Self.opened(text) == nil) }

    @Test(
        "is of no service if it has a number and no key of a push",
        arguments: [
            (#"{"n":1,"s":"x"}"#, true), (#"{"b":true}"#, true), (#"{"s":"x"}"#, false), ("{}", false),
            (#"{"n":1,"op":"deliver"}"#, false), (#"{"n":1,"google.x":"1"}"#, false), (#"{"n":1,"gcm.x":"1"}"#, false),
        ])
    func isOfNoService(_ text: String, _ isOfNone: Bool) throws {
        #expect(PayloadEnvelope.isOfNoService(try json(text)) == isOfNone)
    }

    @Test("with a key of a service, of a library or of a plugin may be theirs")
    func keysOfServices() throws {
        let keys = [
            "aps", "to", "tokens", "registration_ids", "condition", "_ab", "ab", "GCM", "Message", "alert", "badge",
            "sound", "icon", "tag", "actions", "url", "ttl", "coldstart", "trigger", "userInfo", "launchURL",
        ]
        for key in keys {
            #expect(!PayloadEnvelope.isOfNoService(try json(#"{"\#(key)":1}"#)), "\(key)")
        }
    }

    @Test("is a send body for JPush by its audience and platform, unless it names a registration of FCM")
    func jPush() throws {
        for part in [#""notification":{"alert":"A"}"#, #""message":{"msg_content":"A"}"#] {
            let body = #""audience":{"tag":["a"]},"platform":["android"],\#(part)"#
            let name = PayloadEnvelope.nameOfOther(try json("{\(body)}"))
            #expect(name?.hasPrefix("this is a send body for JPush, which makes the payload of it") == true, "\(part)")
            #expect(PayloadEnvelope.nameOfOther(try json(#"{\#(body),"to":"t"}"#))?.has("JPush") != true, "\(part)")
        }
    }

    @Test(
        "has a name if it is none, with a remedy",
        arguments: [
            (#"{"name":"projects/x/messages/1"}"#, "the answer of FCM"),
            (#"{"multicast_id":1,"success":1,"results":[]}"#, "the answer of FCM"),
            (#"{"error":{"code":404,"message":"x","status":"NOT_FOUND"}}"#, "the answer of FCM"),
            (#"{"reason":"BadDeviceToken"}"#, "the answer of APNs (BadDeviceToken)"),
            (
                #"{"failed":{"statusCode":403,"headers":{},"endpoint":"https://x"}}"#,
                "the error (403) of a send by web-push"
            ),
            (#"{"statusCode":410,"body":"gone","endpoint":"https://x"}"#, "the error (410) of a send by web-push"),
            (
                #"{"payload_type":"push_opened","is_braze_internal":false,"ios":{"aps":{}}}"#,
                "the event of a push that Braze's SDK for React Native gives"
            ),
            (#"{"data":[{"status":"ok","id":"x"}]}"#, "the answer of Expo"),
            (#"{"code":"80000000","msg":"Success","requestId":"1"}"#, "the answer of Huawei"),
            (#"{"registrationID":"x"}"#, "the answer of Amazon Device Messaging"),
            (#"{"MessageId":"x"}"#, "the answer of Amazon SNS"),
            (#"{"id":"x","recipients":1}"#, "the answer of OneSignal"),
            (#"{"app_id":"x","contents":{"en":"Hi"}}"#, "a send body for OneSignal"),
            (#"{"campaign_id":"x","recipients":[]}"#, "a send body for a campaign or a Canvas of Braze"),
            (#"{"messages":{}}"#, "a send body for Braze"),
            (#"{"audience":{},"device_types":"all"}"#, "a send body for Airship"),
            (#"{"notifications":[{"tokens":[],"platform":1}]}"#, "a send body for gorush"),
            (#"{"type":"service_account","private_key":"x"}"#, "the key of a service account"),
            (#"{"endpoint":"https://x","keys":{}}"#, "the subscription of a browser"),
            (#"{"isTrusted":true}"#, "an event of a browser"),
            (
                #"{"to":"t","data":{"from":"x"}}"#,
                "a send body that FCM refuses, so that nothing reaches a device: data.from"
            ),
            (
                #"{"to":" / topics / All","data":{}}"#,
                "a send body that FCM refuses, so that nothing reaches a device: to is"
            ),
            (
                #"{"condition":"'a' in topic","notification":{}}"#,
                "a send body that FCM refuses, so that nothing reaches a device: condition"
            ),
            (
                #"{"body":"B","data":{"android.title":"T","android.text":"B"}}"#,
                "a notification that Android shows already"
            ),
            (
                #"{"notification":{"request":{"trigger":{"type":"push"},"content":{"title":null}}},"actionIdentifier":"x"}"#,
                "a notification of expo-notifications without content"
            ),
            (
                #"{"google.message_id":"1","messageType":"notification","tap":"background"}"#,
                "the event of a tap that cordova-plugin-firebasex gives"
            ),
            (
                #"{"notificationResponse":{"notification":{"request":{"content":{"data":{}},"trigger":null}}}}"#,
                "a local notification of expo-notifications"
            ),
            (#"{"request":{"content":{},"trigger":{"type":"daily"}}}"#, "a local notification of expo-notifications"),
            (#"{"customExtras":{"W$id":"1"}}"#, "the event of a click that CleverTap's plugin gives"),
            (#"{"gcm":{"notification":{"title":"T"}}}"#, "a message for Amazon SNS whose key is gcm"),
            (#"{"extras":{"_o":"fcm","_nmid":"1"}}"#, "an event of Firebase Analytics"),
            (#"{"ios":{"alert":"A","extra":{"k":"v"}}}"#, "a send body for Airship"),
            (#"{"where":{},"data":{"alert":{"title":"T"}}}"#, "a send body for Parse"),
            (
                #"{"platform":"all","notification":{"android":{"alert":"A"},"ios":{"alert":"A"}}}"#,
                "a send body for JPush"
            ),
            (
                #"{"fcmTokens":["t"],"notificationPayload":{"title":"T","data":{"k":"v"}}}"#,
                "a request to a server of your own (fcmTokens, notificationPayload)"
            ),
            (#"{"logs":[{"platform":"ios","error":"x"}]}"#, "the answer of gorush"),
            (#"{"successCount":1,"failureCount":0}"#, "the answer of firebase-admin"),
            (#"{"message_id":5}"#, "the answer of FCM"), (#"{"errors":[]}"#, "the answer of a service"),
            (#"{"reason":"BadJwtToken"}"#, "the answer of Apple's web push service"),
            (#"{"MessageId":"x","ResponseMetadata":{}}"#, "the answer of Amazon SNS"),
            (#"{"message":"success"}"#, "the answer of Braze"),
            (#"{"dispatch_id":"x","message":"queued"}"#, "the answer of Braze"),
            (#"{"ok":true,"push_ids":[]}"#, "the answer of Airship"),
            (#"{"data":{"status":"ok","id":"x"}}"#, "the answer of Expo"),
            (#"{"data":{"R1":{"status":"error"}}}"#, "the answer of Expo"),
            (#"{"status":"error","message":"x","details":{}}"#, "the answer of Expo"),
            (#"{"sent":[],"failed":[{"device":"x","status":"400"}]}"#, "the answer of APNs, as node-apn gives it"),
            (
                #"{"reason":"BadDeviceToken","statusCode":400,"notification":{}}"#,
                "the answer of APNs (BadDeviceToken)"
            ),
            (#"{"error":"BadDeviceToken"}"#, "the answer of APNs (BadDeviceToken)"),
            (#"{"error":"NotRegistered"}"#, "the answer of a service to a send, not a push: FCM delivered nothing"),
            (
                #"{"errorInfo":{"code":"messaging/invalid-argument"},"codePrefix":"messaging"}"#,
                "the answer of firebase-admin"
            ),
            (#"{"multicast_ids":[1],"success":1,"topic_message_id":null}"#, "the answer of FCM"),
            (#"{"state":"Enqueued","trackingId":"x","successCount":0,"failureCount":0}"#, "the answer of Azure"),
            (#"{"details":"bad_device_token"}"#, "the answer of MongoosePush"),
            (#"{"success":true,"message":"Notification sent"}"#, "the answer of a server"),
            (#"{"statusCode":201,"body":"","headers":{}}"#, "the answer of a server"),
            (#"{"counts":1,"logs":[],"success":"ok"}"#, "the answer of a server"),
            (
                #"{"notification":{"id":"x","android":{},"data":{}},"pressAction":{"id":"default"}}"#,
                "an event of notifee"
            ),
            (#"{"android.title":"T","android.text":"B"}"#, "a notification that Android shows already"),
            (#"{"include_aliases":{},"app_id":"x"}"#, "a send body for OneSignal"),
            (#"{"include_player_ids":["x"]}"#, "a send body for OneSignal"),
            (#"{"notification":{"room_id":"x","devices":[]}}"#, "a send body for a push gateway of Matrix"),
            (#"{"request":{"notifications":[]}}"#, "a send body for Pushwoosh"),
            (#"{"channels":["a"],"data":{"alert":"x"}}"#, "a send body for Parse"),
            (#"{"to":{},"content":{}}"#, "a send body for CleverTap"),
            (#"{"transactional_message_id":1}"#, "a send body for Customer.io"),
            (#"{"campaignId":1,"recipientEmail":"x"}"#, "a send body for Iterable"),
            (#"{"project_info":{},"client":[]}"#, "a google-services.json"),
            (#"{"info":{"author":"xcode","version":1},"images":[]}"#, "a catalogue of Xcode"),
            (#"{"endpoint":"https://x","expirationTime":null}"#, "the subscription of a browser"),
            (#"{"apns":{"aps":{}},"default":"x"}"#, "a message for Amazon SNS whose key is apns"),
            (#"{"android":{"senderID":"1"},"ios":{"alert":"true"}}"#, "what an app starts a plugin with (senderID)"),
            (#"{"topic":"t","data":"data","apns":"apns"}"#, "source code whose apns is a variable"),
            (
                #"{"topic":"t","token":"x","notification":{"title":"T"}}"#,
                "a send body that FCM refuses, so that nothing reaches a device: it has token and topic"
            ),
            (#"{"opened_from_tray":true,"fcm":{"action":null}}"#, "the event of a plugin (opened_from_tray) without"),
            (
                #"{"badge":null,"data":{"remote":true},"finish":"function","userInteraction":false}"#,
                "the event of a plugin (userInteraction) without"
            ),
            (
                #"{"from":"/topics/a","collapse_key":"k","wasTapped":true,"google.message_id":"1"}"#,
                "the event of a plugin (wasTapped) without anything of the push in it: no text, no data; after a tap"
            ),
            (#"{"name":"app","scripts":{},"dependencies":{}}"#, "a package.json"),
            (#"{"expo":{"name":"app"}}"#, "an app.json of Expo"),
            (#"{"aps-environment":"development"}"#, "the entitlements"),
            (#"{"apiKey":"x","messagingSenderId":"1"}"#, "the configuration with which an app starts Firebase"),
            (#"{"ADM":"\"data\":{}"}"#, "a message for Amazon SNS whose ADM is no JSON object"),
            (
                #"{"uriPage":null,"extras":{"_push_msgid":"1"},"remoteMessage":{}}"#,
                "the event of a tap that Huawei's plugin gives, without a message"
            ),
        ])
    func isNamed(_ text: String, _ name: String) throws {
        let error = try #require(throws: PayloadFormError.self) { try Self.opened(text) }
        #expect(error.message.hasPrefix("this is \(name)"), "\(error.message)")
    }
}
