import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

// Source: Apple's documentation.
@Suite("The behavior of iOS")
struct AppleFateTests {
    private static let alert = #"{"aps":{"alert":"x"}}"#
    private static let silent = #"{"aps":{"content-available":1}}"#
    private static let both = #"{"aps":{"alert":{"title":"x"},"content-available":1}}"#
    private static let mutable = #"{"aps":{"alert":"x","mutable-content":1}}"#
    private static let all = #"{"aps":{"alert":"x","content-available":1,"mutable-content":1}}"#

    @Test(
        "follows the table of contents and app states",
        arguments: [
            FateCase(payload: alert, state: .foreground, callbacks: [.willPresent], reason: .alertInForeground),
            FateCase(payload: alert, state: .background, outcome: .shownBySystem, reason: .alertShownBySystem),
            FateCase(payload: alert, state: .terminated, outcome: .shownBySystem, reason: .alertShownBySystem),
            FateCase(payload: alert, state: .forceQuit, outcome: .shownBySystem, reason: .alertShownBySystem),
            FateCase(payload: alert, notifications: .denied, outcome: .swallowed, reason: .notificationsDenied),

            FateCase(
                payload: silent, state: .foreground, callbacks: [.didReceiveRemoteNotification],
                reason: .contentAvailable),
            FateCase(payload: silent, callbacks: [.didReceiveRemoteNotification], reason: .contentAvailable),
            FateCase(
                payload: silent, state: .terminated, callbacks: [.didReceiveRemoteNotification],
                reason: .contentAvailableLaunches),
            FateCase(payload: silent, state: .forceQuit, outcome: .notWoken, reason: .contentAvailableAfterForceQuit),
            FateCase(
                payload: silent, state: .forceStopped, outcome: .notWoken, reason: .contentAvailableAfterForceQuit),
            FateCase(
                payload: silent, notifications: .denied, callbacks: [.didReceiveRemoteNotification],
                reason: .contentAvailable),

            FateCase(
                payload: both, state: .foreground, callbacks: [.willPresent, .didReceiveRemoteNotification],
                reason: .orderOfCallbacksUnknown),
            FateCase(payload: both, callbacks: [.didReceiveRemoteNotification], reason: .alertShownToo),
            FateCase(
                payload: both, notifications: .denied, callbacks: [.didReceiveRemoteNotification],
                reason: .contentAvailable),
            // The user of a force-quit app sees the alert; the app does not get the silent part.
            FateCase(payload: both, state: .forceQuit, outcome: .shownBySystem, reason: .alertShownBySystem),
            FateCase(
                payload: both, state: .forceQuit, notifications: .denied, outcome: .notWoken,
                reason: .contentAvailableAfterForceQuit),

            FateCase(
                payload: mutable, state: .foreground, callbacks: [.willPresent],
                reason: .alertInForeground),
            FateCase(payload: mutable, callbacks: [.serviceExtension], reason: .alertShownToo),
            FateCase(payload: mutable, state: .forceQuit, callbacks: [.serviceExtension], reason: .alertShownToo),
            FateCase(payload: mutable, notifications: .denied, outcome: .swallowed, reason: .notificationsDenied),
            FateCase(
                payload: all, callbacks: [.serviceExtension, .didReceiveRemoteNotification], reason: .alertShownToo),
            FateCase(
                payload: all, state: .forceQuit, callbacks: [.serviceExtension],
                reason: .alertShownToo),

            // The extension changes neither sound nor badge alone; willPresent gets both.
            FateCase(
                payload: #"{"aps":{"sound":"s","mutable-content":1}}"#, outcome: .shownBySystem,
                reason: .alertShownBySystem),
            FateCase(
                payload: #"{"aps":{"badge":0}}"#, state: .foreground, callbacks: [.willPresent],
                reason: .alertInForeground),
            FateCase(
                payload: #"{"aps":{"sound":{"name":"s"}}}"#, state: .foreground, callbacks: [.willPresent],
                reason: .alertInForeground),

            FateCase(payload: #"{"aps":{}}"#, state: .foreground, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: #"{"aps":{"alert":""}}"#, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: #"{"aps":{"alert":{}}}"#, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: #"{"aps":{"badge":null}}"#, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: #"{"aps":{"mutable-content":1}}"#, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: #"{"k":"v"}"#, outcome: .swallowed, reason: .nothingForTheApp),
            FateCase(payload: "{}", outcome: .swallowed, reason: .nothingForTheApp),
        ])
    func followsTable(_ expected: FateCase) throws {
        let decision = try decision(
            .ios, expected.payload, state: expected.state, notifications: expected.notifications)
        #expect(decision.callbacks == expected.callbacks)
        #expect(decision.outcome == expected.outcome)
        #expect(decision.reasons.last == expected.reason)
    }
}

@Suite("iOS payload forms")
struct AppleFormTests {
    @Test(
        "userInfo is read from every form of an iOS payload",
        arguments: [
            #"{"aps":{"alert":"x"},"ab":{"c":"c"},"k":"v"}"#,
            #"{"userInfo":{"aps":{"alert":"x"},"ab":{"c":"c"},"k":"v"}}"#,
            #"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"x"},"ab":{"c":"c"},"k":"v"}"#,
            #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x"},"ab":{"c":"c"},"k":"v"}}}}"#,
            #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x"},"ab":{"c":"c"}}},"data":{"k":"v"}}}"#,
        ])
    func readsEveryForm(_ payload: String) throws {
        let decision = try decision(.ios, payload)
        #expect(decision.braze?.campaignID == "c")
        #expect(decision.outcome == .shownBySystem)
        #expect(decision.keys.data("k") == "v")
        #expect(decision.keys.keyValue("k") == "v")
        #expect(decision.warnings == [])
    }

