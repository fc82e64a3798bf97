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
        let loaded = try LoadedConfiguration(reading: directories, required: isRequired, tellsWarnings: true)
        let warnings =
            loaded.warnings + loaded.sources.systemWarnings(of: loaded.settings, directories: directories)
        return (loaded.settings, warnings.map(\.description))
    }
}
