import PushModel

/// The sends of the last minute by digest. The desk reports a repeated send, and never merges it with the first.
struct RecentSends: Sendable {
    private struct Send: Sendable {
        var last: Int64
        var times: Int64
    }

    private var sends: [UInt64: Send] = [:]
    /// The digests in the order in which they came last, some of them out of date.
    private var order = Queue<(digest: UInt64, at: Int64)>()
    private let limit: Int
    private let window: Int64

    /// - Parameters:
    ///   - limit: the largest number of remembered sends.
    ///   - window: the time for which a send is remembered, in nanoseconds.
    init(limit: Int, window: Int64) { (self.limit, self.window) = (limit, window) }

    /// Counts a send.
    ///
    /// - Returns: the number of equal sends within the window, this one included.
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

/// The issued access tokens, limited in number: the oldest is dropped first.
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

    /// Returns the account of a token; `nil` if the token is unknown or expired.
    func account(of token: String, at now: WallTime) -> String? {
        grants[token].flatMap { now < $0.ends ? $0.account : nil }
    }
}
