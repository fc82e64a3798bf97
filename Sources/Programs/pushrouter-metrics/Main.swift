import HTTPServer
import LinuxSystem
import PushModel
import PushSettings

@main
struct Program {
    static let service = ServiceProgram(
        "pushrouter-metrics", help: Arguments.help, directories: ["--runtime"],
        others: ["--listen", "--textfile", "--interval", "--gateway", "--backups"])

    static func main() { service.main(run) }

    private static func run(_ given: ServiceArguments) throws -> Int32 {
        let arguments = try Arguments(given)
        let source = DaemonSource(socket: service.directories(given).readSocket)
        return try service.run { loop, log in
            let answers = ProblemLog(end: "the daemon answers again", log: log)
            let pages = Pages(
                metrics: { (format) throws(DaemonError) in try source.metrics(format) },
                others: { arguments.others.metrics(behind: $0, $1) },
                problem: { () throws(DaemonError) in try source.problem() },
                follows: { () throws(DaemonError) in try source.follows() }, note: { answers.note($0) })
            // The text file alone needs no address.
            let entrances = try Entrances(
                given.values["--listen"],
                Entrances.Rules(
                    program: "pushrouter-metrics",
                    standard: arguments.textFile == nil ? Arguments.defaultAddress : nil))
            if entrances.areOfOtherMachines {
                let warning = "other machines can reach it: each client of the address sees the metrics"
                log(JournalEntry(.warning, warning))
            }
            return try Service(
                loop: loop, source: source, others: arguments.others, pages: pages, entrances: entrances,
                file: arguments.textFile.map(TextFile.init), interval: .seconds(arguments.interval), log: log)
        }
    }
}

/// The command line.
struct Arguments: Sendable {
    /// The text file for a node exporter.
    var textFile: String?
    /// The time between two writes of the file, in seconds.
    var interval: Int64 = 15

    /// The programs beside the daemon.
    var others = OtherPrograms()

    /// The default address of the HTTP server.
    static let defaultAddress = "127.0.0.1:9771"

    static let help = """
        usage: pushrouter-metrics [--runtime DIR] [--listen ADDRESS:PORT|unix:PATH,...]
                                  [--textfile PATH [--interval SECONDS]]
                                  [--gateway PATH] [--backups DIR]

        Serves the metrics of pushrouterd over HTTP: /metrics for Prometheus, as OpenMetrics
        or in its older text format, as the client prefers, /healthz and /leader. Asks the
        daemon for them over read.sock, and the gateway over its Unix socket, for each
        request anew. Runs in the foreground.

          --listen ADDRESS:PORT|unix:PATH,...
                          serve there; an address is numeric, such as [::1]:9771
                          (default: \(defaultAddress)); all who can reach it can read the
                          metrics. With sockets of the service manager
                          (systemd.socket(5)) leave it out
          --textfile PATH write the metrics to this file, for the textfile collector of
                          Prometheus' node exporter: the name is to end in .prom. The file
                          is replaced as a whole. Without --listen or a socket of the
                          service manager nothing is served then
          --interval SECONDS
                          how often the file is written, from 1 to 3600 (default: 15)
          --runtime DIR   find the daemon's read.sock in DIR
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --gateway PATH  the gateway's Unix socket
                          (default: \(Directories.standardGatewaySocket))
          --backups DIR   the directory of backups with rotation
                          (default: \(Directories.standardBackups))
          --help          print this
          --version       print the version

        While the daemon does not answer, /metrics has pushrouterd_up 0 and none of its other
        metrics, and /healthz and /leader have the status 503.

        Exit status: 0 stopped by a signal, 2 usage, 71 the system refused something,
        73 it cannot listen on the address.
        """

    /// Parses the options.
    ///
    /// - Throws: the error of a value.
    init(_ given: ServiceArguments) throws(StartFailure) {
        let values = given.values
        textFile = values["--textfile"]
        if let path = values["--gateway"] { others.gatewaySocket = path }
        if let path = values["--backups"] { others.backups = path }
        if let text = values["--interval"] {
            guard let seconds = Int64(text), (1...3600).contains(seconds) else {
                throw Program.service.usageFailure("--interval is a number of seconds from 1 to 3600, not \(text)")
            }
            interval = seconds
        }
    }
}
