/// One step of a decision, for people who know Android and iOS. The text is made when asked for.
public enum Reason: Hashable, Sendable, CustomStringConvertible {
    // Whose it is, Android.
    case brazeMarker, noBrazeMarker, brazeMarkerIsNotTrue
    // Whose it is, iOS.
    case brazeAppleUninstallTracking, brazeObject, noBrazeObject, brazeObjectIsNone, brazeObjectIsEmpty
    // Whose it is, web.
    case brazeWebCampaign, brazeWebKey, noBrazeWebKey, webPayloadEmpty
    // What Braze's SDK makes of it.
    case brazeDeletedMessages, brazeUninstallTracking, brazeUninstallTrackingInExtra
    case brazeTitleAndContent, brazeWithoutTitleOrContent
    case brazeContentAvailable, brazeWithoutContentAvailable
    case noCampaign
    // What FCM and Android do.
    case validateOnly, forceStopped
    case deletedMessages, sendEvent, sendError, unknownMessageType
    case dataMessage, notificationInForeground, notificationSuppressed
    case notificationInBackground, notificationWhileNotRunning, notificationWhileLocked
    // What iOS does.
    case mutableContent, alertInForeground
    case contentAvailable, contentAvailableLaunches, contentAvailableAfterForceQuit
    case orderOfCallbacksUnknown, alertShownToo, alertShownBySystem, nothingForTheApp
    case liveActivity, deviceManagement
    // What either does.
    case notificationsDenied
    // What a browser does.
    case serviceWorker

    public var description: String {
        switch self {
        case .brazeMarker: #"data._ab is exactly "true": the payload is Braze's"#
        case .noBrazeMarker: "data has no key _ab: the payload is not Braze's"
        case .brazeMarkerIsNotTrue:
            #"data._ab is not the string "true", compared exactly: the payload is not Braze's"#

        case .brazeAppleUninstallTracking:
            "userInfo.appboy_uninstall_tracking is true: Braze's test whether the app is still installed, with or without ab"
        case .brazeObject: "userInfo.ab is an object with members: the payload is Braze's"
        case .noBrazeObject: "userInfo has no key ab at its top level: the payload is not Braze's"
        case .brazeObjectIsNone: "userInfo.ab is not an object: the payload is not Braze's"
        case .brazeObjectIsEmpty: "userInfo.ab is empty: the payload is not Braze's"

        case .brazeWebCampaign: "the payload has a string cid: it is Braze's"
        case .brazeWebKey: "the payload has a key that begins with ab_: it is Braze's"
        case .noBrazeWebKey: "the payload has neither a string cid nor a key that begins with ab_: it is not Braze's"

        case .webPayloadEmpty:
            "the payload is empty: Braze's worker rejects it (Server has no pending push message), so it is not Braze's"

        case .brazeDeletedMessages: "message_type is deleted_messages: Braze's SDK only logs it"
        case .brazeUninstallTracking:
            "data has appboy_uninstall_tracking: Braze's SDK ignores the payload, it only tests whether the app is installed"
        case .brazeUninstallTrackingInExtra:
            "data.extra has appboy_uninstall_tracking: Braze's SDK ignores the payload, it only tests whether the app is installed"
        case .brazeTitleAndContent: "data has both t and a, title and body: Braze's SDK shows a notification"
        case .brazeWithoutTitleOrContent:
            "data has not both t and a, title and body: silent, Braze's SDK only tells the app"
        case .brazeContentAvailable: "aps.content-available is 1: silent to Braze's SDK, even with an alert"
        case .brazeWithoutContentAvailable: "aps.content-available is not 1: visible to Braze's SDK"
        case .noCampaign: "the payload names no campaign: an open of it cannot be attributed to one"

        case .validateOnly: "validate_only is true: FCM checks the message and sends nothing"
        case .forceStopped: "the app is force-stopped: Android runs no code of it until the user starts it"
        case .deletedMessages: "message_type is deleted_messages: FCM calls onDeletedMessages"
        case .sendEvent: "message_type is send_event: FCM calls onMessageSent"
        case .sendError: "message_type is send_error: FCM calls onSendError"
        case .unknownMessageType: "message_type is none that FCM knows: it logs that and drops the message"
        case .dataMessage:
            "the message has no notification block: FCM calls onMessageReceived, whatever the app is doing"
        case .notificationInForeground:
            "the app is in the foreground: FCM calls onMessageReceived although the message has a notification block"
        case .notificationSuppressed: "gcm.n.noui is set: FCM neither shows the notification nor calls the app"
        case .notificationInBackground:
            "the app is in the background and the message has a notification block: the system shows it, no code of the app runs"
        case .notificationWhileNotRunning:
            "the app is not running and the message has a notification block: the system shows it, no code of the app runs"
        case .notificationWhileLocked:
            "the screen is locked, which counts as background, and the message has a notification block: the system shows it, no code of the app runs"

        case .mutableContent:
            "aps has an alert and mutable-content is 1: iOS runs the notification service extension, whatever the app is doing"
        case .alertInForeground:
            "the app is in the foreground and aps has an alert, badge or sound: iOS calls willPresent"
        case .contentAvailable: "aps.content-available is 1: iOS wakes the app for didReceiveRemoteNotification"
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
            "aps has event or content-state: iOS changes the Live Activity itself, no code of the app runs"
        case .deviceManagement: "the payload has mdm: it is for the device's management, not for an app"

        case .notificationsDenied:
            "the user does not allow notifications: the system shows nothing, and no code of the app runs"

        case .serviceWorker: "the browser starts the service worker for every push"
        }
    }
}
