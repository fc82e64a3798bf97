public import PushModel

/// One step of a decision, for people who know Android and iOS. The text is made on each access.
public enum Reason: Hashable, Sendable, CustomStringConvertible {
    // The owner.
    case owner(ProviderMatch)
    // The payload is not Braze's: Android, iOS, web, the user's own rule.
    case noBrazeMarker, brazeMarkerIsNotTrue
    case noBrazeObject, brazeObjectIsNone, brazeObjectIsEmpty
    case noBrazeWebKey, webPayloadEmpty
    case otherBrazeRule
    // The treatment by the owner's SDK, independent of the callback.
    case uninstallProbe(title: String), probe(title: String)
    case ownReceiver(title: String)
    // The treatment by Braze's SDK.
    case brazeAppleUninstallTracking, brazeDeletedMessages, brazeUninstallTracking, brazeUninstallTrackingInExtra
    case brazeTitleAndContent, brazeWithoutTitleOrContent
    case brazeContentAvailable, brazeWithoutContentAvailable
    case noCampaign
    case brazeLost, brazeTestInAppMessage, brazeStoryOnAmazon, brazeNotificationDenied
    // The treatment by FCM, ADM and Android.
    case refusedSend(String), unreadableMessage(String), validateOnly, forceStopped
    case deletedMessages, sendEvent(id: String?), sendError(id: String?, error: String?), unknownMessageType(String)
    case newToken(String?), registered(String?), unregistered(String?), notificationEvent, unknownAction(String)
    case amazonMessage, amazonRefusal(String?)
    case huaweiMessage, huaweiNotification, huaweiNotificationInForeground
    case dataMessage, notificationInForeground, notificationSuppressed
    case notificationInBackground, notificationWhileNotRunning, notificationWhileLocked
    // The treatment by iOS.
    case mutableContent, mutableContentInForeground, alertInForeground
    case contentAvailable, contentAvailableLaunches, contentAvailableAfterForceQuit
    case orderOfCallbacksUnknown, alertShownToo, alertShownBySystem, nothingForTheApp
    case liveActivity, deviceManagement, otherCode(APNsPushType)
    // The treatment by Android or iOS.
    case notificationsDenied, alertDenied
    // The treatment by a browser.
    case serviceWorker, declarativeWebPush(isMutable: Bool), webNotification

