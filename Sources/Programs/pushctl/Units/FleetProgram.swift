import Glibc
import PushSettings
import SettingsFiles

/// The program that has libpq, which this one has not.
enum FleetProgram {
    /// Its name, and that of its package.
    static let name = "pushrouterd-fleet"

    /// Its path; `nil`: it is not installed.
    static var path: String? { BridgeFile.places(of: name).first { access($0, X_OK) == 0 } }
}

extension Session {
    /// Runs the program for the configuration of this session.
    ///
    /// - Returns: how it ended, and what it said; `nil`: it could not be run.
    func ask(fleetProgram path: String, _ words: String...) -> (status: Int32, text: String)? {
        var words = ["timeout", "20", path] + words
        if requiresConfiguration, let directory = directories.configuration.first { words += ["--config", directory] }
        return ShellCommand.output(of: words.map(ShellCommand.quoted).joined(separator: " ") + " 2>&1")
    }
}
