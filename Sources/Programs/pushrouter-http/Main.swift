import EventLoop
import Glibc
import HTTPSending
import JournalLog
import LinuxSystem
import PushModel
import PushSettings
import SettingsFiles
import UnixSockets

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouter-http \(pushrouterdVersion)")
        case .wrong(let message):
            complain([message, "see pushrouter-http --help"], as: programName)
            exit(2)
        case .run(let arguments):
            do throws(StartFailure) {
                exit(try run(arguments))
            } catch {
                complain(error.lines, as: programName)
                exit(error.exitStatus)
            }
        }
    }

    private static func run(_ arguments: ServiceArguments) throws(StartFailure) -> Int32 {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let directories = Directories(configuration: arguments.values["--config"], environment: environment)
        let configuration = Configuration(
            directories: directories.configuration, isRequired: arguments.values["--config"] != nil,
            credentials: environment("CREDENTIALS_DIRECTORY"))
        let endpoints = try configuration.load()
        // Before a secret is read.
        guard SecretProcess.forbidCores() else { throw StartFailure.system("forbid cores of this process") }
        // Before any thread exists: each inherits the mask, and only the loop takes signals.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        do {
            let isChild = arguments.flags.contains("--child")
            let entrance = try entrance(isChild: isChild)
            // Whoever started it has its standard error in a journal.
            guard !isChild else {
                return try run(configuration, endpoints, entrance) { complain([$0.message], as: programName) }
            }
            let journal = try JournalWriter()
            // A stalled journal must not keep the program from ending.
            defer { journal.stop(timeoutMilliseconds: 2000) }
            return try run(configuration, endpoints, entrance) { journal.log($0) }
        } catch let error as StartFailure {
            throw error
        } catch let error as SurplusSockets {
            throw StartFailure(error.description, exitStatus: 2)
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.system)
        }
    }

    private static func run(
        _ configuration: Configuration, _ endpoints: [String: ConfiguredEndpoint], _ entrance: Entrance,
        log: @escaping (JournalEntry) -> Void
    ) throws -> Int32 {
        let service = try Service(configuration: configuration, endpoints: endpoints, entrance: entrance, log: log)
        let status = try service.run()
        withExtendedLifetime(service) {}
        return status
    }

    /// Where connections come from.
    private static func entrance(isChild: Bool) throws -> Entrance {
        if isChild { return .handedOver(socket: try SharedDescriptor(copying: STDIN_FILENO)) }
        guard let socket = try InheritedSockets.takeOne() else {
            throw StartFailure(
                "there is no socket: start it by its socket unit (systemctl start pushrouter-http.socket); as a child of "
                    + "pushrouterd it has --child", exitStatus: 2)
        }
        return .listening(try Listener(inherited: socket))
    }
}

/// The program's name, for messages.
let programName = "pushrouter-http"
