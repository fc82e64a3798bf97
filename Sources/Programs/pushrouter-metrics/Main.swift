import HTTPServer
import LinuxSystem
import PushModel
import PushSettings

@main
struct Program {
    static let service = ServiceProgram(
        "pushrouter-metrics", help: Arguments.help, directories: ["--runtime"],
        others: ["--listen", "--textfile", "--interval"])

    static func main() { service.main(run) }

    private static func run(_ given: ServiceArguments) throws -> Int32 {
        let arguments = try Arguments(given)
        let source = DaemonSource(socket: service.directories(given).readSocket)
        return try service.run { loop, log in
            let answers = ProblemLog(end: "the daemon answers again", log: log)
            let pages = Pages(
                metrics: { (format) throws(DaemonError) in try source.metrics(format) },
                problem: { () throws(DaemonError) in try source.problem() },
                follows: { () throws(DaemonError) in try source.follows() }, note: { answers.note($0) })
            var status: [String] = []
            let server = try server(arguments, pages, &status, log: log)
            if let path = arguments.textFile { status.append("writes \(path) every \(arguments.interval) s") }
            return try Service(
                loop: loop, source: source, server: server, file: arguments.textFile.map(TextFile.init),
                interval: .seconds(arguments.interval), status: status.joined(separator: ", "), log: log)
        }
    }

    /// Makes the HTTP server; `nil` without an address or a socket.
    private static func server(
        _ arguments: Arguments, _ pages: Pages, _ status: inout [String], log: (JournalEntry) -> Void
    ) throws -> HTTPServer? {
        let inherited = try InheritedSockets.takeSingle()
        guard inherited == nil || arguments.address == nil else {
            throw service.usageFailure("the service manager gave a socket: remove --listen, or the socket unit")
        }
        let socket: ListeningSocket
        do {
            if let inherited {
                socket = try ListeningSocket(inherited: inherited)
                status.append("serves port \(socket.port)")
            } else {
                let standard = arguments.textFile == nil ? ListenAddress(Arguments.defaultAddress) : nil
                guard let address = arguments.address ?? standard else { return nil }
                socket = try ListeningSocket(address)
                status.append("serves \(address), port \(socket.port)")
                if !address.isLoopback {
                    let warning =
                        "\(address) can be reached from other machines: each client of the address sees the metrics"
                    log(JournalEntry(.warning, warning))
                }
            }
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
        }
        return try HTTPServer(listeningOn: socket) { pages.answer($0) }
    }
}

/// The command line.
struct Arguments: Equatable {
    /// The address of the HTTP server; `nil`: not given.
    var address: ListenAddress?
    /// The text file for a node exporter.
    var textFile: String?
    /// The time between two writes of the file, in seconds.
    var interval: Int64 = 15

    /// The default address of the HTTP server.
    static let defaultAddress = "127.0.0.1:9771"

    static let help = """
        usage: pushrouter-metrics [--runtime DIR] [--listen ADDRESS:PORT]
                                  [--textfile PATH [--interval SECONDS]]

        Serves the metrics of pushrouterd over HTTP: /metrics for Prometheus, as OpenMetrics
        or in its older text format, as the client prefers, /healthz and /leader. Asks the
        daemon for them over read.sock, for each request anew. Runs in the foreground.

          --listen ADDRESS:PORT
                          serve on this numeric address, such as [::1]:9771
                          (default: \(defaultAddress)); all who can reach it can read the
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
        and /healthz and /leader have the status 503.

        Exit status: 0 stopped by a signal, 2 usage, 71 the system refused something,
        73 it cannot listen on the address.
        """

    /// Parses the options.
    ///
    /// - Throws: the error of a value.
    init(_ given: ServiceArguments) throws(StartFailure) {
        let values = given.values
        textFile = values["--textfile"]
        if let text = values["--interval"] {
            guard let seconds = Int64(text), (1...3600).contains(seconds) else {
                throw Program.service.usageFailure("--interval is a number of seconds from 1 to 3600, not \(text)")
            }
            interval = seconds
        }
        if let text = values["--listen"] {
            guard let address = ListenAddress(text) else {
                throw Program.service.usageFailure(
                    "--listen is a numeric address and a port, such as \(Self.defaultAddress) or [::1]:9771, "
                        + "not \(text)")
            }
            self.address = address
        }
    }
}
