import PushModel

// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.handleIntent, passMessageIntentToSdk and
// dispatchMessage, DisplayNotification.handleNotification; for ADM, BrazePushReceiver of braze-android-sdk 43.0.0.

extension AndroidPayload {
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        if delivery.state == .forceStopped {
            reasons.append(.forceStopped)
            return .decided(.notWoken)
        }
        let (reason, fate): (Reason, Fate) =
            switch action {
            case .message:
                switch transport {
                case .hms: huaweiFate(of: delivery)
                // APNs and web push carry no message to Android.
                case .fcm, .adm, .apns, .webPush: messageFate(of: delivery)
                }
            case .amazonMessage: (.amazonMessage, .callbacks([.onMessageReceived]))
            case .newToken(let token): (.newToken(token), .callbacks([.onNewToken]))
            case .registered(let id): (.registered(id), .callbacks([.onRegistered]))
            case .unregistered(let id): (.unregistered(id), .callbacks([.onUnregistered]))
            case .amazonRefusal(let error): (.amazonRefusal(error), .decided(.swallowed))
            case .notificationEvent: (.notificationEvent, .decided(.swallowed))
            case .unknown(let action): (.unknownAction(action), .decided(.swallowed))
            }
        reasons.append(reason)
        if let (kind, _) = markedKind, let reason = brazeConsequence(of: fate, kind, delivery) {
            reasons.append(reason)
        }
        return fate
    }

    /// `passMessageIntentToSdk`. A `RemoteMessage` or its data needs no check of the type.
    private func messageFate(of delivery: Delivery) -> (Reason, Fate) {
        guard case .intent(let extras) = form else { return dispatchFate(of: delivery) }
        guard let type = extras.member("message_type")?.string, type != "gcm" else { return dispatchFate(of: delivery) }
        let id = extras.member("google.message_id")?.string
        switch type {
        case "deleted_messages": return (.deletedMessages, .callbacks([.onDeletedMessages]))
        case "send_event": return (.sendEvent(id: id), .callbacks([.onMessageSent]))
        case "send_error":
            let failed = id ?? extras.member("message_id")?.string
            return (.sendError(id: failed, error: extras.member("error")?.string), .callbacks([.onSendError]))
        default: return (.unknownMessageType(type), .decided(.swallowed))
        }
    }

    /// Source: HMS-Core/hms-push-clientdemo-android#1 and #7, HMS-Core/hms-flutter-plugin#50: the push kit itself shows
    /// a notification message. It calls the app for a data message, and in the foreground for a notification message
    /// with `foreground_show` false. Low confidence: from reports, not from the SDK's code.
    private func huaweiFate(of delivery: Delivery) -> (Reason, Fate) {
        guard notification != .absent else { return (.huaweiMessage, .callbacks([.onMessageReceived])) }
        if delivery.isInForeground, isLeftToAppInForeground {
            return (.huaweiNotificationInForeground, .callbacks([.onMessageReceived]))
        }
        guard delivery.notifications == .allowed else { return (.notificationsDenied, .decided(.swallowed)) }
        return (.huaweiNotification, .decided(.shownBySystem))
    }

    /// Follows `dispatchMessage`.
    private func dispatchFate(of delivery: Delivery) -> (Reason, Fate) {
        switch notification {
        case .absent: (.dataMessage, .callbacks([.onMessageReceived]))
        case .suppressed: (.notificationSuppressed, .decided(.swallowed))
        case .shown where delivery.isInForeground: (.notificationInForeground, .callbacks([.onMessageReceived]))
        case .shown where delivery.notifications == .denied: (.notificationsDenied, .decided(.swallowed))
        case .shown:
            switch delivery.state {
            case .foreground: (.notificationWhileLocked, .decided(.shownBySystem))
            case .background: (.notificationInBackground, .decided(.shownBySystem))
            case .terminated, .forceQuit, .forceStopped: (.notificationWhileNotRunning, .decided(.shownBySystem))
            }
        }
    }

    /// Returns the further consequence for a Braze payload with this fate.
    private func brazeConsequence(of fate: Fate, _ kind: BrazeFacts.Kind, _ delivery: Delivery) -> Reason? {
        guard fate.outcome == nil else { return fate.outcome == .shownBySystem ? .brazeLost : nil }
        guard kind == .visible || kind == .silent else { return nil }
        if isTestInAppMessage, delivery.isInForeground { return .brazeTestInAppMessage }
        return kind == .visible && isStoryOnAmazon ? .brazeStoryOnAmazon : nil
    }
}

