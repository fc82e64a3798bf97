import Glibc

/// Advice on access to a file through group membership.
public enum Membership {
    /// Returns advice for this user, who has no access to a file, as the end of a sentence: to join the group with
    /// access.
    ///
    /// - Parameter path: the file; if a directory on the way to it is closed, that directory counts.
    /// - Returns: `nil` if no group has access, or it is root's.
    public static func advice(for path: String) -> String? {
        var facts = stat()
        var place = path
        while stat(place, &facts) != 0 {
            guard let slash = place.lastIndex(of: "/"), slash != place.startIndex else { return nil }
            place = String(place[..<slash])
        }
        guard facts.st_mode & 0o070 != 0, facts.st_gid != 0, let entry = getgrgid(facts.st_gid) else { return nil }
        let group = String(cString: entry.pointee.gr_name)
        guard let account = getpwuid(getuid()) else { return "join the group \(group)" }
        let user = String(cString: account.pointee.pw_name)
        if isMember(user, account.pointee.pw_gid, of: facts.st_gid) {
            return "\(user) is in the group \(group) since the last log-in: log in again"
        }
        return "\(user) is not in the group \(group): sudo adduser \(user) \(group), then log in again"
    }

    private static func isMember(_ user: String, _ primary: gid_t, of group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 1024)
        var count = Int32(groups.count)
        let found = getgrouplist(user, primary, &groups, &count)
        return groups.prefix(max(0, Int(found))).contains(group)
    }
}
