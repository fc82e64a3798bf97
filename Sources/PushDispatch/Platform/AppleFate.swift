import PushModel

// Source: Apple's documentation of application(_:didReceiveRemoteNotification:fetchCompletionHandler:),
// userNotificationCenter(_:willPresent:) and UNNotificationServiceExtension. In which order iOS calls when several
// apply is UNVERIFIED.

extension ApplePayload {
    func fate(of delivery: Delivery, because reasons: inout [Reason]) -> Fate {
        let isForeground = delivery.state == .foreground
        let isForceQuit = delivery.state == .forceQuit || delivery.state == .forceStopped
        let isAllowed = delivery.notifications == .allowed
        var callbacks: [Callback] = []
        if isMutable, hasAlert, isAllowed, !isForeground {
            reasons.append(.mutableContent)
            callbacks.append(.serviceExtension)
        }
        if isForeground, hasUserFacingContent {
            reasons.append(.alertInForeground)
            callbacks.append(.willPresent)
        }
        if isContentAvailable {
            reasons.append(isForceQuit ? .contentAvailableAfterForceQuit : .contentAvailable)
            if !isForceQuit { callbacks.append(.didReceiveRemoteNotification) }
        }
        guard callbacks.isEmpty else { return .callbacks(callbacks) }

        if hasUserFacingContent, isAllowed {
            reasons.append(.alertShownBySystem)
            return .decided(.shownBySystem)
        }
        if isContentAvailable { return .decided(.notWoken) }
        reasons.append(hasUserFacingContent ? .notificationsDenied : .nothingForTheApp)
        return .decided(.swallowed)
    }
}
