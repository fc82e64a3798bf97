public import PushModel
public import PushSettings

/// A configuration that was read and is valid.
public struct LoadedConfiguration {
    /// Its settings.
    public var settings: Settings
    /// The files that it was read from.
    public var sources: ConfigurationSources
    /// Its warnings.
    public var warnings: [Diagnostic]

    /// Reads and validates everything.
    ///
    /// - Parameters:
    ///   - directories: the strongest first.
    ///   - isRequired: whether the first directory was given by name, and so must exist.
    ///   - mainOnly: whether only `pushrouterd.conf` and its drop-ins are validated.
    /// - Throws: `StartFailure` with a line for each error, and the warnings.
    public init(
        reading directories: [String], required isRequired: Bool, mainOnly: Bool = false
    ) throws(StartFailure) {
        do {
            sources = try ConfigurationSources(reading: directories, required: isRequired)
        } catch {
            throw StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.configuration)
        }
        let (settings, diagnostics) = Settings.load(
            mainOnly ? ConfigurationSources(main: sources.main) : sources)
        guard let settings else {
            throw StartFailure(
                lines: diagnostics.filter { $0.severity == .error }.map(\.description),
                warnings: diagnostics.filter { $0.severity != .error }.map(\.description),
                exitStatus: StartFailure.configuration)
        }
        self.settings = settings
        warnings = diagnostics
    }
}
