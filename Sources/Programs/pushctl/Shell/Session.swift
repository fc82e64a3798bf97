import Glibc
import PushSettings
import SettingsFiles

/// What a command works with: where things are, and where its output goes.
struct Session {
    let directories: Directories
    /// Whether the configuration was asked for by name, and so must exist.
    let requiresConfiguration: Bool
    let output: Output

    init(_ arguments: Arguments, output: Output) {
        directories = arguments.directories { name in getenv(name).map { String(cString: $0) } }
        requiresConfiguration = arguments.has(.configuration)
        self.output = output
    }

    /// The files of the configuration.
    func configurationSources() throws(UnreadableFile) -> ConfigurationSources {
        try ConfigurationSources(reading: directories.configuration, required: requiresConfiguration)
    }

    /// The configuration, for commands that decide by it as the daemon would.
    ///
    /// - Throws: what is wrong with it. Warnings are for `verify`.
    func settings() throws(Failure) -> Settings {
        try settings { () throws(UnreadableFile) in try configurationSources() }
    }

    /// The configuration in one directory.
    ///
    /// - Throws: what is wrong with it.
    func settings(in directory: String) throws(Failure) -> Settings {
        try settings { () throws(UnreadableFile) in try ConfigurationSources(reading: [directory], required: true) }
    }

    private func settings(_ read: () throws(UnreadableFile) -> ConfigurationSources) throws(Failure) -> Settings {
        let sources: ConfigurationSources
        do {
            sources = try read()
        } catch {
            throw Failure(.configuration, "cannot read the configuration: \(error)")
        }
        let (settings, diagnostics) = Settings.load(sources)
        guard let settings else {
            let errors = diagnostics.filter { $0.severity == .error }.map(\.description)
            throw Failure(.configuration, errors.joined(separator: "\n"))
        }
        return settings
    }
}
