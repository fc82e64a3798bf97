import SettingsFiles

/// The command line.
enum Arguments {
    static let help = """
        usage: pushrouter-forward [--config DIR] [--runtime DIR] [--dry-run]

        Sends the custom events and attributes that pushrouterd has queued to the
        /users/track endpoint that [UsersTrack] in pushrouterd.conf names. Asks the
        daemon for them over control.sock and tells it what became of each. Runs in the
        foreground, as a service manager wants it.

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --runtime DIR   find the daemon's control.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --dry-run       print the requests that would send what is queued now, without
                          the API key; send nothing, change nothing
          --help          print this
          --version       print the version

        The API key is the systemd credential users-track-key, or the file that KeyFile=
        in [UsersTrack] names, which nobody but its owner may read. It is taken from
        neither the environment nor the command line.

        SIGTERM waits for the answers to what is under way, gives the rest back to the
        daemon, exits 0. SIGHUP reads configuration and key again, and sends again if
        the endpoint's refusal had stopped it.

        Exit status: 0 stopped as told, 2 usage, 69 the daemon is away and could not be
        told what became of entries, 71 the system refused something, 77 the key may be
        read by others, 78 the configuration is wrong or the key is missing.
        """

    static func parse(_ words: some Sequence<String>) -> ServiceArguments.Request {
        ServiceArguments.parse(words, options: ["--config", "--runtime"], flags: ["--dry-run"])
    }
}
