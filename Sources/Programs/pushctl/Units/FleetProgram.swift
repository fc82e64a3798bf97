import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

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
    /// - Parameters:
    ///   - account: the user that root runs it as; `nil`: this one.
    ///   - words: the options.
    /// - Returns: how it ended, and what it said; `nil`: it could not be run.
    func ask(
        fleetProgram path: String, as account: UserAccount? = nil, _ words: String...
    ) -> (status: Int32, text: String)? {
        var words = ["timeout", "20"] + Self.switching(to: account) + [path] + words
        if requiresConfiguration, let directory = directories.configuration.first { words += ["--config", directory] }
        return ShellCommand.output(of: words.map(\.asShellWord).joined(separator: " ") + " 2>&1")
    }

    /// The words before a command that root runs as another user; none where they are not needed.
    private static func switching(to account: UserAccount?) -> [String] {
        let program = "/usr/bin/setpriv"
        guard let account, account.user != 0, geteuid() == 0, access(program, X_OK) == 0 else { return [] }
        let groups = account.groups.map { "\($0)" }
        // The user cannot read root's home directory, and libpq looks for certificates in $HOME.
        return [
            "env", "-u", "HOME", program, "--reuid=\(account.user)", "--regid=\(groups.first ?? "\(account.user)")",
            groups.isEmpty ? "--clear-groups" : "--groups=\(groups.joined(separator: ","))",
        ]
    }
}
