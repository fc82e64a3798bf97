import Glibc
import HTTPClient
import LinuxSystem
import PushSettings

@main
struct Program {
    private static let service = ServiceProgram(
        "pushrouter-http", help: help, directories: ["--config", "--kept"], flags: ["--check", "--child"])

    static func main() { service.main(run) }

    private static func run(_ arguments: ServiceArguments) throws -> Int32 {
        let configuration = Configuration(
            directories: service.directories(arguments).configuration,
            isRequired: arguments.values["--config"] != nil,
            kept: arguments.values["--kept"].map(ConfigurationKeeper.init(state:)),
            credentials: ServiceProgram.environment("CREDENTIALS_DIRECTORY"))
        if arguments.flags.contains("--check") {
            _ = try configuration.load()
            return 0
        }
        let (endpoints, errors) = configuration.start()
        // Before a secret is read, so that no core file contains it.
        guard SecretProcess.forbidCores() else { throw StartFailure.system("forbid cores of this process") }
        let isChild = arguments.flags.contains("--child")
        let entrance = try entrance(isChild: isChild)
        // The parent of a child logs the child's standard error to the journal.
        return try service.run(logsToStandardError: isChild) { loop, log in
            for line in errors { log(JournalEntry(.error, line)) }
            return try Service(
                loop: loop, configuration: configuration, endpoints: endpoints, entrance: entrance, log: log)
        }
    }

    /// The source of the daemon's connections.
    private static func entrance(isChild: Bool) throws -> Entrance {
        if isChild { return .handedOver(socket: try SharedDescriptor(copying: STDIN_FILENO)) }
        guard let socket = try InheritedSockets.takeSingle() else {
            throw StartFailure(
                "there is no socket: start it by its socket unit (systemctl start pushrouter-http.socket); as a child of "
                    + "pushrouterd it has --child", exitStatus: StartFailure.usage)
        }
        return .listening(try Listener(inherited: socket))
    }

    private static let help = """
        usage: pushrouter-http [--config DIR] [--child] [--kept DIR] [--check]

        Sends the requests of pushrouterd's http handlers. pushrouterd starts it by itself
        when an http handler is needed; or it is a service with its own user, network and
        credentials, and pushrouterd reaches it by the socket that HTTPSocket= in [Daemon]
        of pushrouterd.conf names. Runs in the foreground.

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --child         take connections from the process that has the other end of
                          standard input, as pushrouterd does; else the socket comes
                          from the service manager (systemd.socket(5))
          --kept DIR      use the configuration in force that pushrouterd keeps in its
                          state directory DIR, as its child does; without one, the files
          --check         check what a reload reads: exit 0, or as a start that fails
          --help          print this
          --version       print the version

        Where to post, and how, is in the files handlers.d/*.handler with Type=http. They
        are read again on SIGHUP, and for each new connection of pushrouterd. Secrets are
        systemd credentials or files that only their owner can read. They are read from
        neither the environment nor the command line.

        On SIGTERM it waits for the answers to requests under way, and exits 0.

        Exit status: 0 stopped by a signal or by the end of its input, 2 usage, 71 the
        system refused something. A mistake in a file leaves out that file.
        """
}
