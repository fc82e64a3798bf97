import PushModel

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
        if let type = pushType, type.isForOtherCode {
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