    public var description: String {
        switch self {
        case .owner(let match): match.description
        case .noBrazeMarker: "data has no key _ab: the payload is not Braze's"
        case .brazeMarkerIsNotTrue:
            #"data._ab is not the string "true", compared exactly: the payload is not Braze's"#

        case .noBrazeObject: "userInfo has no key ab at its top level: the payload is not Braze's"
        case .brazeObjectIsNone: "userInfo.ab is not an object: the payload is not Braze's"
        case .brazeObjectIsEmpty: "userInfo.ab is empty: the payload is not Braze's"

        case .noBrazeWebKey:
            "the payload has neither a string cid beside t or a nor a key that begins with ab_: it is not Braze's"

        case .webPayloadEmpty:
            "the payload is empty: Braze's worker rejects it (Server has no pending push message), so it is not Braze's"

        case .otherBrazeRule: "the configured rule of Braze does not match: the payload is not Braze's"

        case .uninstallProbe(let title):
            "\(title)'s SDK only tests whether the app is installed: there is nothing for a handler to do"
        case .probe(let title):
            "\(title)'s SDK takes the probe that it sent to itself: there is nothing for a handler to do"
        case .ownReceiver(let title):
            "\(title)'s SDK has a receiver of its own, which takes the message: the app's service does not handle it"

        case .brazeAppleUninstallTracking:
            "userInfo.appboy_uninstall_tracking is true: Braze's test whether the app is still installed, with or without ab"
        case .brazeDeletedMessages: "message_type is deleted_messages: Braze's SDK only logs it"
        case .brazeUninstallTracking:
            "data has appboy_uninstall_tracking: Braze's SDK ignores the payload, it only tests whether the app is installed"
        case .brazeUninstallTrackingInExtra:
            "data.extra has appboy_uninstall_tracking: Braze's SDK ignores the payload, it only tests whether the app is installed"
        case .brazeTitleAndContent: "data has both t and a, title and body: Braze's SDK shows a notification"
        case .brazeNotificationDenied:
            "data has both t and a, title and body, but the user does not allow notifications: Android does not show it"
        case .brazeWithoutTitleOrContent:
            "the title (t) or the body (a) is missing in data: silent, Braze's SDK shows nothing and informs the app"
        case .brazeContentAvailable: "aps.content-available is 1: silent to Braze's SDK, even with an alert"
        case .brazeWithoutContentAvailable: "aps.content-available is not 1: visible to Braze's SDK"
        case .noCampaign: "the payload names no campaign: an open of it cannot be attributed to one"

        case .brazeLost:
            "the system shows the notification block instead of Braze's push: Braze's SDK never sees the payload, and its open is lost"
        case .brazeTestInAppMessage:
            #"ab_push_fetch_test_triggers_key is "true" and the app is in the foreground: Braze's SDK shows the in-app message and no notification"#
        case .brazeStoryOnAmazon: "ab_c makes it a push story, and the device is Amazon's: Braze's SDK shows nothing"

        case .refusedSend(let answer): "the gateway refused the send as the push service would: \(answer)"
        case .unreadableMessage(let cause): "the browser cannot decrypt the message, and starts no worker: \(cause)"
        case .validateOnly: "validate_only is true: FCM checks the message and sends nothing"
        case .forceStopped: "the app is force-stopped: Android runs no code of it until the user starts it"
        case .deletedMessages: "message_type is deleted_messages: FCM calls onDeletedMessages"
        case .sendEvent(let id): "message_type is send_event: FCM calls onMessageSent with the id \(quoted(id))"
        case .sendError(let id, let error):
            "message_type is send_error: FCM calls onSendError with the id \(quoted(id)) and the error \(quoted(error))"
        case .unknownMessageType(let type):
            "Received message with unknown type: \(quoted(type)), FCM logs, and drops the message"
        case .newToken(let token): "there is a new token: onNewToken is called with \(quoted(token))"
        case .registered(let id): "the app is registered: FCM calls onRegistered with the installation id \(quoted(id))"
        case .unregistered(let id): "the app is no longer registered: onUnregistered is called with \(quoted(id))"
        case .notificationEvent:
            "the intent reports a tap or a swipe on a notification that FCM showed: FCM's receiver logs it for its statistics, and no callback of the service runs"
        case .unknownAction(let action): "Unknown intent action: \(quoted(action)), FCM logs, and does nothing"
        case .amazonMessage:
            "Amazon Device Messaging hands the message to the app's receiver, whatever the app is doing"
        case .amazonRefusal(nil):
            "the intent of ADM's registration has neither an error, a registration_id nor unregistered: it is ignored"
        case .amazonRefusal(let error): "ADM did not register the app: it answered the error \(quoted(error))"
        case .huaweiMessage:
            "the message has no notification block: Huawei's push kit calls onMessageReceived; reports say that it needs a living process of the app"
        case .huaweiNotification:
            "the message has a notification block: Huawei's push kit shows it itself, no code of the app runs"
        case .huaweiNotificationInForeground:
            "the app is in the foreground and the notification block says foreground_show false: Huawei's push kit calls onMessageReceived"
        case .dataMessage:
            "the message has no notification block: FCM calls onMessageReceived, whatever the app is doing"
        case .notificationInForeground:
            "the app is in the foreground: FCM calls onMessageReceived although the message has a notification block"
        case .notificationSuppressed: "gcm.n.noui is set: FCM neither shows the notification nor calls the app"
        case .notificationInBackground:
            "the app is in the background and the message has a notification block: the system shows it, and the messaging service does not run; a receiver beside it (React Native Firebase, FlutterFire) gets the message"
        case .notificationWhileNotRunning:
            "the app is not running and the message has a notification block: the system shows it, and the messaging service does not run; a receiver beside it (React Native Firebase, FlutterFire) gets the message"
        case .notificationWhileLocked:
            "the screen is locked, which counts as background, and the message has a notification block: the system shows it, and the messaging service does not run; a receiver beside it (React Native Firebase, FlutterFire) gets the message"

        case .mutableContent:
            "aps has an alert and mutable-content is 1: iOS runs the notification service extension before it shows the alert"
        case .mutableContentInForeground:
            "aps.mutable-content is 1 and the app is in the foreground: no service extension, by ServiceExtensionInForeground=; Apple's documentation does not say, and devices are seen to run it"
        case .alertInForeground:
            "the app is in the foreground and aps has an alert, badge or sound: iOS calls willPresent"
        case .contentAvailable: "aps.content-available is 1: iOS calls didReceiveRemoteNotification"
        case .contentAvailableLaunches:
            "aps.content-available is 1 and the app is not running: iOS launches it in the background for didReceiveRemoteNotification"
        case .contentAvailableAfterForceQuit:
            "aps.content-available is 1, but the user has force-quit the app: iOS does not wake it"
        case .orderOfCallbacksUnknown:
            "which of willPresent and didReceiveRemoteNotification iOS calls first is not documented: do not rely on this order"
        case .alertShownToo: "the app is not in the foreground: iOS shows the alert, badge or sound itself as well"
        case .alertShownBySystem:
            "the app is not in the foreground: iOS shows the alert, badge or sound itself, no code of the app runs"
        case .nothingForTheApp:
            "aps has neither an alert, badge or sound to show nor content-available: iOS shows nothing and wakes nothing"
        case .liveActivity:
            "apns-push-type is liveactivity, or aps has event or content-state: iOS changes the Live Activity itself, no code of the app runs"
        case .otherCode(let type): type.receiver
        case .deviceManagement:
            "apns-push-type is mdm, or the payload has mdm: it is for the device's management, not for an app"

        case .notificationsDenied:
            "the user does not allow notifications: the system shows nothing, and no code of the app runs"

        case .alertDenied: "the user does not allow notifications: iOS shows neither alert, badge nor sound"

        case .serviceWorker: "the browser starts the service worker for every push"
        case .declarativeWebPush(let isMutable):
            "web_push is 8030: a browser with declarative web push (Safari since 18.4 on iOS, 18.5 on macOS) "
                + (isMutable
                    ? "starts the worker, for mutable is true, and shows the notification itself if the worker shows none"
                    : "shows the notification itself, and no worker runs, for mutable is not true")
                + "; a browser without it starts the worker, which has to show it"
        case .webNotification:
            "the message has a notification block: FCM's worker shows it itself unless a page of the site is visible"
        }
    }
}

