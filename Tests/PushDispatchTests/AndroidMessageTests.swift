import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

// Source: firebase-android-sdk a089298ed9, RemoteMessage.java and NotificationParams.java.
@Suite("The getters of a RemoteMessage")
struct AndroidMessageTests {
    private func message(_ payload: String) throws -> RemoteMessage {
        try #require(try decision(.android, payload).message)
    }

    @Test("reads every getter from its extra")
    func readsExtras() throws {
        let message = try message(
            #"{"extras":{"from":"f","google.to":"t","google.c.sender.id":"s","google.message_id":"m","message_id":"x","#
                + #""message_type":"gcm","collapse_key":"c","google.sent_time":123456789,"google.ttl":12345,"#
                + #""google.original_priority":"high","google.delivered_priority":"normal","google.priority":"x"}}"#)
        #expect(message.from == "f")
        #expect(message.to == "t")
        #expect(message.senderID == "s")
        #expect(message.messageID == "m")
        #expect(message.messageType == "gcm")
        #expect(message.collapseKey == "c")
        #expect(message.sentTime == 123_456_789)
        #expect(message.ttl == 12345)
        #expect(message.originalPriority == .high)
        #expect(message.priority == .normal)
        #expect(message.notification == nil)
    }

    @Test("falls back to the server's id only without another one")
    func fallsBackToServersID() throws {
        #expect(try message(#"{"extras":{"message_id":"x"}}"#).messageID == "x")
        #expect(try message(#"{"extras":{"google.message_id":"","message_id":"x"}}"#).messageID == "")
        #expect(try message(#"{"extras":{"google.message_id":5,"message_id":"x"}}"#).messageID == "x")
    }

    @Test(
        "read times from a number or a text, and return 0 for any other value",
        arguments: [
            (#""google.sent_time":"5","google.ttl":"6""#, 5, 6),
            (#""google.sent_time":"-5","google.ttl":"+6""#, -5, 6),
            (#""google.sent_time":" 5","google.ttl":"6s""#, 0, 0),
            (#""google.sent_time":5.0,"google.ttl":true"#, 0, 0),
            // The value does not fit into a Java Integer.
            (#""google.sent_time":2147483648,"google.ttl":2147483648"#, 2_147_483_648, 0),
            (#""google.sent_time":-9223372036854775808,"google.ttl":"2147483648""#, .min, 0),
            (#""k":"v""#, 0, 0),
        ] as [(String, Int64, Int32)])
    func readsTimes(_ extras: String, _ sentTime: Int64, _ ttl: Int32) throws {
        let message = try message(#"{"extras":{\#(extras)}}"#)
        #expect(message.sentTime == sentTime)
        #expect(message.ttl == ttl)
    }

    @Test(
        "take the priority from the first extra that exists",
        arguments: [
            (#""google.priority":"high""#, .high, .high),
            (#""google.priority":"high","google.priority_reduced":"1""#, .high, .normal),
            (#""google.priority":"high","google.priority_reduced":"true""#, .high, .high),
            (
                #""google.priority":"high","google.priority_reduced":"1","google.delivered_priority":"high""#, .high,
                .high
            ),
            (#""google.priority":"high","google.original_priority":"HIGH""#, nil, .high),
            (#""google.delivered_priority":"""#, nil, nil),
            (#""k":"v""#, nil, nil),
        ] as [(String, MessagePriority?, MessagePriority?)])
    func readsPriority(
        _ extras: String, _ original: MessagePriority?, _ delivered: MessagePriority?
    ) throws {
        let message = try message(#"{"extras":{\#(extras)}}"#)
        #expect(message.originalPriority == original)
        #expect(message.priority == delivered)
    }

    @Test(
        "read the notification under both prefixes, the new one first",
        arguments: [
            (#""gcm.n.title":"new","gcm.notification.title":"old""#, ["title": "new"]),
            (#""gcm.notification.title":"old""#, ["title": "old"]),
            (#""gcm.n.title":5,"gcm.notification.title":"old""#, [:]),
            (
                #""gcm.n.sticky":"1","gcm.n.notification_priority":"-2","gcm.n.visibility":"1","gcm.n.event_time":"7","#
                    + ##""gcm.n.vibrate_timings":"[\"1\"]","gcm.n.light_settings":"[\"#fff\",1,2]""##,
                [
                    "sticky": "1", "notification_priority": "-2", "visibility": "1", "event_time": "7",
                    "vibrate_timings": #"["1"]"#, "light_settings": ##"["#fff",1,2]"##,
                ]
            ),
            (
                #""gcm.n.notification_priority":"3","gcm.n.visibility":"2","gcm.n.notification_count":"-1","#
                    + #""gcm.n.event_time":"now","gcm.n.light_settings":"[1,2]","gcm.n.title_loc_args":"x""#, [:]
            ),
            (
                #""gcm.n.notification_priority":"2","gcm.n.visibility":"-1","gcm.n.notification_count":"2147483647""#,
                ["notification_priority": "2", "visibility": "-1", "notification_count": "2147483647"]
            ),
            (
                #""gcm.n.notification_priority":"-3","gcm.n.visibility":"-2","gcm.n.notification_count":"2147483648","#
                    + #""gcm.n.light_settings":"[1,2,3,4]""#, [:]
            ),
            (#""gcm.n.notification_count":"0""#, ["notification_count": "0"]),
            (#""gcm.n.body_loc_key":"k""#, ["body_loc_key": "k"]),
            (#""gcm.n.body_loc_args":"[\"1\"]""#, ["body_loc_args": #"["1"]"#]),
            (#""gcm.n.sound2":"","gcm.n.sound":"default""#, ["sound": "default"]),
            (#""gcm.n.link_android":"a","gcm.n.link":"b""#, ["link": "a"]),
            (#""gcm.n.link_android":"""#, ["link": ""]),
            (#""gcm.n.android_channel_id":"c""#, ["channel_id": "c"]),
        ])
    func readsNotification(_ extras: String, _ fields: [String: String]) throws {
        for mark in ["gcm.n.e", "gcm.notification.e"] {
            let message = try message(#"{"extras":{"\#(mark)":"1",\#(extras)}}"#)
            #expect(message.notification?.reduce(into: [:]) { $0[$1.name] = $1.text } == fields)
        }
        #expect(try message(#"{"extras":{\#(extras)}}"#).notification == nil)
    }

    @Test("read a RemoteMessage as SDKs print it")
    func readsPrintedMessage() throws {
        let message = try message(
            #"{"messageId":"m","from":"f","ttl":5,"sentTime":6,"collapseKey":"c","priority":"high","data":{"from":"own"},"#
                + #""notification":{"title":"T"}}"#)
        #expect(message.messageID == "m")
        #expect(message.from == "f")
        #expect(message.ttl == 5)
        #expect(message.sentTime == 6)
        #expect(message.collapseKey == "c")
        #expect(message.priority == .high)
        #expect(message.notification?.map { "\($0.name)=\($0.text)" } == ["title=T"])
    }

    // Source: RemoteMessage.java.
    @Test("read a v1 body as the intent that FCM makes of it")
    func readsV1() throws {
        let message = try message(
            #"{"message":{"topic":"news","name":"projects/p/messages/0:1","notification":{"title":"T","body":"B"},"#
                + #""android":{"collapseKey":"c","ttl":"3.9s","priority":"NORMAL","#
                + #""notification":{"body":"own","channelId":"ch"}}}}"#)
        #expect(message.messageID == "0:1")
        #expect(message.from == "/topics/news")
        #expect(message.collapseKey == "c")
        #expect(message.ttl == 3)
        #expect(message.originalPriority == .normal)
        #expect(message.priority == .normal)
        #expect(
            message.notification?.map { "\($0.name)=\($0.text)" } == ["title=T", "body=own", "channel_id=ch"])
    }

    @Test(
        "of a v1 body return the requested priority or one by its kind, and a TTL of four weeks",
        arguments: [
            (#""data":{"k":"v"}"#, .normal), (#""notification":{"title":"T"}"#, .high),
            (#""android":{"notification":{}}"#, .high),
            (#""notification":{"title":"T"},"android":{"priority":"normal"}"#, .normal),
            (#""android":{"priority":"high"}"#, .high), (#""android":{"priority":1}"#, .high),
            (#""android_v2":{"background_sync":{}}"#, .normal),
            (#""android_v2":{"remote_notification":{}}"#, .high),
            (#""android_v2":{"remote_notification":{"use_as_v1_data_message":true}}"#, .high),
        ] as [(String, MessagePriority)])
    func hasDefaults(_ members: String, _ priority: MessagePriority) throws {
        let message = try message(#"{"message":{"token":"t",\#(members)}}"#)
        #expect(message.originalPriority == priority)
        #expect(message.ttl == 2_419_200)
    }

    @Test("only FCM's messages have the getters of RemoteMessage")
    func existsForFCM() throws {
        #expect(try decision(.android, #"{"k":"v"}"#).message == nil)
        #expect(try decision(.ios, #"{"aps":{},"gcm.message_id":"m"}"#).message == nil)
        #expect(try decision(.web, #"{"messageId":"m"}"#).message == nil)
    }
}

@Suite("Arbitrary extras")
struct AndroidPropertyTests {
    private static let keys = [
        "_ab", "t", "a", "cid", "extra", "uri", "ab_a0_a", "ab_a0_uri", "ab_a1_a", "ab_c", "message_type", "from",
        "google.message_id", "message_id", "google.ttl", "google.sent_time", "google.priority", "gcm.n.e",
        "gcm.notification.e", "gcm.n.noui", "gcm.n.title", "gcm.n.visibility", "token", "error", "registration_id", "k",
        "appboy_uninstall_tracking", "ab_push_fetch_test_triggers_key", "aps", "data", "notification",
    ]
    private static let values = [
        #""true""#, #""1""#, #""""#, #""gcm""#, #""send_error""#, #""deleted_messages""#, #""ab_uri""#, #""https:""#,
        #"":""#, #""{\"appboy_uninstall_tracking\":1}""#, #""{""#, "null", "true", "0", "-9223372036854775808", "1e308",
        "[]",
        "{}", #"{"k":[{}]}"#, #""\u0000\ud83d\ude00""#,
    ]
    private static let actions = [
        nil, "com.google.android.c2dm.intent.RECEIVE", "com.google.firebase.messaging.NEW_TOKEN",
        "com.amazon.device.messaging.intent.RECEIVE", "com.amazon.device.messaging.intent.REGISTRATION", "x",
    ]

    @Test("never trap, and give equal decisions twice", arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func neverTrap(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let keys = Self.keys.shuffled(using: &generator).prefix(Int.random(in: 0...12, using: &generator))
            let members = keys.map { #""\#($0)":\#(Self.values.randomElement(using: &generator) ?? "null")"# }
            let extras = "{\(members.joined(separator: ","))}"
            let action = Self.actions.randomElement(using: &generator)?.map { #""action":"\#($0)","# } ?? ""
            let payload =
                [extras, #"{\#(action)"extras":\#(extras)}"#, #"{"message":{"token":"t","data":\#(extras)}}"#]
                .randomElement(using: &generator) ?? extras
            let delivery = Delivery(
                platform: .android, state: AppState.allCases.randomElement(using: &generator) ?? .background,
                locked: Bool.random(using: &generator), payload: try json(payload))
            #expect(story(delivery) == story(delivery), "\(payload)")
        }
    }

    /// All parts of a decision, as text.
    private func story(_ delivery: Delivery) -> String {
        do throws(PayloadError) {
            let decision = try decide(delivery)
            #expect(decision.invocations.isEmpty == (decision.outcome != nil))
            return "\(decision.callbacks) \(decision.outcome, default: "-") \(decision.reasons) \(decision.warnings) "
                + "\(decision.message, default: "-") \(decision.braze, default: "-") \(decision.keys.keyValues)"
        } catch {
            return "\(error)"
        }
    }
}
