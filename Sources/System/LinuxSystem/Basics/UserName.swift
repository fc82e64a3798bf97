import Glibc

/// The name of a user of this machine.
public enum UserName: Hashable, Sendable {
    /// The user has this name.
    case name(String)
    /// No user has the id.
    case none
    /// The name cannot be found now, or cannot be used: the reason.
    case failed(String)

    /// Returns the name of the user for other machines: its own, or `uid:` and the id, which cannot be a user's name
    /// because of the colon. `nil` if the name cannot be found.
    ///
    /// - Parameter user: the id that was looked up.
    public func text(of user: UInt32) -> String? {
        switch self {
        case .name(let name): name
        case .none: "uid:\(user)"
        case .failed: nil
        }
    }

    /// The limit for a passwd entry, in bytes.
    private static let entryLengthMax = 64 << 10

    /// Looks the user up with getpwuid_r, which may block on a directory service.
    public init(of user: UInt32) {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 1024)
        while true {
            let problem = getpwuid_r(user, &entry, &buffer, buffer.count, &found)
            if problem == ERANGE, buffer.count < Self.entryLengthMax {
                buffer = [CChar](repeating: 0, count: 4 * buffer.count)
                continue
            }
            guard let name = found?.pointee.pw_name else {
                self = [0, ENOENT, ESRCH].contains(problem) ? .none : .failed(errorText(problem))
                return
            }
            self = String(validatingCString: name).map(Self.name) ?? .failed("its name is not UTF-8")
            return
        }
    }
}

/// The numbers of users and groups of this machine.
public enum SystemNumber {
    /// A user or a group.
    public enum Kind: String, CustomStringConvertible {
        case user, group

        public var description: String { rawValue }
    }

    /// The longest entry of a group with all its members, in bytes.
    private static let entryLengthMax = 1 << 20

    /// Looks a name up, which may wait for a directory service.
    ///
    /// - Returns: the number; `nil`: nobody has the name.
    /// - Throws: when it cannot be looked up now.
    public static func find(_ kind: Kind, _ name: String) throws(SystemError) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 1024)
        while true {
            var number: UInt32?
            let problem: Int32
            switch kind {
            case .user:
                var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
                problem = getpwnam_r(name, &entry, &buffer, buffer.count, &found)
                number = found?.pointee.pw_uid
            case .group:
                var (entry, found) = (group(), UnsafeMutablePointer<group>?.none)
                problem = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
                number = found?.pointee.gr_gid
            }
            if let number { return number }
            if problem == ERANGE, buffer.count < entryLengthMax {
                buffer = [CChar](repeating: 0, count: 4 * buffer.count)
                continue
            }
            // getpwnam(3): some services answer so for a name that they do not have.
            guard [0, ENOENT, ESRCH].contains(problem) else {
                throw SystemError(operation: "look up the \(kind) \(name)", errno: problem)
            }
            return nil
        }
    }

    /// The groups of a user, by the user's entry; empty for a number without one.
    public static func groups(of user: UInt32) -> [UInt32] {
        guard let entry = getpwuid(user)?.pointee else { return [] }
        var groups = [gid_t](repeating: 0, count: 65_536)
        var count = Int32(groups.count)
        let found = getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count)
        return Array(groups.prefix(max(0, Int(found))))
    }
}

/// Advice on access to a file through group membership.
public enum Membership {
    /// Returns advice for this user, who has no access to a file, as the end of a sentence: to change the mode of an own
    /// file, or to join the group with access.
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
        let mode = String(facts.st_mode & 0o7777, radix: 8)
        if facts.st_uid == geteuid() { return "you own \(place), and its mode is \(mode): chmod u+rwX \(place)" }
        guard facts.st_mode & 0o070 != 0, facts.st_gid != 0, let entry = getgrgid(facts.st_gid) else { return nil }
        let group = String(cString: entry.pointee.gr_name)
        if hasGroup(facts.st_gid) {
            return "the mode of \(place) is \(mode): the group \(group), which you are in, may not do that"
        }
        guard let account = getpwuid(getuid()) else { return "join the group \(group)" }
        let user = String(cString: account.pointee.pw_name)
        if isMember(user, account.pointee.pw_gid, of: facts.st_gid) {
            return "\(user) is in the group \(group) since the last log-in: log in again"
        }
        return "\(user) is not in the group \(group): sudo adduser \(user) \(group), then log in again"
    }

    /// Whether this process has the group.
    private static func hasGroup(_ group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 65_536)
        let found = getgroups(Int32(groups.count), &groups)
        return getegid() == group || groups.prefix(max(0, Int(found))).contains(group)
    }

    private static func isMember(_ user: String, _ primary: gid_t, of group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 1024)
        var count = Int32(groups.count)
        let found = getgrouplist(user, primary, &groups, &count)
        return groups.prefix(max(0, Int(found))).contains(group)
    }
}

/// The host name of this machine.
public enum HostName {
    /// The name, if it has only letters, digits, "-" and "."; otherwise `localhost`.
    public static var current: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let isHostByte = { (byte: UInt8) in
            48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte || byte == 45 || byte == 46
        }
        return bytes.isEmpty || !bytes.allSatisfy(isHostByte) ? "localhost" : String(decoding: bytes, as: UTF8.self)
    }
}