extension Reason {
    /// Whether the system, or code of the app beside its notification callbacks, takes the push: no handler misses it.
    public var isForOthers: Bool {
        switch self {
        case .liveActivity, .deviceManagement, .otherCode: true
        default: false
        }
    }

    /// Whether other code of the app than a notification callback gets the push: PushKit's, or an extension.
    public var isForOtherCode: Bool { if case .otherCode = self { true } else { false } }

    /// The reason code, without parts of the payload.
    public var code: ReasonCode {
        switch self {
        case .owner: .owner
        case .noBrazeMarker: .noBrazeMarker
        case .brazeMarkerIsNotTrue: .brazeMarkerIsNotTrue
        case .noBrazeObject: .noBrazeObject
        case .brazeObjectIsNone: .brazeObjectIsNone
        case .brazeObjectIsEmpty: .brazeObjectIsEmpty
        case .noBrazeWebKey: .noBrazeWebKey
        case .webPayloadEmpty: .webPayloadEmpty
        case .otherBrazeRule: .otherBrazeRule
        case .uninstallProbe: .uninstallProbe
        case .probe: .probe
        case .ownReceiver: .ownReceiver
        case .brazeAppleUninstallTracking: .brazeAppleUninstallTracking
        case .brazeDeletedMessages: .brazeDeletedMessages
        case .brazeUninstallTracking: .brazeUninstallTracking
        case .brazeUninstallTrackingInExtra: .brazeUninstallTrackingInExtra
        case .brazeTitleAndContent: .brazeTitleAndContent
        case .brazeNotificationDenied: .brazeNotificationDenied
        case .brazeWithoutTitleOrContent: .brazeWithoutTitleOrContent
        case .brazeContentAvailable: .brazeContentAvailable
        case .brazeWithoutContentAvailable: .brazeWithoutContentAvailable
        case .noCampaign: .noCampaign
        case .brazeLost: .brazeLost
        case .brazeTestInAppMessage: .brazeTestInAppMessage
        case .brazeStoryOnAmazon: .brazeStoryOnAmazon
        case .refusedSend: .refusedSend
        case .unreadableMessage: .unreadableMessage
        case .validateOnly: .validateOnly
        case .forceStopped: .forceStopped
        case .deletedMessages: .deletedMessages
        case .sendEvent: .sendEvent
        case .sendError: .sendError
        case .unknownMessageType: .unknownMessageType
        case .newToken: .newToken
        case .registered: .registered
        case .unregistered: .unregistered
        case .notificationEvent: .notificationEvent
        case .unknownAction: .unknownIntentAction
        case .amazonMessage: .amazonMessage
        case .amazonRefusal: .amazonRefusal
        case .huaweiMessage: .huaweiMessage
        case .huaweiNotification: .huaweiNotification
        case .huaweiNotificationInForeground: .huaweiNotificationInForeground
        case .dataMessage: .dataMessage
        case .notificationInForeground: .notificationInForeground
        case .notificationSuppressed: .notificationSuppressed
        case .notificationInBackground: .notificationInBackground
        case .notificationWhileNotRunning: .notificationWhileNotRunning
        case .notificationWhileLocked: .notificationWhileLocked
        case .mutableContent: .mutableContent
        case .mutableContentInForeground: .mutableContentInForeground
        case .alertInForeground: .alertInForeground
        case .contentAvailable: .contentAvailable
        case .contentAvailableLaunches: .contentAvailableLaunches
        case .contentAvailableAfterForceQuit: .contentAvailableAfterForceQuit
        case .orderOfCallbacksUnknown: .orderOfCallbacksUnknown
        case .alertShownToo: .alertShownToo
        case .alertShownBySystem: .alertShownBySystem
        case .nothingForTheApp: .nothingForTheApp
        case .liveActivity: .liveActivity
        case .deviceManagement: .deviceManagement
        case .otherCode(let type): type.code
        case .notificationsDenied: .notificationsDenied
        case .alertDenied: .alertDenied
        case .serviceWorker: .serviceWorker
        case .declarativeWebPush: .declarativeWebPush
        case .webNotification: .webNotification
        }
    }

