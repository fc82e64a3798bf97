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
    ///   - token: the registration; `nil` for a send to a topic.
    ///   - now: monotonic nanoseconds.
    /// - Returns: a remark for the operator, at most one a minute for each quota.
    mutating func take(project: String, token: String?, at now: Int64) -> String? {
        let (minute, hour) = (now / 60_000_000_000, now / 3_600_000_000_000)
        evictExcess()
        var broken: [(name: String, limit: Int, of: String)] = []
        let sends = projects[stableDigest(project.utf8), default: Window()].take(in: minute)
        if rules.projectPerMinute > 0, sends > rules.projectPerMinute {
            broken.append(("a minute for a project", rules.projectPerMinute, String(project.prefix(64))))
        }
        if let token {
            var registration = registrations[stableDigest(token.utf8)] ?? Registration()
            let (ofMinute, ofHour) = (registration.minute.take(in: minute), registration.hour.take(in: hour))
            registrations[stableDigest(token.utf8)] = registration
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
