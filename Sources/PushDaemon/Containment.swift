import HandlerProcess

/// How the processes of a run are kept together, so that all of them can be ended.
enum Containment: Sendable {
    /// Each run has a cgroup of its own.
    case cgroups(RunCgroups)
    /// By process group, by adoption and by the mark in the environment, for a reason.
    case processGroups(reason: String)

    /// The best that there is. Where there are cgroups this process moves within them.
    static func available() -> Containment {
        do {
            return .cgroups(try RunCgroups.takeOver())
        } catch {
            return .processGroups(reason: error.description)
        }
    }

    /// Where runs have their cgroups.
    var cgroups: RunCgroups? {
        switch self {
        case .cgroups(let cgroups): cgroups
        case .processGroups: nil
        }
    }

    /// The word for it in the status.
    var name: String {
        switch self {
        case .cgroups: "cgroups"
        case .processGroups: "process_groups"
        }
    }

    /// Why it is no better.
    var reason: String? {
        switch self {
        case .cgroups: nil
        case .processGroups(let reason): reason
        }
    }
}
