/// The push platform that a payload is for. The raw values are the wire names.
public enum Platform: String, Sendable, CaseIterable {
    /// Messages come over FCM, Amazon Device Messaging or Huawei's push kit.
    case android
    /// Messages come over APNs.
    case ios
    /// Web push: a service worker.
    case web

    /// The transport of most payloads for it. A request or the payload's form may name another.
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

    /// Whether an interaction hands back the payload as it was delivered. On the web it hands back the `data` of the
    /// notification, which the service worker made.
    public var handsBackPayload: Bool {
        switch self {
        case .android, .ios: true
        case .web: false
        }
    }

    /// The name for people.
    public var name: String {
        switch self {
        case .android: "Android"
        case .ios: "iOS"
        case .web: "the web"
        }
    }
}

/// The service that brings a payload to the device. The raw values are the wire names.
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

/// The priority of a message in FCM. The raw values are those of its extras.
public enum MessagePriority: String, Sendable, CaseIterable {
    case high, normal
}

/// The state of the app on the device when the payload came.
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

    /// Whether the app's earlier process has ended, so that its memory is lost.
    public var endsProcess: Bool { self == .terminated || self == .forceQuit || self == .forceStopped }
}

/// Whether the app had an instance of the Braze SDK when the callback ran.
public enum SDKState: String, Sendable, CaseIterable {
    /// An instance exists. The default.
    case ready
    /// No instance exists: calls that need one are lost.
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

/// The system that the router stands in for.
public enum DispatchMode: String, Sendable, CaseIterable {
    /// The platform and the app: a lane is the platform's one thread, the deadline counts from the invocation, and no
    /// handler is retried.
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
    /// The platform calls no code of the app; the request still has one row.
    case none

    /// Whether it runs in the app's own process, which has the instance of an SDK; a service extension is a process of
    /// its own.
    public var needsAppInstance: Bool { self != .serviceExtension }

    /// Whether every SDK in the app must get it: it goes to all routes that match, instead of the first one.
    public var isBroadcast: Bool {
        switch self {
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .onDeletedMessages: true
        case .onMessageReceived, .onMessageSent, .onSendError, .didReceiveRemoteNotification, .willPresent,
            .didReceiveResponse, .serviceExtension, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}

/// The end of an invocation: a closed set. Every invocation ends in exactly one outcome.
public enum Outcome: String, Sendable, CaseIterable {
    /// The tracker took over a Braze payload.
    case handedToTracker = "handed_to_tracker"
    /// The handler ended in time and answered with success.
    case handled
    /// The handler ended in time, without success.
    case failed
    /// The handler was running at the deadline.
    case timedOut = "timed_out"
    /// The budget was gone before a handler could start.
    case expired
    /// No route matched, or every handler declined.
    case unrouted
    /// The platform dropped it, because its list of recent ids has the message id.
    case duplicate
    /// The system shows the notification, and no code of the app runs.
    case shownBySystem = "shown_by_system"
    /// A silent push to a force-quit iOS app, or any message to a force-stopped Android app.
    case notWoken = "not_woken"
    /// No callback follows; the reason says why.
    case swallowed
    /// The provider's own receiver gets it instead of the service.
    case ownReceiver = "own_receiver"
    /// The app had no Braze instance when the callback ran: Braze never sees the call.
    case sdkNotReady = "sdk_not_ready"

    /// Whether a handler had to answer within the deadline.
    public var isDue: Bool {
        switch self {
        case .handled, .failed, .timedOut, .expired: true
        case .handedToTracker, .unrouted, .duplicate, .shownBySystem, .notWoken, .swallowed, .ownReceiver,
            .sdkNotReady:
            false
        }
    }

    /// Whether the outcome makes a dead letter in `relay` mode: the work was not done, and a person may want it done
    /// again.
    public var isDeadLetter: Bool { isFailure || isMissed }

    /// Whether it ended in time without success, for a reason that needs a person's action.
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

    /// Whether requests of this operation have invocations: at least one, or none.
    public var hasInvocations: Bool {
        switch self {
        case .deliver, .interact, .token: true
        case .session, .log, .topic, .publish, .device: false
        }
    }
}

/// The argument of the completion handler of `didReceiveRemoteNotification`.
public enum FetchResult: String, Sendable, CaseIterable {
    case newData, noData, failed
}

/// A way to present a notification while its app is in the foreground, as the answer of `willPresent`. The raw values
/// are Apple's names in `UNNotificationPresentationOptions`.
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

/// The rule by which reports group campaigns (T3). The raw values are those of the configuration.
public enum CampaignIDRule: String, Sendable, CaseIterable {
    /// Groups by the id of the payload.
    case raw
    /// Groups by the id of the payload, and for ids that are the base64 of `campaign_$_...` by the campaign's part.
    case decode
}
