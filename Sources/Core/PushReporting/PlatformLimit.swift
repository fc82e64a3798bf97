import PushFigures
public import PushModel

/// A limit of the platform or of a provider's policy, beside which the ledger's times are held.
///
/// The router kills a handler at its own deadline, so what is over one of the longer limits waited for its turn
/// behind others: head-of-line blocking, which a report on handlers alone cannot show.
public struct PlatformLimit: Hashable, Sendable {
    /// Where a limit begins to count.
    public enum Start: String, Sendable {
        /// The call of the callback: after the wait in the lane.
        case invocation
        /// The arrival of the message: with the wait in the lane.
        case acceptance
    }

    /// Its name, stable.
    public let id: String
    /// What it is, for people.
    public let title: String
    /// How long.
    public let limit: Duration
    /// Where it applies.
    public let platform: Platform
    /// Where it applies.
    public let callback: Callback
    /// The transport whose code has the limit; `nil`: any of the platform's. A row that names none counts as FCM's.
    public let transport: Transport?
    /// The priority, as delivered, to which it applies; `nil`: any. A row that names none counts as `normal`.
    public let priority: MessagePriority?
    /// From when it counts.
    public let start: Start
    /// Who says so.
    public let source: String
    /// What happens past it, for people.
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

    /// All of them, in the order of a report.
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

    /// Whether it applies to the row: its platform, callback, transport and priority, and a handler was due or the
    /// tracker ran.
    func applies(to row: ReportRow) -> Bool {
        row.platform == platform && row.invocation.callback == callback
            && (transport == nil || transport == row.transport ?? .fcm)
            && (priority == nil || priority == row.deliveredPriority ?? .normal)
            && row.invocation.result?.outcome.isTimed == true
    }

    /// Whether the row was over it. At the very instant of the limit is over, as at a deadline.
    func isExceeded(by row: ReportRow) -> Bool {
        guard let result = row.invocation.result else { return false }
        return switch start {
        case .acceptance: result.total >= limit
        case .invocation: Self.sinceInvocation(row, result) >= limit
        }
    }

    /// The time from the call of the callback to the end.
    static func sinceInvocation(_ row: ReportRow, _ result: InvocationResult) -> Duration {
        .microseconds(
            DecidedTimes(row.invocation, result).sinceInvocation(
                mode: row.mode, platform: row.platform, outcome: result.outcome))
    }

    /// Whether it applies to the invocations of a key.
    func applies(to key: FigureKey) -> Bool {
        key.platform == platform && key.callback == callback && (transport == nil || transport == key.transport ?? .fcm)
            && (priority == nil || priority == key.deliveredPriority ?? .normal) && key.outcome.isTimed
    }

    /// How many invocations were over it. Figures know the limits of ``FigureThresholds`` only.
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

/// A limit and how the rows to which it applies kept it.
public struct LimitTally: Hashable, Sendable {
    /// The limit.
    public let limit: PlatformLimit
    /// Rows that ended before it.
    public private(set) var within = 0
    /// Rows that did not.
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
