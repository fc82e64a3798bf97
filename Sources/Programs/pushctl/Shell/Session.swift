import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The environment of a command: its directories and its output.
struct Session {
    let directories: Directories
    /// Whether the command line named the configuration directory, so that it must exist.
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

    /// The configuration, for commands that decide by it like the daemon.
    ///
    /// - Throws: a failure with all errors. Only `verify` reports warnings.
    func settings() throws(Failure) -> Settings {
        try settings(directories.configuration, required: requiresConfiguration)
    }

    /// The configuration in one directory.
    ///
    /// - Throws: a failure with all errors.
    func settings(in directory: String) throws(Failure) -> Settings {
        try settings([directory], required: true)
    }

    /// Asks whether to delete data for good: the user must type the number of items.
    ///
    /// - Parameters:
    ///   - count: the number of items, with `noun` and `plural` as in ``counted(_:_:_:)``.
    ///   - verb: the past participle for the message: `erased`.
    /// - Returns: whether the user typed the number.
    func confirms(_ count: Int, _ noun: String, _ plural: String, are verb: String) -> Bool {
        output.note(
            "\(counted(count, noun, plural)) would be \(verb) permanently; type that number to go on, or use --yes")
        return readLine() == "\(count)"
    }

    /// The command of a bridge's program, as the daemon starts it; `nil`: the program is not installed.
    func bridgeCommand(_ bridge: Bridge) -> Handler.Command? {
        BridgeFile.command(
            of: bridge, configuration: directories.configuration, isRequired: requiresConfiguration, kept: nil)
    }

    private func settings(_ directories: [String], required isRequired: Bool) throws(Failure) -> Settings {
        do {
            return try LoadedConfiguration(reading: directories, required: isRequired).settings
        } catch {
            throw Failure(.configuration, error.lines.joined(separator: "\n"))
        }
    }
}
