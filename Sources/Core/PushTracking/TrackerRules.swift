public import PushModel

/// The settings of the tracker's rules; the defaults are those of its table (T1 to T15).
public struct TrackerRules: Hashable, Sendable {
    /// The combination of the fixed window and half the mean interval between sessions (T5).
    public enum WindowRule: String, Sendable, CaseIterable {
        /// The larger of the two.
        case max
        /// The smaller of the two.
        case min
        /// The fixed window alone.
        case fixed
    }

    /// The deliveries in the window that a session start is an influenced open of (T6).
    public enum Credit: String, Sendable, CaseIterable {
        /// All of them.
        case all
        /// The last received one.
        case latest
    }

    /// The fixed window (T5).
    public var influencedWindow: Duration = .seconds(30 * 60)
    /// The combination with the user's own rhythm.
    public var windowRule = WindowRule.max
    /// The deliveries that get the credit.
    public var influencedCredit = Credit.all
    /// The time that a decision waits for a tap, and a tap for its delivery (T6, T15).
    public var grace: Duration = .seconds(5)
    /// The time after its end within which a session is resumed on Android (T7).
    public var androidSessionTimeout: Duration = .seconds(10)
    /// The same on iOS.
    public var appleSessionTimeout: Duration = .seconds(10)
    /// The same on the web.
    public var webSessionTimeout: Duration = .seconds(30 * 60)
    /// Whether a visible iOS delivery in the foreground gives an `IosForeground` event (T11).
    public var reportsForeground = false
    /// The apps whose own SDK logs opens: they get no campaign events from the tracker, or each open would count twice.
    public var appsWithoutCampaignEvents: [Glob] = []
    /// The time from acceptance for which a delivery can be opened or influence an open, and an open session counts.
    public var remember: Duration = .seconds(30 * 86_400)
    /// The limit of remembered deliveries; beyond it the oldest goes first.
    public var rememberMax = 100_000
    /// The limit of remembered sessions, and of users with session starts; beyond it the longest unused goes first.
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

    /// Whether the app gets campaign events: opens, influenced opens, receipts in the foreground.
    public func emitsCampaignEvents(for app: String?) -> Bool {
        appsWithoutCampaignEvents.isEmpty || !appsWithoutCampaignEvents.contains { $0.matches(app ?? "") }
    }

    /// The limit of an interval between session starts, in milliseconds: twice `remember`. The tracker knows no older
    /// deliveries, so half the mean interval need not exceed `remember`; a longer interval begins the user's history
    /// anew (T5).
    var intervalMax: Int64 { min(remember.milliseconds, .max / 32) * 2 }
}
