import PushModel

/// The quotas of FCM and APNs. The gateway refuses no push for them: it tells the operator that Google or Apple would
/// answer 429.
///
/// Source: Firebase's page on throttling and quotas. The page does not say how time is counted; here by whole minutes
/// and hours of the monotonic clock (UNVERIFIED). Apple names no number.
struct QuotaRules: Hashable, Sendable {
    /// The limit of sends a minute for one project; 0: unlimited.
    var projectPerMinute = 600_000
    /// The limit of sends a minute to one registration of FCM; 0: unlimited.
    var devicePerMinute = 240
    /// The limit of sends an hour to one registration of FCM; 0: unlimited.
    var devicePerHour = 5000
    /// The limit of sends a minute to one token of APNs; 0: unlimited.
    var appleDevicePerMinute = 0

    /// Creates the likely quotas.
    init() {}
}

/// Counts sends against quotas in bounded memory: beyond `remembered` projects or registrations their counts restart.
struct SendQuotas: Sendable {
    private struct Window: Sendable {
        var number: Int64 = -1
        var count = 0

        /// Counts one send, and returns the count of the window.
        mutating func take(in number: Int64) -> Int {
            if number != self.number { (self.number, count) = (number, 0) }
            count += 1
            return count
        }
    }

    private struct Registration: Sendable {
        var minute = Window()
        var hour = Window()

        mutating func take(inMinute minute: Int64, hour: Int64) -> (ofMinute: Int, ofHour: Int) {
            (self.minute.take(in: minute), self.hour.take(in: hour))
        }
    }

    private static let remembered = 65_536

    var rules: QuotaRules
    /// The number of sends over a quota.
    private(set) var over = 0
    /// The counts by digests of the names: a sender chooses the names, which may be as long as a path.
    private var projects: [UInt64: Window] = [:]
    private var registrations: [UInt64: Registration] = [:]
    /// The minute of the last remark about each quota, by its name.
    private var lastRemarks: [String: Int64] = [:]

    init(_ rules: QuotaRules) { self.rules = rules }

    /// Counts a send of FCM.
    ///
    /// - Parameters:
    ///   - project: the project; `nil` for a web push.
    ///   - token: the registration, or the endpoint of a web push; `nil` for a send to a topic.
    ///   - now: monotonic nanoseconds.
    /// - Returns: a remark for the operator, at most one a minute for each quota.
    mutating func take(project: String?, token: String?, at now: Int64) -> String? {
        let (minute, hour) = (now / 60_000_000_000, now / 3_600_000_000_000)
        evictExcess()
        var broken: [(name: String, limit: Int, of: String)] = []
        if let project {
            let sends = projects[stableDigest(project.utf8), default: Window()].take(in: minute)
            if rules.projectPerMinute > 0, sends > rules.projectPerMinute {
                broken.append(("a minute for a project", rules.projectPerMinute, String(project.prefix(64))))
            }
        }
        if let token {
            let (ofMinute, ofHour) = registrations[stableDigest(token.utf8), default: Registration()]
                .take(inMinute: minute, hour: hour)
            if rules.devicePerMinute > 0, ofMinute > rules.devicePerMinute {
                broken.append(("a minute to a device", rules.devicePerMinute, Self.shortened(token)))
            }
            if rules.devicePerHour > 0, ofHour > rules.devicePerHour {
                broken.append(("an hour to a device", rules.devicePerHour, Self.shortened(token)))
            }
        }
        guard !broken.isEmpty else { return nil }
        over += 1
        // The first quota without a remark in this minute; the next send reports another one.
        for (name, limit, whom) in broken {
            if let text = remark(name, limit, of: whom, "Google", "QUOTA_EXCEEDED", in: minute) { return text }
        }
        return nil
    }

    /// Counts a send of APNs; parameters and result as for FCM.
    mutating func take(appleToken token: String, at now: Int64) -> String? {
        guard rules.appleDevicePerMinute > 0 else { return nil }
        let minute = now / 60_000_000_000
        evictExcess()
        let sends = registrations[stableDigest(token.utf8), default: Registration()].minute.take(in: minute)
        guard sends > rules.appleDevicePerMinute else { return nil }
        over += 1
        return remark(
            "a minute to an Apple device", rules.appleDevicePerMinute, of: Self.shortened(token), "Apple",
            "TooManyRequests", in: minute)
    }

    private mutating func remark(
        _ name: String, _ limit: Int, of whom: String, _ service: String, _ reason: String, in minute: Int64
    ) -> String? {
        guard lastRemarks.updateValue(minute, forKey: name) != minute else { return nil }
        return "more than \(limit) sends \(name) (\(whom)): \(service) would answer 429 \(reason)"
    }

    private mutating func evictExcess() {
        if projects.count > Self.remembered { projects = [:] }
        if registrations.count > Self.remembered { registrations = [:] }
    }

    private static func shortened(_ token: String) -> String { token.count > 12 ? "\(token.prefix(8))…" : token }
}

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
