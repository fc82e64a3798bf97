public import PushModel

/// The configurable parts of the tracker's rules; the defaults are those of its table (T1 to T15).
public struct TrackerRules: Hashable, Sendable {
    /// The combination of the fixed window with half the mean interval between sessions (T5).
    public enum WindowRule: String, Sendable, CaseIterable {
        /// The larger of the two.
        case max
        /// The smaller of the two.
        case min
        /// The fixed window alone.
        case fixed
    }

    /// The deliveries in the window that a session start credits as influenced opens (T6).
    public enum Credit: String, Sendable, CaseIterable {
        /// All deliveries.
        case all
        /// The delivery that was received last.
        case latest
    }

    /// The fixed window (T5).
    public var influencedWindow: Duration = .seconds(30 * 60)
    /// The combination of the fixed window with the user's own interval.
    public var windowRule = WindowRule.max
    /// The credited deliveries.
    public var influencedCredit = Credit.all
    /// The time that a decision waits for a tap, and a tap for its delivery (T6, T15).
    public var grace: Duration = .seconds(5)
    /// How long after its end a session can be resumed on Android (T7).
    public var androidSessionTimeout: Duration = .seconds(10)
    /// How long after its end a session can be resumed on iOS.
    public var appleSessionTimeout: Duration = .seconds(10)
    /// How long after its end a session can be resumed on the web.
    public var webSessionTimeout: Duration = .seconds(30 * 60)
    /// Whether a visible iOS delivery in the foreground produces an `IosForeground` event (T11).
    public var reportsForeground = false
    /// Apps whose own SDK logs opens: the tracker emits no campaign events for them, because each open would count
    /// twice.
    public var appsWithoutCampaignEvents: [Glob] = []
    /// How long a delivery can be opened or influence an open, from its acceptance; and how long an unused open session
    /// counts.
    public var remember: Duration = .seconds(30 * 86_400)
    /// The limit of remembered deliveries; beyond it the oldest are forgotten.
    public var rememberMax = 100_000
    /// The limit of sessions, and of users' session starts; beyond it the least recently used are forgotten.
    public var rememberUsersMax = 1_000_000

    /// Creates the default settings.
    public init() {}

    func sessionTimeout(on platform: Platform) -> Int64 {
        switch platform {
        case .android: androidSessionTimeout.milliseconds
        case .ios: appleSessionTimeout.milliseconds
        case .web: webSessionTimeout.milliseconds
        }
    }

    /// Whether the app gets campaign events: opens, influenced opens, and receipts in the foreground.
    public func emitsCampaignEvents(for app: String?) -> Bool {
        appsWithoutCampaignEvents.isEmpty || !appsWithoutCampaignEvents.contains { $0.matches(app ?? "") }
    }

    /// The longest interval between session starts in a history, in milliseconds. Deliveries older than `remember` are
    /// forgotten, so half the mean interval need not exceed it; an interval of more than twice `remember` begins a new
    /// history (T5).
    var intervalMax: Int64 { min(remember.milliseconds, .max / 32) * 2 }
}
