import HandlerProcess
import LinuxSystem
import PushRouter

extension ProcessConfinement {
    /// Converts the confinement of a handler's file.
    init(_ confinement: Handler.Confinement) {
        self.init(
            user: confinement.user,
            hasNoNewPrivileges: confinement.noNewPrivileges ?? (confinement.user != nil),
            openFilesMax: confinement.openFilesMax, niceness: confinement.niceness,
            cgroup: CgroupLimits(
                memoryMax: confinement.memoryMax, tasksMax: confinement.tasksMax,
                processorWeight: confinement.processorWeight))
    }
}

extension CgroupController {
    /// The setting of a handler's file that needs it.
    fileprivate var key: String {
        switch self {
        case .cpu: "CPUWeight="
        case .memory: "MemoryMax="
        case .pids: "TasksMax="
        }
    }
}

/// Enables the controllers that the handlers of a configuration need, and logs the settings that have no effect here.
///
/// - Parameters:
///   - handlers: all handlers.
///   - cgroups: the cgroups of runs; `nil` if there are none.
///   - log: takes a warning for each such handler.
func prepareConfinement(
    of handlers: some Collection<Handler>, in cgroups: RunCgroups?, log: (JournalEntry) -> Void
) {
    let confined = handlers.compactMap { handler in
        (handler.kind.command?.confinement).map { (handler, ProcessConfinement($0)) }
    }
    let wanted = Set(confined.flatMap(\.1.cgroup.controllers))
    // Removes the cgroups kept for handlers that no longer exist.
    cgroups?.removeFree()
    let missing = Set(cgroups.map { $0.enable(wanted) } ?? Array(wanted))
    let reason = cgroups == nil ? "runs have no cgroups" : "the service's cgroup lacks the controller"
    for (handler, confinement) in confined.sorted(by: { $0.0.name < $1.0.name }) {
        let keys = confinement.cgroup.controllers.filter(missing.contains).map(\.key)
        if !keys.isEmpty {
            let message = "handler \(handler.name): \(keys.joined(separator: ", ")) has no effect: \(reason)"
            log(JournalEntry(.warning, message, fields: [.init(.handler, handler.name)]))
        }
    }
}
