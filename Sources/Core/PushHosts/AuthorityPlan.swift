/// Decides on renewals of the gateway's certificates, by dates in seconds since 1970.
public enum AuthorityPlan {
    /// How long an authority lasts, in days.
    public static let authorityDays: Int64 = 730
    /// How long a server's certificate lasts, in days.
    public static let leafDays: Int64 = 30
    /// The next authority is made so many days before the present one ends: clients have that long to take it.
    public static let noticeDays: Int64 = 90
    /// The next authority signs from so many days before the present one ends.
    public static let changeDays: Int64 = 14

    private static func days(until end: Int64, from now: Int64) -> Int64 { (end - now) / 86400 }

    /// Whether clients need the next authority's certificate too.
    public static func needsNext(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < noticeDays }

    /// Whether the next authority takes the present one's place.
    public static func isTimeToChange(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < changeDays }

    /// Whether a server's certificate is to be made anew: in the last third of its time.
    public static func needsLeaf(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < leafDays / 3 }

    /// The names that a server's certificate has.
    public static func leafNames(_ own: [String]) -> [String] {
        var names = PushHost.names.map(\.name)
        names += ["api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com"]
        return names + own.filter { !names.contains($0) } + ["localhost", "127.0.0.1", "::1"]
    }

    /// The domains that the authority may vouch for.
    public static func domains(_ own: [String]) -> [String] {
        ["googleapis.com", "push.apple.com", "localhost"] + own
    }
}