extension Delivery {
    /// Whether the app is visible to the user (FCM: `DisplayNotification.isAppForeground`), and not behind a locked
    /// screen.
    fileprivate var isInForeground: Bool { state == .foreground && !locked }
}

// Source: Apple's documentation of application(_:didReceiveRemoteNotification:fetchCompletionHandler:),
// userNotificationCenter(_:willPresent:), UNNotificationServiceExtension and
// UNNotificationSettings.authorizationStatus.
//
// The documentation gives two conditions for the extension: an alert and mutable-content. It does not say that the
// extension also runs in the foreground, as people observe (invertase/notifee#138, #126), so that is a setting. If the
// user denies notifications, "the system doesn't deliver notifications to your app", so iOS does not call willPresent
// either. The order of willPresent and didReceiveRemoteNotification is UNVERIFIED.

extension ApplePayload {
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        let isAllowed = delivery.notifications == .allowed
        let isForeground = delivery.state == .foreground
        // Source: Apple, WidgetKit, "Updating widgets with WidgetKit push notifications": aps has content-changed alone.
        let isForWidgets = aps?.member("content-changed") != nil && !hasUserFacingContent && !isContentAvailable
        if let type = pushType ?? (isForWidgets ? .widgets : nil), type.isForOtherCode {
            reasons.append(.otherCode(type))
            return .decided(.swallowed)
        }
        if let reason = ofTheSystem {
            reasons.append(reason)
            return .decided(hasAlert && isAllowed ? .shownBySystem : .swallowed)
        }
        var callbacks: [Callback] = []
        if isMutable, hasAlert, isAllowed {
            if isForeground, !settings.runsServiceExtensionInForeground {
                reasons.append(.mutableContentInForeground)
            } else {
                reasons.append(.mutableContent)
                callbacks.append(.serviceExtension)
            }
        }
        if isForeground, hasUserFacingContent, isAllowed {
            reasons.append(.alertInForeground)
            callbacks.append(.willPresent)
        }
        if isContentAvailable {
            if hasUserFacingContent, !isAllowed { reasons.append(.alertDenied) }
            let reason = wakingReason(delivery.state)
            reasons.append(reason)
            if reason != .contentAvailableAfterForceQuit { callbacks.append(.didReceiveRemoteNotification) }
            if callbacks.contains(.willPresent) { reasons.append(.orderOfCallbacksUnknown) }
        }
        let isShown = hasUserFacingContent && isAllowed && !isForeground
        guard callbacks.isEmpty else {
            if isShown { reasons.append(.alertShownToo) }
            return .callbacks(callbacks)
        }
        if isShown {
            reasons.append(.alertShownBySystem)
            return .decided(.shownBySystem)
        }
        if isContentAvailable { return .decided(.notWoken) }
        reasons.append(hasUserFacingContent ? .notificationsDenied : .nothingForTheApp)
        return .decided(.swallowed)
    }

    /// The reason of a push that iOS handles itself, in any state of the app.
    private var ofTheSystem: Reason? {
        if isForDeviceManagement { return .deviceManagement }
        return isForLiveActivity ? .liveActivity : nil
    }

    private func wakingReason(_ state: AppState) -> Reason {
        switch state {
        case .foreground, .background: .contentAvailable
        case .terminated: .contentAvailableLaunches
        case .forceQuit, .forceStopped: .contentAvailableAfterForceQuit
        }
    }
}

