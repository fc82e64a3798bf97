/// Whose push platform a payload is for. The raw values are the wire names.
public enum Platform: String, Sendable, CaseIterable {
    /// Messages come over FCM, Amazon Device Messaging or Huawei's push kit.
    case android
    /// Messages come over APNs.
    case ios
    /// Web push: a service worker.
    case web

    /// What brings most payloads to it, unless a request or the payload's form says otherwise.
    public var usualTransport: Transport {
        switch self {
        case .android: .fcm
        case .ios: .apns
        case .web: .webPush
        }
    }

    /// The states that an app of it may be in.
    public var appStates: [AppState] {
        switch self {
        case .android: [.foreground, .background, .terminated, .forceStopped]
        case .ios: [.foreground, .background, .terminated, .forceQuit]
        case .web: [.foreground, .background, .terminated]
        }
    }

    /// Whether an interaction hands back the payload as it was delivered. On the web it hands back the data of the notification,
    /// which its service worker made.
    public var handsBackPayload: Bool {
        switch self {
        case .android, .ios: true
        case .web: false
        }
    }

    /// As people write it.
    public var name: String {
        switch self {
        case .android: "Android"
        case .ios: "iOS"
        case .web: "the web"
        }
    }
}

/// What brings a payload to the device. The raw values are the wire names.
public enum Transport: String, Sendable, CaseIterable {
    /// Firebase Cloud Messaging.
    case fcm
    /// Amazon Device Messaging.
    case adm
    /// The push kit of Huawei Mobile Services.
    case hms
    /// The Apple Push Notification service.
    case apns
    /// A browser's push service.
    case webPush = "web_push"

    /// The platform whose apps it reaches.
    public var platform: Platform {
        switch self {
        case .fcm, .adm, .hms: .android
        case .apns: .ios
        case .webPush: .web
        }
    }
}

/// How urgent FCM takes a message for. The raw values are those of its extras.
public enum MessagePriority: String, Sendable, CaseIterable {
    case high, normal
}

/// What the app on the device was doing when the payload came.
public enum AppState: String, Sendable, CaseIterable {
    /// In front of the user.
    case foreground
    /// Running or runnable, not in front. The default.
    case background
    /// No process; the platform may start one.
    case terminated
    /// iOS: closed by the user in the app switcher; silent pushes no longer wake it.
    case forceQuit = "force_quit"
    /// Android: stopped in the settings; nothing wakes it.
    case forceStopped = "force_stopped"

    /// Whether the app's process of before is gone, and with it what it remembered.
    public var endsProcess: Bool { self == .terminated || self == .forceQuit || self == .forceStopped }
}

/// Whether the app had an instance of the Braze SDK when the callback ran.
public enum SDKState: String, Sendable, CaseIterable {
    /// An instance exists. The default.
    case ready
    /// No instance: what needs one is lost.
    case missing = "nil"
    /// The instance comes later; push analytics wait for it.
    case delayed
}

/// Whether the user lets the app show notifications.
public enum NotificationPermission: String, Sendable, CaseIterable {
    /// Shown. The default.
    case allowed
    /// Not shown; data still arrives.
    case denied
}

/// In whose place the router stands.
public enum DispatchMode: String, Sendable, CaseIterable {
    /// Does what the platform and the app would do: a lane is the platform's one thread, the deadline counts from the
    /// invocation, nothing is retried.
    case device
    /// A router in production: Braze goes to the tracker on acceptance, the deadline counts from acceptance, handlers
    /// may be retried within it.
    case relay
}

/// The platform callback that an invocation stands for.
public enum Callback: String, Sendable, CaseIterable {
    case onMessageReceived, onDeletedMessages, onMessageSent, onSendError, onNewToken, onRegistered, onUnregistered
    case didReceiveRemoteNotification, willPresent, didReceiveResponse, serviceExtension, didRegister
    case push, notificationclick, notificationclose
    /// No code of the app runs; the request still has one row.
    case none

