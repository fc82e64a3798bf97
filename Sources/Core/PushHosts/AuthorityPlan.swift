/// Decides on renewals of the gateway's certificates, by dates in seconds since 1970.
public enum AuthorityPlan {
    /// How long an authority lasts, in days.
    public static let authorityDays: Int64 = 730
    /// How long a server's certificate lasts, in days.
    public static let leafDays: Int64 = 30
    /// The next authority is made so many days before the present one ends: clients have that long to take it.
    public static let noticeDays: Int64 = 90
    /// The next authority signs from so many days before the present one ends, if clients had as many days to take it.
    public static let changeDays: Int64 = 14

    /// The next thing to do about the authorities.
    public enum Step: Hashable, Sendable {
        /// Nothing.
        case keep
        /// There is no authority that clients could trust: make one.
        case start
        /// Make the next one, and hand out both.
        case announce
        /// The next one takes the present one's place.
        case change
    }

    private static func days(until end: Int64, from now: Int64) -> Int64 { (end - now) / 86400 }

    /// The next step; after it the question is to be asked again, until the answer is `keep`.
    ///
    /// - Parameters:
    ///   - present: when the present authority ends; `nil`: there is none.
    ///   - next: when the next one ends; `nil`: there is none.
    public static func step(present: Int64?, next: Int64?, now: Int64) -> Step {
        let next = next.flatMap { $0 > max(now, present ?? now) ? $0 : nil }
        guard let present, present > now else { return next == nil ? .start : .change }
        guard days(until: present, from: now) < noticeDays else { return .keep }
        guard let next else { return .announce }
        let notice = authorityDays - days(until: next, from: now)
        let isKnown = days(until: present, from: now) < changeDays && notice >= changeDays
        // Whatever clients know: on its last day an authority that still vouches helps nobody.
        return isKnown || days(until: present, from: now) < 1 ? .change : .keep
    }

    /// Whether a server's certificate is to be made anew: in the last third of its time.
    public static func needsLeaf(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < leafDays / 3 }

    /// The names that a server's certificate has.
    public static func leafNames(_ own: [String]) -> [String] {
        var names = PushHost.names.map(\.name)
        names += ["api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com"]
        return names + own.filter { !names.contains($0) } + ["localhost", "127.0.0.1", "::1"]
    }

    /// The domains and addresses that the authority may vouch for, beside loopback addresses.
    public static func domains(_ own: [String]) -> [String] {
        ["googleapis.com", "push.apple.com", "localhost"] + own
    }
}
