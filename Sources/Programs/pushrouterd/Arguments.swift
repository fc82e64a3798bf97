/// The command line.
struct Arguments: Equatable {
    var configuration: String?
    var state: String?
    var runtime: String?

    /// What the command line asks for.
    enum Request: Equatable {
        case run(Arguments)
        case help
        case version
        case wrong(String)
    }

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

    static func parse(_ words: some Sequence<String>) -> Request {
        var arguments = Arguments()
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target: WritableKeyPath<Arguments, String?>
            switch parts[0] {
            case "-h", "--help": return .help
            case "--version": return .version
            case "--config": target = \.configuration
            case "--state": target = \.state
            case "--runtime": target = \.runtime
            default: return .wrong("there is no \(word.hasPrefix("-") ? "option" : "operand") \(word)")
            }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                return .wrong("\(parts[0]) needs a directory")
            }
            arguments[keyPath: target] = value
        }
        return .run(arguments)
    }
}
