/// The schedule of the gateway's certificates, by dates in seconds since 1970.
public enum AuthorityPlan {
    /// The validity of an authority, in days.
    public static let authorityDays: Int64 = 730
    /// The validity of a server's certificate, in days.
    public static let leafDays: Int64 = 30
    /// The days before the end of the present authority at which the next one is made: the time for clients to install
    /// it.
    static let noticeDays: Int64 = 90
    /// The days before the end of the present authority from which the next one signs, if clients had as many days to
    /// install it.
    static let changeDays: Int64 = 14

    /// The next step for the authorities.
    public enum Step: Hashable, Sendable {
        /// Keep both.
        case keep
        /// No valid authority exists: make one.
        case start
        /// Make the next authority, and hand out both.
        case announce
        /// Replace the present authority by the next one.
        case change
    }

    private static func days(until end: Int64, from now: Int64) -> Int64 { (end - now) / 86400 }

    /// Returns the next step. The caller carries it out and asks again, until the answer is `keep`.
    ///
    /// - Parameters:
    ///   - present: the end of the present authority; `nil` if there is none.
    ///   - next: the end of the next one; `nil` if there is none.
    public static func step(present: Int64?, next: Int64?, now: Int64) -> Step {
        let next = next.flatMap { $0 > max(now, present ?? now) ? $0 : nil }
        guard let present, present > now else { return next == nil ? .start : .change }
        guard days(until: present, from: now) < noticeDays else { return .keep }
        guard let next else { return .announce }
        let notice = authorityDays - days(until: next, from: now)
        let isKnown = days(until: present, from: now) < changeDays && notice >= changeDays
        // On the last day the change is due in any case: keeping the old authority one more day would help no client.
        return isKnown || days(until: present, from: now) < 1 ? .change : .keep
    }

    /// Whether a server's certificate is due for renewal: in the last third of its validity.
    public static func needsLeaf(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < leafDays / 3 }

    /// The names in a server's certificate.
    public static func leafNames(_ own: [String]) -> [String] {
        var names = PushHost.names.map(\.name)
        names += ["api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com"]
        return names + own.filter { !names.contains($0) } + ["localhost", "127.0.0.1", "::1"]
    }

    /// The domains and addresses that the authority may certify, beside loopback addresses.
    public static func domains(_ own: [String]) -> [String] {
        ["googleapis.com", "push.apple.com", "localhost"] + own
    }
}
