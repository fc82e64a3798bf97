public import PushModel

/// What of the tracker's rules is a setting; the defaults are those of its table (T1 to T15).
public struct TrackerRules: Hashable, Sendable {
    /// How the fixed window and half the mean interval between sessions make one (T5).
    public enum WindowRule: String, Sendable, CaseIterable {
        /// The larger of the two.
        case max
        /// The smaller of the two.
        case min
        /// The fixed window alone.
        case fixed
    }

    /// Which of the deliveries in the window a session start is an influenced open of (T6).
    public enum Credit: String, Sendable, CaseIterable {
        /// Each of them.
        case all
        /// The one that was received last.
        case latest
    }

    /// The fixed window (T5).
    public var influencedWindow: Duration = .seconds(30 * 60)
    /// How it is combined with the user's own rhythm.
    public var windowRule = WindowRule.max
    /// Who gets the credit.
    public var influencedCredit = Credit.all
    /// How long a decision waits for a tap, and a tap for its delivery (T6, T15).
    public var grace: Duration = .seconds(5)
    /// Within this after its end a session is resumed on Android (T7).
    public var androidSessionTimeout: Duration = .seconds(10)
    /// The same on iOS.
    public var appleSessionTimeout: Duration = .seconds(10)
    /// The same on the web.
    public var webSessionTimeout: Duration = .seconds(30 * 60)
    /// Whether a visible iOS delivery in the foreground gives an `IosForeground` event (T11).
    public var reportsForeground = false
    /// Apps whose own SDK logs opens: they get no campaign events of ours, or each open would count twice.
    public var appsWithoutCampaignEvents: [Glob] = []
    /// How long a delivery can be opened, or influence an open, and how long an open session is believed in, counted
    /// from its acceptance.
    public var remember: Duration = .seconds(30 * 86_400)
    /// How many deliveries are remembered; beyond it the oldest goes first.
    public var rememberMax = 100_000
    /// How many sessions and how many users' session starts are remembered; beyond it the longest unused goes first.
    public var rememberUsersMax = 1_000_000

    /// The defaults.
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

    /// Of what was received longer than `remember` ago nothing is known, so half the mean interval need not be longer
    /// either: an interval of more than twice that begins the user's history anew (T5).
    var intervalMax: Int64 { min(remember.milliseconds, .max / 32) * 2 }
}
