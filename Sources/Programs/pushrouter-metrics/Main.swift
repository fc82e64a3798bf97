import DaemonClient
import EventLoop
import Glibc
import HTTPServer
import JournalLog
import LinuxSystem
import PushModel
import PushSettings
import SettingsFiles

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouter-metrics \(pushrouterdVersion)")
        case .wrong(let message): endWithUsage(message)
        case .run(let arguments):
            do throws(StartFailure) {
                exit(try run(arguments))
            } catch {
                complain(error.lines, as: programName)
                exit(error.exitStatus)
            }
        }
    }

    private static func endWithUsage(_ message: String) -> Never {
        complain([message, "see pushrouter-metrics --help"], as: programName)
        exit(2)
    }

    private static func run(_ arguments: Arguments) throws(StartFailure) -> Int32 {
        StandardDescriptors.open()
        let directories = Directories(
            runtime: arguments.runtime, environment: { getenv($0).map { String(cString: $0) } })
        // Before any thread exists: each inherits the mask, and only the loop takes signals.
        SignalSource.block([SIGTERM, SIGINT])
        signal(SIGPIPE, SIG_IGN)
        let source = DaemonSource(socket: directories.readSocket)
        var status: [String] = []
        do {
            let journal = try JournalWriter()
            // A stalled journal must not keep the program from ending.
            defer { journal.stop(timeoutMilliseconds: 2000) }
            let answers = ProblemLog(end: "the daemon answers again") { journal.log($0) }
            let pages = Pages(
                metrics: { (format) throws(DaemonError) in try source.metrics(format) },
                problem: { () throws(DaemonError) in try source.problem() }, note: { answers.note($0) })
            let server = try server(arguments, pages, &status) { journal.log($0) }
            if let path = arguments.textFile { status.append("writes \(path) every \(arguments.interval) s") }
            let service = try Service(
                source: source, server: server, file: arguments.textFile.map(TextFile.init),
                interval: .seconds(arguments.interval), status: status.joined(separator: ", "),
                log: { journal.log($0) })
            let code = try service.run()
            withExtendedLifetime(service) {}
            return code
        } catch let error as SurplusSockets {
            throw StartFailure(error.description, exitStatus: 2)
        } catch let error as ListenError {
            throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.system)
        }
    }

    /// The server; `nil` where nothing is to be served.
    private static func server(
        _ arguments: Arguments, _ pages: Pages, _ status: inout [String], log: (JournalEntry) -> Void
    ) throws -> HTTPServer? {
        let inherited = try InheritedSockets.takeOne()
        if let inherited {
            guard arguments.address == nil else {
                endWithUsage("the service manager gave a socket: leave --listen out, or the socket unit")
            }
            let socket = try ListeningSocket(inherited: inherited)
            status.append("serves port \(socket.port)")
            return try HTTPServer(listeningOn: socket) { pages.answer($0) }
        }
        guard let address = arguments.address ?? (arguments.textFile == nil ? defaultAddress : nil) else { return nil }
        let socket = try ListeningSocket(address)
        if !address.isLoopback {
            let warning = "\(address) may be reached from other machines: whoever reaches it sees the metrics"
            log(JournalEntry(.warning, warning))
        }
        status.append("serves \(address), port \(socket.port)")
        return try HTTPServer(listeningOn: socket) { pages.answer($0) }
    }

    private static var defaultAddress: ListenAddress? { ListenAddress(Arguments.defaultAddress) }
}

/// The program's name, for messages.
let programName = "pushrouter-metrics"
