import CLinux
import Glibc
import Synchronization

/// The user, the limits and the privileges that a program gets in place of this process's own.
public struct ProcessConfinement: Hashable, Sendable {
    /// The name or the number of its user, with that user's groups; `nil` keeps this process's user.
    public var user: String?
    /// Whether an exec gives it no privileges, such as those of a set-user-id program (PR_SET_NO_NEW_PRIVS).
    public var hasNoNewPrivileges: Bool
    /// The limit of its open files, at most that of this process; `nil` uses the caller's limit for all programs.
    public var openFilesMax: Int?
    /// Its niceness, -20 to 19; `nil` keeps that of this process.
    public var niceness: Int?
    /// The limits for all its processes together, which need a cgroup.
    public var cgroup: CgroupLimits

    /// Joins the parts; the defaults change nothing.
    public init(
        user: String? = nil, hasNoNewPrivileges: Bool = false, openFilesMax: Int? = nil, niceness: Int? = nil,
        cgroup: CgroupLimits = CgroupLimits()
    ) {
        self.user = user
        self.hasNoNewPrivileges = hasNoNewPrivileges
        self.openFilesMax = openFilesMax
        self.niceness = niceness
        self.cgroup = cgroup
    }
}

/// The numbers of a user.
struct UserIdentity: Hashable, Sendable {
    let user: UInt32
    let group: UInt32
    let groups: [UInt32]

    /// - Parameter name: a name, or a number that has one; `nil` if the system has no such user. The look-up may wait
    ///   for a directory service.
    init?(_ name: String) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        if let number = UInt32(name) {
            getpwuid_r(number, &entry, &buffer, buffer.count, &found)
        } else {
            getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        }
        guard found != nil else { return nil }
        var groups = [UInt32](repeating: 0, count: 64)
        var count = Int32(groups.count)
        if CLinux_user_groups(entry.pw_name, entry.pw_gid, &groups, &count) < 0 {
            groups = [UInt32](repeating: 0, count: Int(count))
            guard CLinux_user_groups(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
        }
        user = entry.pw_uid
        group = entry.pw_gid
        self.groups = Array(groups.prefix(Int(count)))
    }
}

/// A cache of users, so that a directory service is asked once for each. For any thread.
final class KnownUsers: Sendable {
    private let users = Mutex<[String: UserIdentity]>([:])

    /// Returns the numbers of a user; `nil` if there is no such user.
    func identity(of user: String) -> UserIdentity? {
        if let known = users.withLock({ $0[user] }) { return known }
        guard let found = UserIdentity(user) else { return nil }
        users.withLock { $0[user] = found }
        return found
    }

    /// Empties the cache.
    func forget() { users.withLock { $0 = [:] } }
}

/// A controller of cgroups (version 2), by its name in the kernel.
public enum CgroupController: String, Sendable, CaseIterable {
    case cpu, memory, pids
}

/// The limits for all processes of a run together (cgroup-v2.rst in the kernel's documentation).
public struct CgroupLimits: Hashable, Sendable {
    /// The memory in bytes; above it the kernel kills the run.
    public var memoryMax: Int?
    /// The number of processes and threads at the same time.
    public var tasksMax: Int?
    /// The share of the processor relative to other runs, 1 to 10000; the default is 100.
    public var processorWeight: Int?

    /// Joins the parts; `nil` means no limit.
    public init(memoryMax: Int? = nil, tasksMax: Int? = nil, processorWeight: Int? = nil) {
        self.memoryMax = memoryMax
        self.tasksMax = tasksMax
        self.processorWeight = processorWeight
    }

    /// The controllers that the limits need.
    public var controllers: [CgroupController] {
        (processorWeight == nil ? [] : [.cpu]) + (memoryMax == nil ? [] : [.memory]) + (tasksMax == nil ? [] : [.pids])
    }

    /// The values to write, in this order.
    var files: [(controller: CgroupController, name: String, text: String)] {
        var files: [(controller: CgroupController, name: String, text: String)] = []
        if let memoryMax {
            files.append((.memory, "memory.max", "\(memoryMax)"))
            // memory.oom.group: the kernel kills the whole run, because a part of it cannot do the work of the rest.
            files.append((.memory, "memory.oom.group", "1"))
        }
        if let tasksMax { files.append((.pids, "pids.max", "\(tasksMax)")) }
        if let processorWeight { files.append((.cpu, "cpu.weight", "\(processorWeight)")) }
        return files
    }
}
