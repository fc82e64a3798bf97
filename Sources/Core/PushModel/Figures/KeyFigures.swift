/// The figures of the ended invocations with one key that were accepted in one span.
public struct KeyFigures: Hashable, Sendable {
    /// The version of the format, the first byte.
    private static let version = 1

    /// The number of invocations.
    public private(set) var count = 0
    /// The shortest budget of an invocation, in microseconds; `nil` if there is no invocation.
    public private(set) var shortestBudget: Int64?
    /// The number of due invocations that took at least their budget from acceptance.
    public private(set) var lateFromAcceptance = 0
    /// The number of due invocations that took at least their budget from the call of the callback.
    public private(set) var lateFromInvocation = 0
    /// For each of ``FigureThresholds/all``, the number of timed invocations that took at least as long from
    /// acceptance.
    public private(set) var overFromAcceptance = Array(repeating: 0, count: FigureThresholds.all.count)
    /// For each of ``FigureThresholds/all``, the number of timed invocations that took at least as long from the call
    /// of the callback.
    public private(set) var overFromInvocation = Array(repeating: 0, count: FigureThresholds.all.count)
    /// The times from acceptance to the start of the handler, of timed invocations.
    public private(set) var queue = Histogram()
    /// The times from the start of the handler to its end, of timed invocations that started.
    public private(set) var exec = Histogram()
    /// The times from acceptance to the end, of timed invocations.
    public private(set) var total = Histogram()

    /// Creates figures without invocations.
    public init() {}

    /// Counts one invocation.
    public mutating func add(_ times: DecidedTimes, of key: FigureKey) {
        count += 1
        shortestBudget = min(shortestBudget ?? times.budget, times.budget)
        guard key.outcome.isTimed else { return }
        queue.add(microseconds: times.queue)
        total.add(microseconds: times.total)
        if key.outcome != .expired { exec.add(microseconds: times.exec) }
        let since = times.sinceInvocation(mode: key.mode, platform: key.platform, outcome: key.outcome)
        if key.outcome.isDue {
            lateFromAcceptance += times.total >= times.budget ? 1 : 0
            lateFromInvocation += since >= times.budget ? 1 : 0
        }
        guard max(since, times.total) >= FigureThresholds.all[0] else { return }
        for (place, threshold) in FigureThresholds.all.enumerated() {
            overFromAcceptance[place] += times.total >= threshold ? 1 : 0
            overFromInvocation[place] += since >= threshold ? 1 : 0
        }
    }

    // MARK: Bytes

    /// The figures in the ledger's format.
    public var bytes: [UInt8] {
        var writer = FigureWriter()
        writer.number(Self.version)
        writer.number(count)
        writer.number(Int(shortestBudget ?? 0))
        for number in [lateFromAcceptance, lateFromInvocation] { writer.number(number) }
        for number in overFromAcceptance + overFromInvocation { writer.number(number) }
        for histogram in [queue, exec, total] { histogram.write(to: &writer) }
        return writer.bytes
    }

    /// Adds the figures in the bytes, which must be of the same key.
    ///
    /// - Throws: if the bytes are no figures; a part of them may have been added by then.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) throws(FigureError) {
        var reader = FigureReader(bytes)
        guard try reader.number() == Self.version else { throw FigureError.unreadable }
        let added = try reader.number()
        let budget = Int64(try reader.number())
        if added > 0 { shortestBudget = min(shortestBudget ?? budget, budget) }
        try count.add(read: added)
        try lateFromAcceptance.add(read: try reader.number())
        try lateFromInvocation.add(read: try reader.number())
        guard max(lateFromAcceptance, lateFromInvocation) <= count else { throw FigureError.unreadable }
        for place in overFromAcceptance.indices { try overFromAcceptance[place].add(read: try reader.number()) }
        for place in overFromInvocation.indices { try overFromInvocation[place].add(read: try reader.number()) }
        try queue.add(&reader)
        try exec.add(&reader)
        try total.add(&reader)
        guard reader.isAtEnd else { throw FigureError.unreadable }
    }

    /// Reads figures.
    public init(_ bytes: UnsafeRawBufferPointer) throws(FigureError) { try add(bytes) }
}

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
