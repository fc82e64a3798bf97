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
