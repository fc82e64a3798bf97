import PushSettings
import SettingsFiles

/// Where the configuration is, and how it is read: at the start and at each reload.
struct Configuration {
    var directories: [String]
    /// Whether the directory was asked for by name, and so must exist.
    var isRequired: Bool

    /// Reads and validates everything.
    ///
    /// - Returns: the settings, and what is to be said about them.
    /// - Throws: `StartFailure` with a line for each thing that is wrong.
    func load() throws(StartFailure) -> (settings: Settings, warnings: [String]) {
        let sources: ConfigurationSources
        do {
            sources = try ConfigurationSources(reading: directories, required: isRequired)
        } catch {
            throw StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.configuration)
        }
        let (settings, diagnostics) = Settings.load(sources)
        guard let settings else {
            throw StartFailure(lines: diagnostics.map(\.description), exitStatus: StartFailure.configuration)
        }
        let warnings = diagnostics + sources.systemWarnings(of: settings, directories: directories)
        return (settings, warnings.map(\.description))
    }
}
