import LinuxSystem
import PushDaemon

@main
struct Program {
    private static let service = ServiceProgram(
        "pushrouterd", help: help, directories: ["--config", "--state", "--runtime"])

    static func main() {
        service.main { arguments in
            try runDaemon(
                DaemonOptions(
                    directories: service.directories(arguments),
                    isConfigurationRequired: arguments.values["--config"] != nil))
        }
    }

    private static let help = """
        usage: pushrouterd [--config DIR] [--state DIR] [--runtime DIR]

        Routes push payloads: decides which platform callbacks run and whose payload it
        is, hands Braze payloads to the tracker of opens and all others to handlers, with
        a deadline of 9 seconds. Runs in the foreground, for a service manager.

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --state DIR     keep the ledger in DIR
                          (default: $STATE_DIRECTORY or /var/lib/pushrouterd)
          --runtime DIR   make inject.sock, control.sock and read.sock in DIR, where
                          the service manager does not hand them over
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --help          print this
          --version       print the version

        On SIGTERM the daemon closes its sockets, lets running handlers finish, keeps the
        other requests, and exits 0. On SIGHUP it reads the configuration again. If that has
        an error, at a start too, the last good one stays in force.

        Exit status: 0 stopped by a signal, 2 usage, 69 another daemon has the state
        directory, 71 the system refused something, 73 a socket cannot be made, 74 the
        ledger cannot be read or written (or stopped while the disk was full), 78 the
        configuration is wrong, and no earlier one was good.

        pushctl(1) injects payloads and shows their outcomes.
        """
}
