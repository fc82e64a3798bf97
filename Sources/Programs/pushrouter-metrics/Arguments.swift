import HTTPServer
import SettingsFiles

/// The command line.
struct Arguments: Equatable {
    /// What the command line asks for.
    enum Request: Equatable {
        case run(Arguments)
        case help
        case version
        /// The command line is wrong: why.
        case wrong(String)
    }

    /// Where the daemon's sockets are; `nil`: where they are by default.
    var runtime: String?
    /// Where HTTP is served; `nil`: not said.
    var address: ListenAddress?
    /// The file that is written for a node exporter.
    var textFile: String?
    /// How often it is written, in seconds.
    var interval: Int64 = 15

    /// Where HTTP is served if nothing is said.
    static let defaultAddress = "127.0.0.1:9771"

    static let help = """
        usage: pushrouter-metrics [--runtime DIR] [--listen ADDRESS:PORT]
                                  [--textfile PATH [--interval SECONDS]]

        Serves the metrics of pushrouterd over HTTP: /metrics for Prometheus, as OpenMetrics
        or in its older text format, as the client prefers, and /healthz. Asks the daemon
        for them over read.sock, for each request anew. Runs in the foreground.

          --listen ADDRESS:PORT
                          serve on this numeric address, such as [::1]:9771
                          (default: \(defaultAddress)); whoever can reach it can read the
                          metrics. With a socket of the service manager
                          (systemd.socket(5)) leave it out
          --textfile PATH write the metrics to this file, for the textfile collector of
                          Prometheus' node exporter: the name is to end in .prom. The file
                          is replaced as a whole. Without --listen or a socket of the
                          service manager nothing is served then
          --interval SECONDS
                          how often the file is written, from 1 to 3600 (default: 15)
          --runtime DIR   find the daemon's read.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --help          print this
          --version       print the version

        While the daemon does not answer, /metrics has pushrouterd_up 0 and nothing else,
        and /healthz has the status 503.

        Exit status: 0 stopped by a signal, 2 usage, 71 the system refused something,
        73 the address cannot be listened on.
        """

    static func parse(_ words: some Sequence<String>) -> Request {
        let others: Set = ["--listen", "--textfile", "--interval"]
        switch ServiceArguments.parse(words, directories: ["--runtime"], others: others) {
        case .help: return .help
        case .version: return .version
        case .wrong(let message): return .wrong(message)
        case .run(let given):
            var arguments = Arguments()
            for (option, value) in given.values.sorted(by: { $0.key < $1.key }) {
                if let wrong = arguments.set(option, value) { return .wrong(wrong) }
            }
            return .run(arguments)
        }
    }

    /// - Returns: what is wrong with the value.
    private mutating func set(_ option: String, _ value: String) -> String? {
        switch option {
        case "--runtime": runtime = value
        case "--textfile": textFile = value
        case "--interval":
            guard let seconds = Int64(value), (1...3600).contains(seconds) else {
                return "--interval is a number of seconds from 1 to 3600, not \(value)"
            }
            interval = seconds
        default:
            guard let address = ListenAddress(value) else {
                return "--listen is a numeric address and a port, such as \(Self.defaultAddress) or [::1]:9771, "
                    + "not \(value)"
            }
            self.address = address
        }
        return nil
    }
}
