import SettingsFiles

/// The command line.
enum Arguments {
    static let help = """
        usage: pushrouter-http [--config DIR] [--child]

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
          --help          print this
          --version       print the version

        Where to post, and how, is in the files handlers.d/*.handler with Type=http. They
        are read again on SIGHUP, and for each new connection of pushrouterd. Secrets are
        systemd credentials or files that only their owner can read. They are read from
        neither the environment nor the command line.

        On SIGTERM it waits for the answers to requests under way, and exits 0.

        Exit status: 0 stopped by a signal or by the end of its input, 2 usage, 71 the
        system refused something, 78 the configuration is wrong.
        """

    static func parse(_ words: some Sequence<String>) -> ServiceArguments.Request {
        ServiceArguments.parse(words, directories: ["--config"], flags: ["--child"])
    }
}
