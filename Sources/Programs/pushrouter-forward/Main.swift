import EventLoop
import Glibc
import HTTPSending
import JournalLog
import PushModel
import PushSettings
import SettingsFiles

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouter-forward \(pushrouterdVersion)")
        case .wrong(let message):
            complain([message, "see pushrouter-forward --help"], as: programName)
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
        let directories = Directories(
            configuration: arguments.values["--config"], runtime: arguments.values["--runtime"],
            environment: environment)
        let configuration = Configuration(
            directories: directories.configuration, isRequired: arguments.values["--config"] != nil,
            credentials: environment("CREDENTIALS_DIRECTORY"))
        let settings = try configuration.load()
        if arguments.flags.contains("--dry-run") {
            try dryRun(settings, controlSocket: directories.controlSocket)
            return 0
        }
        // Before the key is read.
        guard SecretProcess.forbidCores() else { throw StartFailure.system("forbid cores of this process") }
        // Before any thread exists: each inherits the mask, and only the loop takes signals.
        SignalSource.block([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        let destination = try configuration.destination(settings)
        do {
            let journal = try JournalWriter()
            // A stalled journal must not keep the program from ending.
            defer { journal.stop(timeoutMilliseconds: 2000) }
            let service = try Service(
                configuration: configuration, settings: settings, destination: destination,
                controlSocket: directories.controlSocket, journal: journal)
            let status = try service.run()
            withExtendedLifetime(service) {}
            return status
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.system)
        }
    }
}

/// The program's name, for messages.
let programName = "pushrouter-forward"
