import TestSupport

/// A running daemon with the command line that talks to it.
struct TestDaemon {
    let installation: Installation
    let process: DaemonProcess

    init(_ installation: Installation = Installation()) throws {
        self.installation = installation
        process = try DaemonProcess.ready(installation)
    }

    /// The directories as options of either program.
    var options: [String] {
        ["--config", installation.configuration, "--state", installation.state, "--runtime", installation.runtime]
    }

    /// Runs pushctl with the daemon's directories.
    func pushctl(_ arguments: String..., input: String = "") -> Program.Result {
        pushctl(arguments, input: input)
    }

    /// Runs pushctl with the options of this daemon.
    func pushctl(_ arguments: [String], input: String = "") -> Program.Result {
        EndToEndTests.pushctl.run(options + arguments, input: Array(input.utf8))
    }
}