extension WebPayload {
    /// The browser starts the service worker for every push, in any state of the page. Some browsers show a declarative
    /// web push without the worker; the result is that of the browsers that start it.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        if hasFCMNotification { reasons.append(.webNotification) }
        reasons.append(isDeclarative ? .declarativeWebPush(isMutable: isMutable) : .serviceWorker)
        return .callbacks([.push])
    }
}

/// The facts about the device in a delivery, for the warnings.
struct Circumstances: Sendable {
    let platform: Platform
    let state: AppState
    let locked: Bool
    let sdk: SDKState

    init(_ delivery: Delivery) {
        platform = delivery.platform
        state = delivery.state
        locked = delivery.locked
        sdk = delivery.sdk
    }

    /// A warning if apps of the platform are never in this state.
    var stateWarnings: [Warning] { platform.appStates.contains(state) ? [] : [.stateOfAnotherPlatform(state)] }

    /// Returns the warnings that depend on the payload only by whether it is Braze's.
    func warnings(isBraze: Bool) -> [Warning] {
        var warnings: [Warning] = []
        // A locked screen counts as background on Android, and only an iOS app may lack its Braze instance.
        let (lockMatters, appMayLackSDK) =
            switch platform {
            case .android: (true, false)
            case .ios: (false, true)
            case .web: (false, false)
            }
        if locked, !lockMatters { warnings.append(.lockedHasNoEffect(platform)) }
        let sdkMatters = appMayLackSDK && isBraze
        switch sdk {
        case .ready: break
        case .missing: warnings.append(sdkMatters ? .sdkMissing : .sdkHasNoEffect(platform))
        case .delayed: warnings.append(sdkMatters ? .sdkDelayed : .sdkHasNoEffect(platform))
        }
        return warnings
    }
}

// Source: Apple's documentation of PushKit (PKPushRegistryDelegate), Push to Talk (PTChannelManagerDelegate), Core Location
// (CLLocationPushServiceExtension), File Provider (NSFileProviderManager) and WidgetKit.

extension APNsPushType {
    /// Whether code other than the app delegate and the notification delegate receives pushes of this type.
    var isForOtherCode: Bool {
        switch self {
        // The delegates receive the first two; the other two have reasons of their own.
        case .alert, .background, .liveactivity, .mdm: false
        case .voip, .complication, .pushtotalk, .location, .fileprovider, .controls, .widgets: true
        }
    }

    /// The receiver of pushes of this type, for people.
    var receiver: String {
        switch self {
        case .voip:
            "apns-push-type is voip: PushKit calls pushRegistry(_:didReceiveIncomingPushWith:), which must report a call; the notification delegate is not called"
        case .complication:
            "apns-push-type is complication: PushKit calls pushRegistry(_:didReceiveIncomingPushWith:) of the watch app; the notification delegate is not called"
        case .pushtotalk:
            "apns-push-type is pushtotalk: iOS calls incomingPushResult(channelManager:channelUUID:pushPayload:) of the PTChannelManagerDelegate; the notification delegate is not called"
        case .location:
            "apns-push-type is location: iOS runs the app's CLLocationPushServiceExtension; the notification delegate is not called"
        case .fileprovider:
            "apns-push-type is fileprovider: iOS signals the app's File Provider extension; the notification delegate is not called"
        case .controls, .widgets:
            "apns-push-type is \(rawValue), or aps has content-changed alone: WidgetKit loads the timelines or controls anew; the notification delegate is not called"
        case .alert, .background, .liveactivity, .mdm:
            "apns-push-type is \(rawValue)"
        }
    }

    /// The reason code of this type.
    var code: ReasonCode {
        switch self {
        case .voip, .complication: .pushKit
        case .pushtotalk: .pushToTalk
        case .location: .locationExtension
        case .fileprovider: .fileProvider
        case .controls, .widgets: .widgetsAndControls
        case .liveactivity: .liveActivity
        case .mdm: .deviceManagement
        case .alert: .alertShownBySystem
        case .background: .contentAvailable
        }
    }
}
