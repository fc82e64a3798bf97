/// The push platform of a payload. The raw values are the wire names.
public enum Platform: String, Sendable, CaseIterable {
    /// Messages come over FCM, Amazon Device Messaging or Huawei's push kit.
    case android
    /// Messages come over APNs.
    case ios
    /// Web push: a service worker.
    case web

    /// The transport of most payloads to the platform, unless a request or the payload's form says otherwise.
    public var usualTransport: Transport {
        switch self {
        case .android: .fcm
        case .ios: .apns
        case .web: .webPush
        }
    }

    /// The states that an app can be in on the platform.
    public var appStates: [AppState] {
        switch self {
        case .android: [.foreground, .background, .terminated, .forceStopped]
        case .ios: [.foreground, .background, .terminated, .forceQuit]
        case .web: [.foreground, .background, .terminated]
        }
    }

    /// Whether an interaction hands back the delivered payload. On the web it hands back the data of the notification,
    /// which the app's service worker made.
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

    /// The platform of the apps that it reaches.
    public var platform: Platform {
        switch self {
        case .fcm, .adm, .hms: .android
        case .apns: .ios
        case .webPush: .web
        }
    }
}

/// The urgency of a message to FCM. The raw values are those of FCM's intent extras.
public enum MessagePriority: String, Sendable, CaseIterable {
    case high, normal
}

/// The state of the app on the device when the payload came.
public enum AppState: String, Sendable, CaseIterable {
    /// Visible to the user.
    case foreground
    /// Running or runnable, not visible. The default.
    case background
    /// No process; the platform may start one.
    case terminated
    /// iOS: closed by the user in the app switcher; silent pushes no longer wake it.
    case forceQuit = "force_quit"
    /// Android: stopped in the settings; nothing wakes it.
    case forceStopped = "force_stopped"

    /// Whether the app's earlier process is gone, with its memory.
    public var endsProcess: Bool { self == .terminated || self == .forceQuit || self == .forceStopped }
}

/// Whether the app had an instance of the Braze SDK when the callback ran.
public enum SDKState: String, Sendable, CaseIterable {
    /// An instance exists. The default.
    case ready
    /// No instance: a callback that needs one loses the push.
    case missing = "nil"
    /// The app creates the instance later; push analytics wait for it.
    case delayed
}

/// Whether the user lets the app show notifications.
public enum NotificationPermission: String, Sendable, CaseIterable {
    /// Shown. The default.
    case allowed
    /// Not shown; data still arrives.
    case denied
}

/// The mode of the router: it acts as a device, or as a router in production.
public enum DispatchMode: String, Sendable, CaseIterable {
    /// Acts as the platform and the app: a lane is the platform's one thread, the deadline counts from the
    /// invocation, and nothing is retried.
    case device
    /// Routes in production: Braze goes to the tracker on acceptance, the deadline counts from acceptance, handlers
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

    /// Whether the callback runs in the app's own process, which has the SDK's instance; a service extension has its
    /// own process.
    public var needsAppInstance: Bool { self != .serviceExtension }

    /// Whether every SDK in the app must get the callback: every matching route gets it, instead of only the first.
    public var isBroadcast: Bool {
        switch self {
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .onDeletedMessages: true
        case .onMessageReceived, .onMessageSent, .onSendError, .didReceiveRemoteNotification, .willPresent,
            .didReceiveResponse, .serviceExtension, .push, .notificationclick, .notificationclose, .none:
            false
        }
    }
}

/// The end of an invocation: a closed set, and every invocation has exactly one.
public enum Outcome: String, Sendable, CaseIterable {
    /// The tracker took over a Braze payload.
    case handedToTracker = "handed_to_tracker"
    /// The handler reported success in time.
    case handled
    /// The handler ended in time, without success.
    case failed
    /// The handler had not finished at the deadline.
    case timedOut = "timed_out"
    /// The budget was gone before a handler could start.
    case expired
    /// No route matched, or every handler declined.
    case unrouted
    /// The platform's own list of recent ids dropped it.
    case duplicate
    /// The system shows the notification; no code of the app runs.
    case shownBySystem = "shown_by_system"
    /// A silent push to a force-quit iOS app, or any message to a force-stopped Android app.
    case notWoken = "not_woken"
    /// Accepted without a callback, for a stated reason.
    case swallowed
    /// The provider's own receiver gets it instead of the messaging service.
    case ownReceiver = "own_receiver"
    /// The app had no Braze instance when the callback ran: Braze's SDK misses the call.
    case sdkNotReady = "sdk_not_ready"

    /// The properties of an outcome, one bit each.
    private struct Traits: OptionSet {
        let rawValue: UInt16
        static let done = Self(rawValue: 1)
        static let timed = Self(rawValue: 1 << 1)
        static let due = Self(rawValue: 1 << 2)
        static let failure = Self(rawValue: 1 << 3)
        static let missed = Self(rawValue: 1 << 4)
        static let problem = Self(rawValue: 1 << 5)
        static let lost = Self(rawValue: 1 << 6)
        static let shown = Self(rawValue: 1 << 7)
        static let hidden = Self(rawValue: 1 << 8)
    }