    /// Whether it runs in the app's own process, where an SDK's instance is; a service extension is a process of its own.
    public var needsAppInstance: Bool { self != .serviceExtension }

    /// Whether every SDK in the app must hear it: it goes to every route that matches, not only to the first.
    public var isBroadcast: Bool {
        switch self {
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .onDeletedMessages: true
        case .onMessageReceived, .onMessageSent, .onSendError, .didReceiveRemoteNotification, .willPresent,
            .didReceiveResponse, .serviceExtension, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}

/// How an invocation ended: a closed set, and every invocation ends in exactly one.
public enum Outcome: String, Sendable, CaseIterable {
    /// A Braze payload, taken over by the tracker.
    case handedToTracker = "handed_to_tracker"
    /// The handler was done in time and said so.
    case handled
    /// The handler was done in time, without success.
    case failed
    /// Not finished at the deadline.
    case timedOut = "timed_out"
    /// The budget was gone before a handler could start.
    case expired
    /// No route matched, or every handler declined.
    case unrouted
    /// The platform's own list of recent ids drops it.
    case duplicate
    /// The system shows it; no code of the app runs.
    case shownBySystem = "shown_by_system"
    /// A silent push to a force-quit iOS app, anything to a force-stopped Android app.
    case notWoken = "not_woken"
    /// Taken in without a callback, with the reason.
    case swallowed
    /// The provider's own receiver has it, not the service.
    case ownReceiver = "own_receiver"
    /// The app had no Braze instance when the callback ran: Braze never sees the call.
    case sdkNotReady = "sdk_not_ready"

    /// Whether a handler was owed an answer within the deadline.
    public var isDue: Bool {
        switch self {
        case .handled, .failed, .timedOut, .expired: true
        case .handedToTracker, .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed, .ownReceiver,
            .sdkNotReady:
            false
        }
    }

    /// Whether, in `relay` mode, the work was not done and a person may want it done again.
    public var isDeadLetter: Bool { isFailure || isMissed }

    /// Whether it ended in time, without success, for a reason that a person has to see to.
    public var isFailure: Bool {
        switch self {
        case .failed, .unrouted: true
        case .handedToTracker, .handled, .timedOut, .expired, .duplicate, .shownBySystem, .notWoken, .swallowed,
            .ownReceiver, .sdkNotReady:
            false
        }
    }

    /// Whether the deadline was missed.
    public var isMissed: Bool {
        switch self {
        case .timedOut, .expired: true
        case .handedToTracker, .handled, .failed, .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed,
            .ownReceiver, .sdkNotReady:
            false
        }
    }
}

/// The operations of `inject.sock`.
public enum Operation: String, Sendable, CaseIterable {
    case deliver, interact, session, token, log, topic, publish, device

    /// Whether a request leads to invocations: to at least one, or to none.
    public var hasInvocations: Bool {
        switch self {
        case .deliver, .interact, .token: true
        case .session, .log, .topic, .publish, .device: false
        }
    }
}

/// What `didReceiveRemoteNotification` hands to its completion handler.
public enum FetchResult: String, Sendable, CaseIterable {
    case newData, noData, failed
}

/// How a notification is presented while its app is in the foreground: what `willPresent` answers. The raw values are
/// Apple's names in `UNNotificationPresentationOptions`.
public enum PresentationOption: String, Sendable, CaseIterable {
    /// The number on the app's icon.
    case badge
    /// The sound.
    case sound
    /// Banner and list; deprecated since iOS 14.
    case alert
    /// In the notification center; since iOS 14.
    case list
    /// At the top of the screen; since iOS 14.
    case banner
}

/// How reports group campaigns (T3). The raw values are the configuration's.
public enum CampaignIDRule: String, Sendable, CaseIterable {
    /// By the id as the payload has it.
    case raw
    /// By the campaign's own part of ids that are the base64 of `campaign_$_...`, as well.
    case decode
}
