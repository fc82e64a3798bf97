import CLinux
import EventLoop
import Glibc
import JournalLog
import PushModel
import PushSettings

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouter-forward \(pushrouterdVersion)")
        case .wrong(let message):
            complain([message, "see pushrouter-forward --help"])
            exit(2)
        case .run(let arguments):
            do throws(Failure) {
                exit(try run(arguments))
            } catch {
                complain(error.lines)
                exit(error.exitStatus)
            }
        }
    }

    private static func run(_ arguments: Arguments) throws(Failure) -> Int32 {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let directories = Directories(
            configuration: arguments.configuration, runtime: arguments.runtime, environment: environment)
        let configuration = Configuration(
            directories: directories.configuration, isRequired: arguments.configuration != nil,
            credentials: environment("CREDENTIALS_DIRECTORY"))
        let settings = try configuration.load()
        if arguments.isDryRun {
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
            throw Failure("\(error)", exitStatus: Failure.system)
        }
    }

    /// The key is in memory: nobody is to find it in a core, or to read it with a debugger.
    private static func forbidCores() throws(Failure) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard CLinux_deny_dumps() == 0, setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure("cannot forbid cores of this process: \(reason)", exitStatus: Failure.system)
        }
    }
}

/// Says something on standard error.
func complain(_ lines: [String]) {
    for line in lines {
        let bytes = Array("pushrouter-forward: \(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
