import LinuxSystem
import PushSettings
import SettingsFiles
import SettingsSyntax

/// Where the configuration is, and how it is read: at the start and at each reload.
struct Configuration: Sendable {
    let directories: [String]
    /// Whether the directory was asked for by name, so that nothing stands in for what it lacks.
    let isRequired: Bool
    /// The rights of handlers in the service.
    let service: ServiceFacts
    /// Whether what was read last had files.
    private var hasFiles = false
    private var isLoaded = false

    init(directories: [String], isRequired: Bool, service: ServiceFacts) {
        self.directories = directories
        self.isRequired = isRequired
        self.service = service
    }

    /// Reads and validates everything. What stands in where nothing is installed does not replace what was there before: then
    /// somebody has moved it away, or not put it back yet.
    ///
    /// A handler that the service keeps from working is an error at a reload. At the start it is a warning: the other handlers
    /// are not to wait for it.
    ///
    /// - Returns: the settings, and what is to be said about them.
    /// - Throws: `StartFailure` with a line for each thing that is wrong, and the warnings.
    mutating func load() throws(StartFailure) -> (settings: Settings, warnings: [String]) {
        let loaded = try LoadedConfiguration(reading: directories, required: isRequired)
        guard !(hasFiles && loaded.sources.isStandIn) else {
            throw StartFailure(
                "\(directories.joined(separator: ", ")): the configuration is gone, which had files before; put it back, or "
                    + "restart pushrouterd to go on with the shipped handlers and route",
                exitStatus: StartFailure.configuration)
        }
        let findings =
            loaded.warnings
            + loaded.sources.systemFindings(of: loaded.settings, directories: directories, in: service)
        let errors = findings.filter { $0.severity == .error }
        guard !isLoaded || errors.isEmpty else {
            throw StartFailure(
                lines: errors.map(\.description),
                warnings: findings.filter { $0.severity != .error }.map(\.description),
                exitStatus: StartFailure.configuration)
        }
        hasFiles = !loaded.sources.isStandIn
        isLoaded = true
        return (loaded.settings, findings.map(\.description))
    }
}

/// Reads the configuration again, on a thread of its own: with hundreds of files, or a slow directory of users, that takes
/// longer than a turn of the loop may.
final class ConfigurationReader: Sendable {
    /// What a reading found.
    typealias Reading = Result<(settings: Settings, warnings: [String]), StartFailure>

    private let thread: JobThread<Void>

    /// - Parameters:
    ///   - configuration: as it was read last.
    ///   - onRead: gets what each reading found, on another thread.
    init(
        _ configuration: Configuration,
        onRead: @escaping @Sendable (Reading) -> Void
    ) {
        thread = JobThread("configuration") {
            var configuration = configuration
            return { _ in onRead(Result { () throws(StartFailure) in try configuration.load() }) }
        }
    }

    /// Has it read once more.
    ///
    /// - Throws: when the system has no thread left.
    func read() throws(SystemError) { try thread.submit(()) }

    /// Ends the thread, without waiting for it: a directory that hangs has nothing that is needed any more.
    func leave() { thread.leave() }
}