    @Test("use the simulator's target bundle as the app and hide it from the app")
    func stripsTargetBundle() throws {
        let payload = #"{"Simulator Target Bundle":"com.example.app","aps":{}}"#
        #expect(try decision(.ios, payload).app == "com.example.app")
        #expect(try decision(.ios, payload, app: "com.example.other").app == "com.example.other")
        #expect(try decision(.ios, payload).keys.data("Simulator Target Bundle") == nil)
        #expect(try decision(.ios, #"{"aps":{}}"#).app == nil)
    }

    @Test("make an alert of a v1 notification block")
    func makesAlert() throws {
        let payload = #"{"message":{"token":"t","notification":{"title":"x"}}}"#
        #expect(try decision(.ios, payload).outcome == .shownBySystem)
        #expect(try decision(.ios, payload, state: .foreground).callbacks == [.willPresent])
        #expect(try decision(.ios, payload).warnings == [])
    }

    @Test("treat an object called message beside aps as the app's own")
    func keepsOwnMessage() throws {
        let decision = try decision(.ios, #"{"aps":{"alert":"x"},"message":{"token":"t","topic":"u"}}"#)
        #expect(decision.outcome == .shownBySystem)
        #expect(decision.keys.data("message") == #"{"token":"t","topic":"u"}"#)
    }

    @Test(
        "refuse a wrong shape with its field",
        arguments: [
            (#"{"aps":"x"}"#, "payload.aps", "this has to be an object; it is a string"),
            (#"{"aps":null}"#, "payload.aps", "this has to be an object; it is null"),
            (#"{"userInfo":{"aps":[]}}"#, "payload.userInfo.aps", "this has to be an object; it is an array"),
            (
                #"{"message":{"token":"t","apns":{"payload":{"aps":1}}}}"#, "payload.message.apns.payload.aps",
                "this has to be an object; it is a number"
            ),
            (
                #"{"Simulator Target Bundle":1,"aps":{}}"#, "payload.Simulator Target Bundle",
                "this has to be a string; it is a number"
            ),
            (
                #"{"Simulator Target Bundle":"com.example.app"}"#, "payload.aps",
                "an .apns file needs aps; the simulator refuses one without it"
            ),
            (
                #"{"message":{"data":{"k":"v"}}}"#, "payload.message",
                "FCM v1 takes one of fid, token, topic and condition; this has none"
            ),
        ])
    func refuses(_ payload: String, _ field: String, _ message: String) throws {
        #expect(try refusal(.ios, payload) == PayloadError(field: field, message: message))
    }

    @Test("give the reason why a push that wakes the app shows nothing")
    func alertDenied() throws {
        let payload = try json(#"{"aps":{"alert":"x","content-available":1}}"#)
        for (permission, isDenied) in [(NotificationPermission.denied, true), (.allowed, false)] {
            let decision = try decide(Delivery(platform: .ios, notifications: permission, payload: payload))
            #expect(decision.reasons.contains(.alertDenied) == isDenied)
        }
    }

    @Test("run the service extension in the foreground too with a setting, which is named otherwise")
    func serviceExtensionInForeground() throws {
        var settings = DetectionSettings.shipped
        settings.runsServiceExtensionInForeground = true
        let payload = try json(#"{"aps":{"alert":"x","mutable-content":1}}"#)
        let delivery = Delivery(platform: .ios, state: .foreground, payload: payload)
        #expect(try decide(delivery, settings: settings).callbacks == [.serviceExtension, .willPresent])
        settings.runsServiceExtensionInForeground = false
        let decision = try decide(delivery, settings: settings)
        #expect(decision.callbacks == [.willPresent])
        #expect(decision.reasons.contains(.mutableContentInForeground), "who sees it run on a device finds the setting")
    }
}
