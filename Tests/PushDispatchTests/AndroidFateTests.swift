import PushDispatch
import PushModel
import Testing

/// What is to become of a delivery: these callbacks, or this outcome; and the last reason.
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

// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.java and DisplayNotification.java
// (fcm-apns.md 1.1 and 1.2).
@Suite("What FCM and Android do")
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
                payload: #"{"extras":{"message_type":"send_event"}}"#, callbacks: [.onMessageSent], reason: .sendEvent),
            FateCase(
                payload: #"{"extras":{"message_type":"send_error"}}"#, callbacks: [.onSendError], reason: .sendError),
            FateCase(
                payload: #"{"extras":{"message_type":"other"}}"#, outcome: .swallowed,
                reason: .unknownMessageType),
            FateCase(
                payload: #"{"extras":{"message_type":""}}"#, outcome: .swallowed, reason: .unknownMessageType),
            FateCase(
                payload: #"{"extras":{"message_type":"GCM"}}"#, outcome: .swallowed, reason: .unknownMessageType),
            // In a data map it is a key like any other.
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
            // gcm.n.noui, in both states; without gcm.n.e it means nothing
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
}
