import LinuxSystem
import PushSettings
import SettingsFiles
import SettingsSyntax

/// The directories of the configuration, and the state between its readings: at the start and at each reload.
struct Configuration: Sendable {
    let directories: [String]
    /// Whether the command line named the directory, so that no shipped file stands in for a missing one.
    let isRequired: Bool
    /// The rights of handlers in the service.
    let service: ServiceFacts
    /// Whether the last reading found files.
    private var hasFiles = false
    private var isLoaded = false

    init(directories: [String], isRequired: Bool, service: ServiceFacts) {
        self.directories = directories
        self.isRequired = isRequired
        self.service = service
    }

    /// Reads and validates all files. The shipped stand-in never replaces a configuration that had files: somebody has
    /// moved the files away, or has not put them back yet.
    ///
    /// A handler that the service's sandbox keeps from working is an error at a reload. At the start it is a warning,
    /// so that the other handlers start.
    ///
    /// - Returns: the settings, and the warnings about them.
    /// - Throws: `StartFailure` with a line for each error, and the warnings.
    mutating func load() throws(StartFailure) -> (settings: Settings, warnings: [String]) {
        let loaded = try LoadedConfiguration(reading: directories, required: isRequired)
        guard !(hasFiles && loaded.sources.isStandIn) else {
            throw StartFailure(
                "\(directories.joined(separator: ", ")): the configuration files are gone; put them back, or restart "
                    + "pushrouterd to use the shipped handlers and route",
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

/// Reads the configuration again, on its own thread: hundreds of files, or a slow user directory, take longer than a
/// turn of the loop may.
final class ConfigurationReader: Sendable {
    /// The result of a reading.
    typealias Reading = Result<(settings: Settings, warnings: [String]), StartFailure>

    private let thread: JobThread<Void>

    /// - Parameters:
    ///   - configuration: the last one that was read.
    ///   - onRead: gets the result of each reading, on the thread `configuration`.
    init(
        _ configuration: Configuration,
        onRead: @escaping @Sendable (Reading) -> Void
    ) {
        thread = JobThread("configuration") {
            var configuration = configuration
            return { _ in onRead(Result { () throws(StartFailure) in try configuration.load() }) }
        }
    }

    /// Asks the thread for another reading.
    ///
    /// - Throws: when the system can start no thread.
    func read() throws(SystemError) { try thread.submit(()) }

    /// Ends the thread without waiting for it: it may hang in a directory, and it holds nothing that the daemon still
    /// needs.
    func leave() { thread.leave() }
}
