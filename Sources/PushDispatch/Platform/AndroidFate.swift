import PushModel

// Source: firebase-android-sdk a089298ed9, FirebaseMessagingService.passMessageIntentToSdk and dispatchMessage,
// DisplayNotification.handleNotification.

extension AndroidPayload {
    func fate(of delivery: Delivery, because reasons: inout [Reason]) -> Fate {
        if delivery.state == .forceStopped {
            reasons.append(.forceStopped)
            return .decided(.notWoken)
        }
        switch messageType {
        case nil, "gcm":
            return messageFate(of: delivery, because: &reasons)
        case "deleted_messages":
            reasons.append(.deletedMessages)
            return .callbacks([.onDeletedMessages])
        case "send_event":
            reasons.append(.sendEvent)
            return .callbacks([.onMessageSent])
        case "send_error":
            reasons.append(.sendError)
            return .callbacks([.onSendError])
        case .some:
            reasons.append(.unknownMessageType)
            return .decided(.swallowed)
        }
    }

    private func messageFate(of delivery: Delivery, because reasons: inout [Reason]) -> Fate {
        switch notification {
        case .absent:
            reasons.append(.dataMessage)
            return .callbacks([.onMessageReceived])
        case .suppressed:
            reasons.append(.notificationSuppressed)
            return .decided(.swallowed)
        case .shown where delivery.state == .foreground && !delivery.locked:
            reasons.append(.notificationInForeground)
            return .callbacks([.onMessageReceived])
        case .shown where delivery.notifications == .denied:
            reasons.append(.notificationsDenied)
            return .decided(.swallowed)
        case .shown:
            let reason: Reason =
                switch delivery.state {
                case .foreground: .notificationWhileLocked
                case .background: .notificationInBackground
                case .terminated, .forceQuit, .forceStopped: .notificationWhileNotRunning
                }
            reasons.append(reason)
            return .decided(.shownBySystem)
        }
    }
}
