import PushModel

/// The sends within a window, by a digest, to report repetitions; it never drops one.
struct RecentSends: Sendable {
    private struct Send: Sendable {
        var last: Int64
        var times: Int64
    }

    private var sends: [UInt64: Send] = [:]
    /// The digests in the order of their arrivals. A digest that arrived again is also there at its earlier time.
    private var order = Queue<(digest: UInt64, at: Int64)>()
    private let limit: Int
    private let window: Int64

    /// - Parameters:
    ///   - limit: the limit of remembered arrivals.
    ///   - window: the time for which a send is remembered, in nanoseconds.
    init(limit: Int, window: Int64) { (self.limit, self.window) = (limit, window) }

    /// Notes a send.
    ///
    /// - Returns: the number of times that it came without a pause longer than the window, this time included.
    mutating func take(_ digest: UInt64, at now: Int64) -> Int64 {
        while let first = order.first, now - first.at > window || order.count > limit {
            _ = order.popFirst()
            if let send = sends[first.digest], send.last == first.at { sends[first.digest] = nil }
        }
        let times = (sends[digest]?.times ?? 0) + 1
        sends[digest] = Send(last: now, times: times)
        order.append((digest, now))
        return times
    }
}

/// The issued access tokens, up to a limit; beyond it the oldest is forgotten.
struct AccessTokens: Sendable {
    private struct Grant: Sendable {
        let account: String
        let ends: WallTime
    }

    private var grants: [String: Grant] = [:]
    private var order = Queue<String>()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a token.
    mutating func add(_ token: String, of account: String, until ends: WallTime) {
        if order.count >= limit, let oldest = order.popFirst() { grants[oldest] = nil }
        grants[token] = Grant(account: account, ends: ends)
        order.append(token)
    }

    /// The account of a token; `nil` if the token is unknown or expired.
    func account(of token: String, at now: WallTime) -> String? {
        grants[token].flatMap { now < $0.ends ? $0.account : nil }
    }
}
