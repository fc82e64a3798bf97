/// The times at which a load generator sends its requests, in nanoseconds of a monotonic clock.
///
/// With a rate the load is open: each request has a scheduled time, whether or not the replies to earlier ones have
/// come. Latency that counts from that time includes the delay that a slow server causes to later requests. Without a
/// rate the load is closed: a request is sent as soon as a pipeline has room.
public struct LoadSchedule: Hashable, Sendable {
    /// The earliest time of the first request.
    public let begin: Int64
    /// The exclusive end; `nil`: only the count ends the load.
    public let end: Int64?
    /// The most requests; `nil`: only the time ends the load.
    public let count: Int?
    /// The requests per second; `nil`: as fast as the pipelines allow.
    public let rate: Double?
    /// The number of requests taken so far.
    public private(set) var taken = 0

    /// - Parameters:
    ///   - begin: the earliest time of the first request.
    ///   - length: the length in nanoseconds; `nil`: unlimited.
    ///   - count: the most requests; `nil`: unlimited.
    ///   - rate: the requests per second, more than 0; `nil`: as fast as the pipelines allow.
    public init(begin: Int64, length: Int64?, count: Int?, rate: Double?) {
        precondition(rate.map { $0 > 0 } ?? true, "a rate is more than 0")
        self.begin = begin
        end = length.map { begin + $0 }
        self.count = count
        self.rate = rate
    }

    /// Returns whether the load has ended.
    public func isOver(at now: Int64) -> Bool { taken == count || (end.map { now >= $0 } ?? false) }

    /// Takes the next request if it may be sent now.
    ///
    /// - Returns: its scheduled time; without a rate, `now`.
    public mutating func take(at now: Int64) -> Int64? {
        guard taken != count, now >= begin else { return nil }
        let meant = rate == nil ? now : time(of: taken)
        // A request scheduled before the end is sent even if it is a little late.
        guard meant <= now, end.map({ meant < $0 }) ?? true else { return nil }
        taken += 1
        return meant
    }

    /// Returns the time of the next request, or the end; `nil`: only replies are to come.
    public func nextTime(at now: Int64) -> Int64? {
        guard !isOver(at: now) else { return nil }
        guard rate != nil else { return end }
        return end.map { min($0, time(of: taken)) } ?? time(of: taken)
    }

    /// Returns the number of requests scheduled until `now` and not taken, because the pipelines were full.
    public func overdue(at now: Int64) -> Int {
        guard let rate else { return 0 }
        let until = end.map { min($0, now) } ?? now
        let due = Int(Double(max(0, until - begin)) * rate / 1e9) + 1
        // A request scheduled exactly at the end is not sent.
        let isAtEnd = end == until && time(of: due - 1) >= until
        return max(0, min(due - (isAtEnd ? 1 : 0), count ?? .max) - taken)
    }

    private func time(of index: Int) -> Int64 { begin + Int64(Double(index) * 1e9 / (rate ?? 1)) }
}
