public import PushModel

/// The times of an ended invocation in microseconds, as the ledger stores them.
public struct DecidedTimes: Hashable, Sendable {
    /// The time from the start of the invocation to its deadline.
    public var budget: Int64
    /// The time from acceptance to the start of the handler.
    public var queue: Int64
    /// The time from the start of the handler to its end.
    public var exec: Int64
    /// The time from acceptance to the end.
    public var total: Int64

    /// Joins the parts.
    public init(budget: Int64, queue: Int64, exec: Int64, total: Int64) {
        self.budget = budget
        self.queue = queue
        self.exec = exec
        self.total = total
    }

    /// The time from the call of the callback to the end. In `device` mode on Android the ledger's `queue` includes the
    /// wait in the lane; there the time is `exec`, and after a missed deadline at least the budget.
    public func sinceInvocation(mode: DispatchMode, platform: Platform, outcome: Outcome) -> Int64 {
        switch (mode, platform) {
        case (.device, .android): outcome.isMissed ? max(budget, exec) : exec
        case (.relay, .android), (_, .ios), (_, .web): total
        }
    }
}

/// The platforms' time limits for which figures count the invocations that took longer.
public enum FigureThresholds {
    /// The limits in microseconds, shortest first. A new limit needs a new version of the figures.
    public static let all: [Int64] = [9_000_000, 10_000_000, 20_000_000, 30_000_000, 60_000_000]
}

/// The bands of latency of a report's timeline.
public enum LatencyBands {
    /// The exclusive upper bounds in microseconds; the last band has none.
    public static let bounds: [Int64] = [
        1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 9_000_000, 10_000_000, 20_000_000,
        30_000_000, 60_000_000,
    ]

    /// The number of bands.
    public static var count: Int { bounds.count + 1 }

    /// Returns the band of a duration in microseconds.
    public static func band(of duration: Int64) -> Int { bounds.firstIndex { duration < $0 } ?? bounds.count }
}