    /// The reason of an outcome: without parts of the payload, because it reaches the journal.
    var ofOutcome: OutcomeReason { OutcomeReason(code, withoutPayload) }
}

extension Reason {
    /// The reason of a push that reaches no code.
    init(_ refusal: SendRefusal) {
        switch refusal {
        case .refused(let answer): self = .refusedSend(answer)
        case .unreadable(let cause): self = .unreadableMessage(cause)
        }
    }
}

/// Returns a text of the payload for a sentence: in quotation marks, and cut if it is long.
func quoted(_ text: String?) -> String {
    guard let text else { return "null" }
    let shown = text.prefix(100)
    return "\"\(shown)\(shown.endIndex < text.endIndex ? "…" : "")\""
}

extension Reason {
    /// The description without parts of the payload, for the reason of an outcome, which reaches the journal.
    var withoutPayload: String {
        switch self {
        // The cause may quote what the sender sent.
        case .refusedSend(let answer): Self.refusedSend(String(answer.prefix { $0 != ":" })).description
        case .unknownMessageType: "Received message with unknown type, FCM logs, and drops the message"
        case .unknownAction: "Unknown intent action, FCM logs, and does nothing"
        case .amazonRefusal(.some): "ADM did not register the app: it answered an error"
        default: description
        }
    }
}
