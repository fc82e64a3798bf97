import HandlerProcess

/// The means by which the daemon finds all processes of a run, to end them.
enum Containment: Sendable {
    /// Each run has a cgroup of its own.
    case cgroups(RunCgroups)
    /// Runs have a process group, adoption by a subreaper, and a mark in the environment; the reason says why not a
    /// cgroup.
    case processGroups(reason: String)

    /// Returns cgroups if this process can have them, otherwise process groups. With cgroups this process moves within
    /// them.
    static func available() -> Containment {
        do {
            return .cgroups(try RunCgroups.takeOver())
        } catch {
            return .processGroups(reason: error.description)
        }
    }

    /// The cgroups of the runs; `nil` with process groups.
    var cgroups: RunCgroups? {
        switch self {
        case .cgroups(let cgroups): cgroups
        case .processGroups: nil
        }
    }

    /// The name in the status.
    var name: String {
        switch self {
        case .cgroups: "cgroups"
        case .processGroups: "process_groups"
        }
    }

    /// Why the runs have no cgroups.
    var reason: String? {
        switch self {
        case .cgroups: nil
        case .processGroups(let reason): reason
        }
    }
}
