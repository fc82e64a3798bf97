import Testing

@testable import PushModel
@testable import PushRouter

/// The expected decision about a delivery: these callbacks, or this outcome; and the last reason.
struct FateCase: Sendable, CustomTestStringConvertible {
    var payload: String
    var state = AppState.background
    var locked = false
    var notifications = NotificationPermission.allowed
    var callbacks: [Callback] = []
    var outcome: Outcome?
    var reason: Reason

    var testDescription: String { "\(state) \(locked ? "locked " : "")\(notifications) \(payload)" }
}

// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.java and DisplayNotification.java.
@Suite("The behavior of FCM and Android")
struct AndroidFateTests {
    private static let data = #"{"data":{"k":"v"}}"#
    private static let notification = #"{"notification":{"title":"x"},"data":{"k":"v"}}"#

    @Test(
        "follows the table of message types and app states",
        arguments: [
            // message_type
            FateCase(payload: #"{"extras":{}}"#, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(
                payload: #"{"extras":{"message_type":"gcm"}}"#, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(
                payload: #"{"extras":{"message_type":5}}"#, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(
                payload: #"{"extras":{"message_type":"deleted_messages","gcm.n.e":"1"}}"#,
                callbacks: [.onDeletedMessages], reason: .deletedMessages),
            FateCase(
                payload: #"{"extras":{"message_type":"send_event","google.message_id":"m","message_id":"server's"}}"#,
                callbacks: [.onMessageSent], reason: .sendEvent(id: "m")),
            FateCase(
                payload: #"{"extras":{"message_type":"send_event","message_id":"server's"}}"#,
                callbacks: [.onMessageSent], reason: .sendEvent(id: nil)),
            FateCase(
                payload: #"{"extras":{"message_type":"send_error","google.message_id":"m","error":"e"}}"#,
                callbacks: [.onSendError], reason: .sendError(id: "m", error: "e")),
            FateCase(
                payload: #"{"extras":{"message_type":"send_error","message_id":"server's"}}"#,
                callbacks: [.onSendError], reason: .sendError(id: "server's", error: nil)),
            FateCase(
                payload: #"{"extras":{"message_type":"send_error","google.message_id":"","message_id":"x"}}"#,
                callbacks: [.onSendError], reason: .sendError(id: "", error: nil)),
            FateCase(
                payload: #"{"extras":{"message_type":"other"}}"#, outcome: .swallowed,
                reason: .unknownMessageType("other")),
            FateCase(
                payload: #"{"extras":{"message_type":""}}"#, outcome: .swallowed, reason: .unknownMessageType("")),
            FateCase(
                payload: #"{"extras":{"message_type":"GCM"}}"#, outcome: .swallowed, reason: .unknownMessageType("GCM")),
            // In a data map message_type is an ordinary key.
            FateCase(
                payload: #"{"message_type":"deleted_messages"}"#, callbacks: [.onMessageReceived], reason: .dataMessage),
            // data messages
            FateCase(payload: data, state: .foreground, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(payload: data, state: .background, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(payload: data, state: .terminated, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(payload: data, state: .forceQuit, callbacks: [.onMessageReceived], reason: .dataMessage),
            FateCase(payload: data, state: .forceStopped, outcome: .notWoken, reason: .forceStopped),
            FateCase(payload: data, notifications: .denied, callbacks: [.onMessageReceived], reason: .dataMessage),
            // notification messages
            FateCase(
                payload: notification, state: .foreground, callbacks: [.onMessageReceived],
                reason: .notificationInForeground),
            FateCase(
                payload: notification, state: .foreground, locked: true, outcome: .shownBySystem,
                reason: .notificationWhileLocked),
            FateCase(
                payload: notification, state: .background, outcome: .shownBySystem, reason: .notificationInBackground),
            FateCase(
                payload: notification, state: .terminated, outcome: .shownBySystem,
                reason: .notificationWhileNotRunning),
            FateCase(
                payload: notification, state: .forceQuit, outcome: .shownBySystem, reason: .notificationWhileNotRunning),
            FateCase(payload: notification, state: .forceStopped, outcome: .notWoken, reason: .forceStopped),
            FateCase(
                payload: notification, notifications: .denied, outcome: .swallowed, reason: .notificationsDenied),
            FateCase(
                payload: notification, state: .foreground, notifications: .denied, callbacks: [.onMessageReceived],
                reason: .notificationInForeground),
            // gcm.n.noui in both states; it has no effect without gcm.n.e
            FateCase(
                payload: #"{"extras":{"gcm.n.e":"1","gcm.n.noui":"1"}}"#, state: .foreground, outcome: .swallowed,
                reason: .notificationSuppressed),
            FateCase(
                payload: #"{"extras":{"gcm.n.e":"1","gcm.n.noui":"TRUE"}}"#, outcome: .swallowed,
                reason: .notificationSuppressed),
            FateCase(
                payload: #"{"extras":{"gcm.notification.e":"1","gcm.notification.noui":"true"}}"#, outcome: .swallowed,
                reason: .notificationSuppressed),
            FateCase(
                payload: #"{"extras":{"gcm.n.e":"1","gcm.n.noui":"0"}}"#, outcome: .shownBySystem,
                reason: .notificationInBackground),
            FateCase(
                payload: #"{"extras":{"gcm.n.noui":"1"}}"#, callbacks: [.onMessageReceived], reason: .dataMessage),
        ])
    func followsTable(_ expected: FateCase) throws {
        let decision = try decision(
            .android, expected.payload, state: expected.state, locked: expected.locked,
            notifications: expected.notifications)
        #expect(decision.callbacks == expected.callbacks)
        #expect(decision.outcome == expected.outcome)
        #expect(decision.reasons.last == expected.reason)
    }

    private static let registration = "com.amazon.device.messaging.intent.REGISTRATION"

    // FirebaseMessagingService.handleIntent; BrazePushReceiver.handlePush and handleAdmRegistrationIntent.
    @Test(
        "the action of an Android intent decides which callback of FCM runs",
        arguments: [
            ("com.google.android.c2dm.intent.RECEIVE", "{}", [.onMessageReceived], .dataMessage),
            ("com.google.firebase.messaging.RECEIVE_DIRECT_BOOT", "{}", [.onMessageReceived], .dataMessage),
            (
                "com.google.firebase.messaging.RECEIVE_DIRECT_BOOT", #"{"message_type":"deleted_messages"}"#,
                [.onDeletedMessages], .deletedMessages
            ),
            ("com.google.firebase.messaging.NEW_TOKEN", #"{"token":"t"}"#, [.onNewToken], .newToken("t")),
            ("com.google.firebase.messaging.NEW_TOKEN", #"{"token":5}"#, [.onNewToken], .newToken(nil)),
            ("com.google.firebase.messaging.FCM_REGISTERED", #"{"token":"f"}"#, [.onRegistered], .registered("f")),
            (
                "com.google.firebase.messaging.FCM_UNREGISTERED", #"{"token":"f"}"#, [.onUnregistered],
                .unregistered("f")
            ),
            ("com.example.new_token", "{}", [], .unknownAction("com.example.new_token")),
            ("", "{}", [], .unknownAction("")),
            // A message type has an effect only in a message.
            (
                "com.google.firebase.messaging.NEW_TOKEN", #"{"message_type":"deleted_messages","gcm.n.e":"1"}"#,
                [.onNewToken], .newToken(nil)
            ),
            ("com.amazon.device.messaging.intent.RECEIVE", #"{"gcm.n.e":"1"}"#, [.onMessageReceived], .amazonMessage),
            (registration, #"{"registration_id":"r"}"#, [.onNewToken], .newToken("r")),
            (registration, #"{"unregistered":"r"}"#, [.onUnregistered], .unregistered("r")),
            (registration, #"{"registration_id":"r","unregistered":"r"}"#, [.onNewToken], .newToken("r")),
            (registration, #"{"error":"INVALID_SENDER","registration_id":"r"}"#, [], .amazonRefusal("INVALID_SENDER")),
            (registration, "{}", [], .amazonRefusal(nil)),
        ] as [(String, String, [Callback], Reason)])
    func followsAction(_ action: String, _ extras: String, _ callbacks: [Callback], _ reason: Reason) throws {
        let payload = #"{"action":"\#(action)","extras":\#(extras)}"#
        let decision = try decision(.android, payload)
        #expect(decision.callbacks == callbacks)
        #expect(decision.outcome == (callbacks.isEmpty ? .swallowed : nil))
        #expect(decision.reasons.last == reason)
        #expect(try PushDispatchTests.decision(.android, payload, state: .forceStopped).outcome == .notWoken)
    }

    @Test("finds no provider for a token: it has no data")
    func tokensAreNobodys() throws {
        let decision = try decision(
            .android, #"{"action":"com.google.firebase.messaging.NEW_TOKEN","extras":{"token":"t","_ab":"true"}}"#)
        #expect(decision.provider == nil)
        #expect(decision.invocations == [PlannedInvocation(callback: .onNewToken, owner: .route)])
        #expect(decision.keys.data("token") == nil)
        #expect(decision.message == nil)
        #expect(decision.reasons == [.newToken("t")])
    }

    @Test(
        "gives the callback's argument, and FCM's log line",
        arguments: [
            (
                Reason.sendError(id: "m", error: nil),
                #"message_type is send_error: FCM calls onSendError with the id "m" and the error null"#
            ),
            (.unknownMessageType("x"), #"Received message with unknown type: "x", FCM logs, and drops the message"#),
            (.unknownAction("x"), #"Unknown intent action: "x", FCM logs, and does nothing"#),
            (
                .newToken(String(repeating: "ä", count: 101)),
                #"there is a new token: onNewToken is called with "\#(String(repeating: "ä", count: 100))…""#
            ),
        ])
    func says(_ reason: Reason, _ text: String) {
        #expect(reason.description == text)
    }

    @Test("keeps the payload's own text out of the reason of an outcome, which reaches the journal")
    func withoutPayload() {
        for reason: Reason in [.unknownMessageType("SECRET"), .unknownAction("SECRET"), .amazonRefusal("SECRET")] {
            #expect(reason.description.contains("SECRET"))
            #expect(!reason.withoutPayload.contains("SECRET"))
        }
        #expect(Reason.forceStopped.withoutPayload == Reason.forceStopped.description)
    }

    // FirebaseMessagingService.handleMessageIntent and alreadyReceivedMessage.
    @Test(
        "gives FCM's list the id that the service would look up, whatever the message's outcome",
        arguments: [
            (#"{"extras":{"google.message_id":"a","message_id":"b"}}"#, "a"),
            (#"{"extras":{"message_id":"b"}}"#, nil),
            (#"{"extras":{"google.message_id":""}}"#, nil),
            (#"{"extras":{"google.message_id":5}}"#, nil),
            (#"{"extras":{"google.message_id":"a","message_type":"deleted_messages"}}"#, "a"),
            (#"{"extras":{"google.message_id":"a","message_type":"other"}}"#, "a"),
            (#"{"extras":{"google.message_id":"a","gcm.n.e":"1","gcm.n.noui":"1"}}"#, "a"),
            (
                #"{"action":"com.google.firebase.messaging.RECEIVE_DIRECT_BOOT","extras":{"google.message_id":"a"}}"#,
                "a"
            ),
            (#"{"action":"com.google.firebase.messaging.NEW_TOKEN","extras":{"google.message_id":"a"}}"#, nil),
            (#"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":{"google.message_id":"a"}}"#, nil),
            (#"{"data":{"k":"v"},"messageId":"a"}"#, "a"),
            (#"{"k":"v","google.message_id":"a"}"#, "a"),
            (#"{"k":"v"}"#, nil),
            // Keys of the app's own: FCM reads only its own.
            (#"{"text":"edit of 5","message_id":"5"}"#, nil),
            (#"{"text":"edit of 5","messageId":"5","gcm.message_id":"5"}"#, nil),
            (#"{"message":{"token":"t","name":"projects/p/messages/a"}}"#, "a"),
            (#"{"message":{"token":"t","name":"projects/p/messages/"}}"#, nil),
            (#"{"message":{"token":"t","name":"projects/p/messages/a"},"validate_only":true}"#, nil),
        ] as [(String, String?)])
    func givesDuplicateID(_ payload: String, _ id: String?) throws {
        #expect(try decision(.android, payload).duplicateID == id)
        #expect(try decision(.android, payload, state: .forceStopped).duplicateID == nil)
    }

    @Test("keeps no list of ids on other platforms")
    func othersKeepNoList() throws {
        #expect(try decision(.ios, #"{"aps":{},"gcm.message_id":"a"}"#).duplicateID == nil)
        #expect(try decision(.web, #"{"messageId":"a"}"#).duplicateID == nil)
    }
}
