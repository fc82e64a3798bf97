/// One step of a decision, for people who know Android and iOS. The text is made when asked for.
public enum Reason: Hashable, Sendable, CustomStringConvertible {
    // Whose it is.
    case owner(ProviderMatch)
    // Why it is not Braze's: Android, iOS, web, a rule of the user's.
    case noBrazeMarker, brazeMarkerIsNotTrue
    case noBrazeObject, brazeObjectIsNone, brazeObjectIsEmpty
    case noBrazeWebKey
    case otherBrazeRule
    // What the owner's SDK makes of it, whatever the platform calls.
    case uninstallProbe(title: String)
    case ownReceiver(title: String)
    // What Braze's SDK makes of it.
    case brazeAppleUninstallTracking, brazeDeletedMessages, brazeUninstallTracking, brazeUninstallTrackingInExtra
    case brazeTitleAndContent, brazeWithoutTitleOrContent
    case brazeContentAvailable, brazeWithoutContentAvailable
    case noCampaign
    // What FCM and Android do.
    case validateOnly, forceStopped
    case deletedMessages, sendEvent, sendError, unknownMessageType
    case dataMessage, notificationInForeground, notificationSuppressed
    case notificationInBackground, notificationWhileNotRunning, notificationWhileLocked
    // What iOS does.
    case mutableContent, alertInForeground, contentAvailable, contentAvailableAfterForceQuit
    case alertShownToo, alertShownBySystem, nothingForTheApp
    // What either does.
    case notificationsDenied
    // What a browser does.
    case serviceWorker

    public var description: String {
        switch self {
        case .owner(let match): match.description
        case .noBrazeMarker: "data has no key _ab: the payload is not Braze's"
        case .brazeMarkerIsNotTrue:
            #"data._ab is not the string "true", compared exactly: the payload is not Braze's"#

        case .noBrazeObject: "userInfo has no key ab at its top level: the payload is not Braze's"
        case .brazeObjectIsNone: "userInfo.ab is not an object: the payload is not Braze's"
        case .brazeObjectIsEmpty: "userInfo.ab is empty: the payload is not Braze's"

        case .noBrazeWebKey: "the payload has neither a string cid nor a key that begins with ab_: it is not Braze's"

        case .otherBrazeRule: "the configured rule of Braze does not match: the payload is not Braze's"

        case .uninstallProbe(let title):
            "\(title)'s SDK only tests whether the app is installed: there is nothing for a handler to do"
        case .ownReceiver(let title):
            "\(title)'s SDK has a receiver of its own, which takes the message: the app's service is not asked to handle it"

        case .brazeAppleUninstallTracking:
            "userInfo.appboy_uninstall_tracking is true: Braze's test whether the app is still installed, with or without ab"
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

        case .mutableContent: "aps has an alert and mutable-content is 1: iOS runs the notification service extension"
        case .alertInForeground:
            "the app is in the foreground and aps has an alert, badge or sound: iOS calls willPresent"
        case .contentAvailable: "aps.content-available is 1: iOS wakes the app for didReceiveRemoteNotification"
        case .contentAvailableAfterForceQuit:
            "aps.content-available is 1, but the user has force-quit the app: iOS does not wake it"
        case .alertShownToo: "the app is not in the foreground: iOS shows the alert, badge or sound itself as well"
        case .alertShownBySystem:
            "the app is not in the foreground: iOS shows the alert, badge or sound itself, no code of the app runs"
        case .nothingForTheApp:
            "aps has neither an alert, badge or sound to show nor content-available: iOS shows nothing and wakes nothing"

        case .notificationsDenied:
            "the user does not allow notifications: the system shows nothing, and no code of the app runs"

        case .serviceWorker: "the browser starts the service worker for every push"
        }
    }
}