    /// The properties of each outcome; no other code assigns them.
    private var traits: Traits {
        switch self {
        case .handedToTracker: [.done, .timed]
        case .handled: [.done, .timed, .due]
        case .failed: [.timed, .due, .failure, .problem]
        case .timedOut, .expired: [.timed, .due, .missed, .problem]
        case .unrouted: [.failure, .problem, .lost]
        case .duplicate: .hidden
        case .shownBySystem: [.shown, .problem]
        case .notWoken: [.hidden, .lost]
        case .swallowed: [.hidden, .problem]
        case .ownReceiver: .shown
        case .sdkNotReady: [.problem, .lost]
        }
    }

    /// Whether the work is done.
    public var isDone: Bool { traits.contains(.done) }
    /// Whether the times count: a handler was due, or the tracker ran. Other outcomes take no time, and would improve
    /// every quantile falsely.
    public var isTimed: Bool { traits.contains(.timed) }
    /// Whether a handler had to answer within the deadline.
    public var isDue: Bool { traits.contains(.due) }
    /// Whether the work ended in time, without success, for a reason that needs a person.
    public var isFailure: Bool { traits.contains(.failure) }
    /// Whether the deadline was missed.
    public var isMissed: Bool { traits.contains(.missed) }
    /// Whether, in `relay` mode, the work was not done, so that a person may want it done again.
    public var isDeadLetter: Bool { isFailure || isMissed }
    /// Whether a push that ends so may be a problem, for a person.
    public var mayBeProblem: Bool { traits.contains(.problem) }
    /// Whether the push is lost: the app does not get it, or no code of the app takes it.
    public var losesPush: Bool { traits.contains(.lost) }
    /// Whether a person may see it although no handler got it.
    public var mayBeShown: Bool { traits.contains(.shown) }
    /// Whether the push stays unseen by a rule of the platform.
    public var isHidden: Bool { traits.contains(.hidden) }

    /// The end of a call, behind "was" or "were", without the deadline.
    public var inWords: String {
        switch self {
        case .handedToTracker: "handed to Braze's SDK"
        case .unrouted: "taken by no handler"
        case .duplicate: "taken for a repeat, and dropped"
        case .shownBySystem: "shown by the system"
        case .notWoken: "kept from an app that does not run"
        case .swallowed: "taken in without a callback"
        case .ownReceiver: "taken by the receiver of another SDK"
        case .sdkNotReady: "lost, because no Braze instance was ready"
        case .timedOut: "timed out"
        case .handled, .failed, .expired: rawValue
        }
    }

    /// The place in a table of counts. The compiler reduces a switch over cases without values to their number.
    @inlinable public var place: Int {
        switch self {
        case .handedToTracker: 0
        case .handled: 1
        case .failed: 2
        case .timedOut: 3
        case .expired: 4
        case .unrouted: 5
        case .duplicate: 6
        case .shownBySystem: 7
        case .notWoken: 8
        case .swallowed: 9
        case .ownReceiver: 10
        case .sdkNotReady: 11
        }
    }
}

extension Callback {
    /// Whether a delivery may lead to this callback; the others belong to interactions and tokens.
    public var isOfDelivery: Bool {
        switch self {
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .didReceiveRemoteNotification,
            .willPresent, .serviceExtension, .push:
            true
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .didReceiveResponse, .notificationclick,
            .notificationclose, .none:
            false
        }
    }
}

/// The operations of `inject.sock`.
public enum Operation: String, Sendable, CaseIterable {
    case deliver, interact, session, token, log, topic, publish, device

    /// Whether a request leads to at least one invocation; otherwise it leads to none.
    public var hasInvocations: Bool {
        switch self {
        case .deliver, .interact, .token: true
        case .session, .log, .topic, .publish, .device: false
        }
    }

    /// The version of batches that introduced it.
    var since: Int {
        switch self {
        case .deliver, .interact, .session, .token, .log: 1
        case .topic, .publish, .device: 2
        }
    }
}

/// The argument that `didReceiveRemoteNotification` hands to its completion handler.
public enum FetchResult: String, Sendable, CaseIterable {
    case newData, noData, failed
}

/// A part of the presentation of a notification while its app is in the foreground, as `willPresent` answers. The raw
/// values are Apple's names in `UNNotificationPresentationOptions`.
public enum PresentationOption: String, Sendable, CaseIterable {
    /// The badge on the app's icon.
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

/// The rule by which reports group campaigns (T3). The raw values are the configuration's.
public enum CampaignIDRule: String, Sendable, CaseIterable {
    /// The id as the payload has it.
    case raw
    /// The id, and the campaign's own part of an id that is the base64 text of `campaign_$_...`.
    case decode
}
