import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The transport of a payload to an Android device")
struct TransportTests {
    private func decision(
        _ payload: String, over transport: Transport?, state: AppState = .background,
        notifications: NotificationPermission = .allowed
    ) throws -> Decision {
        try decide(
            Delivery(
                platform: .android, transport: transport, state: state, notifications: notifications,
                payload: json(payload)), settings: .shipped)
    }

    @Test(
        "is FCM, unless the request or the payload's form names another",
        arguments: [
            (#"{"k":"v"}"#, nil, .fcm), (#"{"extras":{}}"#, nil, .fcm), (#"{"message":{"token":"t"}}"#, nil, .fcm),
            (#"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":{}}"#, nil, .adm),
            (
                #"{"action":"com.amazon.device.messaging.intent.REGISTRATION","extras":{"registration_id":"r"}}"#, nil,
                .adm
            ),
            (#"{"k":"v"}"#, .adm, .adm), (#"{"extras":{}}"#, .adm, .adm), (#"{"data":{"k":"v"}}"#, .hms, .hms),
        ] as [(String, Transport?, Transport)])
    func resolved(payload: String, given: Transport?, transport: Transport) throws {
        #expect(try decision(payload, over: given).transport == transport)
    }

    @Test(
        "is an error of the request if the payload has another transport's form",
        arguments: [
            (#"{"message":{"token":"t"}}"#, .adm, "transport is adm, but the payload is a message of FCM v1"),
            (
                #"{"action":"com.google.android.c2dm.intent.RECEIVE","extras":{}}"#, .adm,
                "transport is adm, but the payload is an intent of FCM"
            ),
            (
                #"{"action":"com.amazon.device.messaging.intent.RECEIVE","extras":{}}"#, .fcm,
                "transport is fcm, but the payload is an intent of ADM"
            ),
            (#"{"extras":{}}"#, .hms, "transport is hms, whose messages are not intents: leave out extras"),
        ] as [(String, Transport, String)])
    func contradiction(payload: String, transport: Transport, message: String) throws {
        let error = #expect(throws: PayloadError.self) { try decision(payload, over: transport) }
        #expect(error?.field == "transport" && error?.message == message)
    }

    @Test(
        "ADM gives Amazon's receiver every message, which drops a story, and keeps no list of recent ids",
        arguments: [
            #"{"_ab":"true","t":"T","a":"A","ab_c":"[]","message_id":"m"}"#,
            #"{"extras":{"_ab":"true","t":"T","a":"A","ab_c":"[]","google.message_id":"m"}}"#,
            #"{"data":{"_ab":"true","t":"T","a":"A","ab_c":"[]"},"notification":{"title":"T"},"messageId":"m"}"#,
        ])
    func amazon(payload: String) throws {
        let amazon = try decision(payload, over: .adm)
        #expect(amazon.callbacks == [.onMessageReceived] && amazon.reasons.contains(.amazonMessage))
        #expect(amazon.reasons.last == .brazeStoryOnAmazon && !amazon.displayed)
        #expect(amazon.duplicateID == nil && amazon.message == nil)
    }

    @Test(
        "HMS shows a notification itself, except one that it leaves to an app in the foreground",
        arguments: [
            (#"{"k":"v"}"#, .terminated, .allowed, [.onMessageReceived], nil, .huaweiMessage),
            (#"{"notification":{"title":"T"}}"#, .background, .allowed, [], .shownBySystem, .huaweiNotification),
            (#"{"notification":{"title":"T"}}"#, .foreground, .allowed, [], .shownBySystem, .huaweiNotification),
            (#"{"notification":{"title":"T"}}"#, .background, .denied, [], .swallowed, .notificationsDenied),
            (
                #"{"notification":{"foreground_show":false}}"#, .foreground, .allowed, [.onMessageReceived], nil,
                .huaweiNotificationInForeground
            ),
            (
                #"{"notification":{"foreground_show":false}}"#, .background, .allowed, [], .shownBySystem,
                .huaweiNotification
            ),
        ] as [(String, AppState, NotificationPermission, [Callback], Outcome?, Reason)])
    func huawei(
        payload: String, state: AppState, notifications: NotificationPermission, callbacks: [Callback],
        outcome: Outcome?, reason: Reason
    ) throws {
        let huawei = try decision(payload, over: .hms, state: state, notifications: notifications)
        #expect(huawei.callbacks == callbacks && huawei.outcome == outcome && huawei.reasons.last == reason)
        #expect(huawei.duplicateID == nil && huawei.message == nil)
    }

    @Test("FCM alone has priorities of a message")
    func priorities() throws {
        let extras = #"{"google.original_priority":"high","google.delivered_priority":"normal"}"#
        let lowered = try decision(#"{"extras":\#(extras)}"#, over: nil)
        #expect(lowered.originalPriority == .high && lowered.deliveredPriority == .normal)
        let amazon = try decision(#"{"extras":\#(extras)}"#, over: .adm)
        #expect(amazon.originalPriority == nil && amazon.deliveredPriority == nil)
        let silent = try decision(#"{"k":"v"}"#, over: nil)
        #expect(silent.originalPriority == nil && silent.deliveredPriority == nil)
    }
}
