public import PushModel

/// The times of an invocation that has ended, in microseconds, as the ledger has them.
public struct DecidedTimes: Hashable, Sendable {
    /// The time it had.
    public var budget: Int64
    /// From acceptance to the start of the handler.
    public var queue: Int64
    /// From the start of the handler to its end.
    public var exec: Int64
    /// From acceptance to the end.
    public var total: Int64

    /// Joins the parts.
    public init(budget: Int64, queue: Int64, exec: Int64, total: Int64) {
        self.budget = budget
        self.queue = queue
        self.exec = exec
        self.total = total
    }

    /// The time from the call of the callback to the end. The ledger's `queue` also holds the wait in an Android
    /// lane in `device` mode; there the budget, gone by definition on a miss, and `exec` say it.
    public func sinceInvocation(mode: DispatchMode, platform: Platform, outcome: Outcome) -> Int64 {
        switch (mode, platform) {
        case (.device, .android): outcome.isMissed ? max(budget, exec) : exec
        case (.relay, .android), (_, .ios), (_, .web): total
        }
    }
}

/// The times of platforms past which figures count how many invocations were.
public enum FigureThresholds {
    /// In microseconds, shortest first. One more is a new version of the figures.
    public static let all: [Int64] = [9_000_000, 10_000_000, 20_000_000, 30_000_000, 60_000_000]
}

/// The bands of latency of a report's timeline.
public enum LatencyBands {
    /// The upper bounds, exclusive, in microseconds; the last band has none.
    public static let bounds: [Int64] = [
        1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 9_000_000, 10_000_000, 20_000_000,
        30_000_000, 60_000_000,
    ]

    /// How many there are.
    public static var count: Int { bounds.count + 1 }

    /// The band of a duration in microseconds.
    public static func band(of duration: Int64) -> Int { bounds.firstIndex { duration < $0 } ?? bounds.count }
}
