import HTTPClient
import LinuxSystem
import PushSettings

@main
struct Program {
    static let service = ServiceProgram(
        "pushrouter-forward", help: help, directories: ["--config", "--runtime"], flags: ["--check", "--dry-run"])

    static func main() { service.main(run) }

    private static func run(_ arguments: ServiceArguments) throws -> Int32 {
        let directories = service.directories(arguments)
        let configuration = Configuration(
            directories: directories.configuration, isRequired: arguments.values["--config"] != nil,
            credentials: ServiceProgram.environment("CREDENTIALS_DIRECTORY"))
        let settings = try configuration.load()
        if arguments.flags.contains("--dry-run") {
            try dryRun(settings, controlSocket: directories.controlSocket)
            return 0
        }
        // Before the key is read, so that no core file contains it.
        guard SecretProcess.forbidCores() else { throw StartFailure.system("forbid cores of this process") }
        let isCheck = arguments.flags.contains("--check")
        let destination = try configuration.destination(settings, isCheck: isCheck)
        return try service.run(isCheck: isCheck) { loop, log in
            try Service(
                loop: loop, configuration: configuration, settings: settings, destination: destination,
                controlSocket: directories.controlSocket, log: log)
        }
    }

    private static let help = """
        usage: pushrouter-forward [--config DIR] [--runtime DIR] [--check] [--dry-run]

        Sends the custom events and attributes that pushrouterd has queued to the
        /users/track endpoint that [UsersTrack] in pushrouterd.conf names. Asks the
        daemon for them over control.sock and reports their results to it. Runs in the
        foreground, for a service manager.

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --runtime DIR   find the daemon's control.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --check         check what a reload reads: exit 0, or as a start that fails
          --dry-run       print the requests that would send what is queued now, without
                          the API key; send nothing, change nothing
          --help          print this
          --version       print the version

        The API key is the systemd credential users-track-key, or the file that KeyFile=
        in [UsersTrack] names and only its owner can read. It is read from neither the
        environment nor the command line.

        On SIGTERM it waits for the answers to requests under way, gives the other
        entries back to the daemon, and exits 0. On SIGHUP it reads configuration and
        KeyFile= again, and sends again if a refusal of the endpoint had stopped it. A
        credential is a copy of the start: only a restart takes a new one.

        Exit status: 0 stopped by a signal, 2 usage, 69 the daemon cannot be reached and
        results could not be reported, 71 the system refused something, 77 the key may be
        read by others, 78 the configuration is wrong or the key is missing.
        """
}
