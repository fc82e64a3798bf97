import PushModel

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
