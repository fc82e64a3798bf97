public import PushModel

/// A limit of the platform or of a provider's policy, against which a report checks the ledger's times.
///
/// The router kills a handler at its own deadline. A row over one of the longer limits therefore waited for its turn
/// behind others: head-of-line blocking, which a report on handlers alone cannot show.
public struct PlatformLimit: Hashable, Sendable {
    /// The event from which a limit counts.
    public enum Start: String, Sendable {
        /// The call of the callback, after the wait in the lane.
        case invocation
        /// The arrival of the message, before the wait in the lane.
        case acceptance
    }

    /// Its stable name.
    public let id: String
    /// Its name for people.
    public let title: String
    /// The time limit.
    public let limit: Duration
    /// The platform to which it applies.
    public let platform: Platform
    /// The callback to which it applies.
    public let callback: Callback
    /// The transport whose code has the limit; `nil`: any. A row without a transport counts as FCM's.
    public let transport: Transport?
    /// The delivered priority to which it applies; `nil`: any. A row without a priority counts as `normal`.
    public let priority: MessagePriority?
    /// The event from which it counts.
    public let start: Start
    /// The source of the limit.
    public let source: String
    /// The consequence of exceeding it, for people.
    public let consequence: String

    private init(
        id: String, title: String, limit: Duration, platform: Platform, callback: Callback,
        transport: Transport? = nil, priority: MessagePriority? = nil, start: Start, source: String,
        consequence: String
    ) {
        self.id = id
        self.title = title
        self.limit = limit
        self.platform = platform
        self.callback = callback
        self.transport = transport
        self.priority = priority
        self.start = start
        self.source = source
        self.consequence = consequence
    }

    /// All limits, in the order of a report.
    public static let all = [
        PlatformLimit(
            id: "android_policy", title: "Braze's policy", limit: .seconds(9), platform: .android,
            callback: .onMessageReceived, start: .invocation,
            source: "Braze developer guide, logging push data: finish within 9 seconds of invocation",
            consequence: "Android may flag or end the app: Braze's guide warns of it"),
        PlatformLimit(
            id: "android_broadcast", title: "foreground broadcast", limit: .seconds(10), platform: .android,
            callback: .onMessageReceived, transport: .fcm, priority: .high, start: .acceptance,
            source: "AOSP ActivityManagerService, BROADCAST_FG_TIMEOUT: ANR after 10 seconds",
            consequence: "Android reports that the app does not respond (ANR), if the broadcast is still open"),
        PlatformLimit(
            id: "android_fcm", title: "FCM service", limit: .seconds(20), platform: .android,
            callback: .onMessageReceived, transport: .fcm, priority: .normal, start: .acceptance,
            source:
                "firebase-android-sdk, EnhancedIntentService.MESSAGE_TIMEOUT_S: no longer protected after 20 seconds",
            consequence: "the work is no longer protected: Android may end the process at any time"),
        PlatformLimit(
            id: "android_broadcast_background", title: "background broadcast", limit: .seconds(60), platform: .android,
            callback: .onMessageReceived, transport: .fcm, priority: .normal, start: .acceptance,
            source: "AOSP ActivityManagerService, BROADCAST_BG_TIMEOUT: ANR after 60 seconds",
            consequence: "Android reports that the app does not respond (ANR), if the broadcast is still open"),
        PlatformLimit(
            id: "android_fcm_high", title: "FCM wake lock", limit: .seconds(60), platform: .android,
            callback: .onMessageReceived, transport: .fcm, priority: .high, start: .acceptance,
            source:
                "firebase-android-sdk, WakeLockHolder.WAKE_LOCK_ACQUIRE_TIMEOUT_MILLIS: the lock goes after 60 seconds",
            consequence: "the wake lock is released, and the device may sleep before the work is done"),
        PlatformLimit(
            id: "ios_background", title: "background fetch", limit: .seconds(30), platform: .ios,
            callback: .didReceiveRemoteNotification, start: .invocation,
            source:
                "Apple, application(_:didReceiveRemoteNotification:fetchCompletionHandler:): 30 seconds of wall clock",
            consequence: "iOS may end the app, and wakes it less often"),
        PlatformLimit(
            id: "ios_service_extension", title: "service extension", limit: .seconds(30), platform: .ios,
            callback: .serviceExtension, start: .invocation,
            source: "Apple developer forums: about 30 seconds observed, not documented",
            consequence: "iOS shows the notification with its original content"),
    ]

    /// Returns whether the limit applies to a row: by platform, callback, transport and priority, if a handler was due
    /// or the tracker ran.
    func applies(to row: ReportRow) -> Bool {
        row.platform == platform && row.invocation.callback == callback
            && (transport == nil || transport == row.transport ?? .fcm)
            && (priority == nil || priority == row.deliveredPriority ?? .normal)
            && row.invocation.result?.outcome.isTimed == true
    }

    /// Returns whether the row exceeded the limit. A time equal to the limit exceeds it, as at a deadline.
    func isExceeded(by row: ReportRow) -> Bool {
        guard let result = row.invocation.result else { return false }
        return switch start {
        case .acceptance: result.total >= limit
        case .invocation: Self.sinceInvocation(row, result) >= limit
        }
    }

    /// Returns the time from the call of the callback to the end.
    static func sinceInvocation(_ row: ReportRow, _ result: InvocationResult) -> Duration {
        .microseconds(
            DecidedTimes(row.invocation, result).sinceInvocation(
                mode: row.mode, platform: row.platform, outcome: result.outcome))
    }

    /// Returns whether the limit applies to the invocations of a key.
    func applies(to key: FigureKey) -> Bool {
        key.platform == platform && key.callback == callback && (transport == nil || transport == key.transport ?? .fcm)
            && (priority == nil || priority == key.deliveredPriority ?? .normal) && key.outcome.isTimed
    }

    /// Returns the number of invocations that exceeded the limit. Figures have only the limits of ``FigureThresholds``.
    func exceeded(by figures: KeyFigures) -> Int {
        guard let place = FigureThresholds.all.firstIndex(of: limit.microseconds) else {
            preconditionFailure("the ledger's figures do not count what is over \(limit): add it to FigureThresholds")
        }
        return switch start {
        case .acceptance: figures.overFromAcceptance[place]
        case .invocation: figures.overFromInvocation[place]
        }
    }
}

extension DecidedTimes {
    init(_ invocation: InvocationRecord, _ result: InvocationResult) {
        self.init(
            budget: invocation.budget.microseconds, queue: result.queue.microseconds, exec: result.exec.microseconds,
            total: result.total.microseconds)
    }
}

/// A limit with the numbers of rows within and over it.
public struct LimitTally: Hashable, Sendable {
    /// The limit.
    public let limit: PlatformLimit
    /// The rows that ended before the limit.
    public private(set) var within = 0
    /// The rows that exceeded the limit.
    public private(set) var over = 0

    init(_ limit: PlatformLimit) { self.limit = limit }

    mutating func add(_ row: ReportRow) {
        guard limit.applies(to: row) else { return }
        if limit.isExceeded(by: row) { over += 1 } else { within += 1 }
    }

    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        guard limit.applies(to: key) else { return }
        let exceeded = limit.exceeded(by: figures)
        over += exceeded
        within += figures.count - exceeded
    }
}
