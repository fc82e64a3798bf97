import Glibc
import PushModel
import PushRouting
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
        try settings(directories.configuration, required: requiresConfiguration)
    }

    /// The configuration in one directory.
    ///
    /// - Throws: what is wrong with it.
    func settings(in directory: String) throws(Failure) -> Settings {
        try settings([directory], required: true)
    }

    /// Asks whether what cannot be had back may go: who types how many it is means it.
    ///
    /// - Parameters:
    ///   - count: how many of `noun`, as ``counted(_:_:_:)`` says it.
    ///   - verb: what is done with them: `erased`.
    /// - Returns: whether that number was typed.
    func confirms(_ count: Int, _ noun: String, _ plural: String, are verb: String) -> Bool {
        output.note(
            "\(counted(count, noun, plural)) would be \(verb), for good; type that number to go on, or use --yes")
        return readLine() == "\(count)"
    }

    /// The program of a bridge, as the daemon would start it; `nil`: it is not installed.
    func bridgeCommand(_ bridge: Bridge) -> Handler.Command? {
        BridgeFile.command(of: bridge, configuration: directories.configuration, isRequired: requiresConfiguration)
    }

    private func settings(_ directories: [String], required isRequired: Bool) throws(Failure) -> Settings {
        do {
            return try LoadedConfiguration(reading: directories, required: isRequired).settings
        } catch {
            throw Failure(.configuration, error.lines.joined(separator: "\n"))
        }
    }
}
