/// When a load generator sends its requests. Times are nanoseconds of any clock that only goes ahead.
///
/// With a rate the load is open: each request has the time at which it was meant to be sent, whether or not the replies to
/// earlier ones have come. Latency that is counted from that time has in it what a slow server makes others wait. Without a
/// rate the load is closed: a request is sent when there is room for it.
public struct LoadSchedule: Hashable, Sendable {
    /// When the first request may be sent.
    public let begin: Int64
    /// The first instant at which none is sent any more; `nil`: the count alone ends it.
    public let end: Int64?
    /// How many are sent at most; `nil`: the time alone ends it.
    public let count: Int?
    /// How many a second; `nil`: as fast as there is room.
    public let rate: Double?
    /// How many were taken.
    public private(set) var taken = 0

    /// - Parameters:
    ///   - begin: when the first request may be sent.
    ///   - length: how long, in nanoseconds; `nil`: without end.
    ///   - count: how many at most; `nil`: without end.
    ///   - rate: how many a second, more than 0; `nil`: as fast as there is room.
    public init(begin: Int64, length: Int64?, count: Int?, rate: Double?) {
        precondition(rate.map { $0 > 0 } ?? true, "a rate is more than 0")
        self.begin = begin
        end = length.map { begin + $0 }
        self.count = count
        self.rate = rate
    }

    /// Whether nothing is sent any more.
    public func isOver(at now: Int64) -> Bool { taken == count || (end.map { now >= $0 } ?? false) }

    /// Takes the next request, if it may be sent now.
    ///
    /// - Returns: when it was meant to be sent; without a rate that is now.
    public mutating func take(at now: Int64) -> Int64? {
        guard taken != count, now >= begin else { return nil }
        let meant = rate == nil ? now : time(of: taken)
        // What was meant for the time before the end is sent, though it is a little late.
        guard meant <= now, end.map({ meant < $0 }) ?? true else { return nil }
        taken += 1
        return meant
    }

    /// When the next request is due, or the end; `nil`: nothing is to be waited for but replies.
    public func nextTime(at now: Int64) -> Int64? {
        guard !isOver(at: now) else { return nil }
        guard rate != nil else { return end }
        return end.map { min($0, time(of: taken)) } ?? time(of: taken)
    }

    /// How many were meant to be sent until then and were not taken: there was no room for them.
    public func overdue(at now: Int64) -> Int {
        guard let rate else { return 0 }
        let until = end.map { min($0, now) } ?? now
        let due = Int(Double(max(0, until - begin)) * rate / 1e9) + 1
        // The request that is meant for the very end is not sent.
        let isAtEnd = end == until && time(of: due - 1) >= until
        return max(0, min(due - (isAtEnd ? 1 : 0), count ?? .max) - taken)
    }

    private func time(of index: Int) -> Int64 { begin + Int64(Double(index) * 1e9 / (rate ?? 1)) }
}
