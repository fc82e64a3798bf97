import SettingsFiles

/// The command line.
enum Arguments {
    static let help = """
        usage: pushrouterd [--config DIR] [--state DIR] [--runtime DIR]

        Routes push payloads: decides which platform callback runs and whose payload it
        is, hands Braze payloads to the tracker of opens, all others to handlers, under
        a deadline of 9 seconds. Runs in the foreground, as a service manager wants it.

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --state DIR     keep the ledger in DIR
                          (default: $STATE_DIRECTORY or /var/lib/pushrouterd)
          --runtime DIR   make the sockets inject.sock and control.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --help          print this
          --version       print the version

        SIGTERM closes the sockets, finishes what runs, keeps the rest, exits 0. SIGHUP
        reads the configuration again; if it is wrong the last good one stays in force.

        Exit status: 0 stopped as told, 2 usage, 69 another daemon has the state
        directory, 71 the system refused something, 73 a socket cannot be made, 74 the
        ledger cannot be read or written (or stopped while the disk was full), 78 the
        configuration is wrong.

        pushctl(1) injects payloads and shows what became of them.
        """

    static func parse(_ words: some Sequence<String>) -> ServiceArguments.Request {
        ServiceArguments.parse(words, options: ["--config", "--state", "--runtime"])
    }
}
