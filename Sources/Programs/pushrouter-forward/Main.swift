import CLinux
import EventLoop
import Glibc
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
            configuration: arguments.directories["--config"], runtime: arguments.directories["--runtime"],
            environment: environment)
        let configuration = Configuration(
            directories: directories.configuration, isRequired: arguments.directories["--config"] != nil,
            credentials: environment("CREDENTIALS_DIRECTORY"))
        let settings = try configuration.load()
        if arguments.flags.contains("--dry-run") {
            try dryRun(settings, controlSocket: directories.controlSocket)
            return 0
        }
        // Before the key is read.
        try forbidCores()
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

    /// The key is in memory: nobody is to find it in a core, or to read it with a debugger.
    private static func forbidCores() throws(StartFailure) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard CLinux_deny_dumps() == 0, setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw StartFailure.system("forbid cores of this process")
        }
    }
}

/// The program's name, for messages.
let programName = "pushrouter-forward"
