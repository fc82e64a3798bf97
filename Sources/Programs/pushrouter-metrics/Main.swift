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
