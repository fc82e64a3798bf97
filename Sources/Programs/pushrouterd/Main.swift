import Glibc
import PushDaemon
import PushModel
import PushSettings

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouterd \(pushrouterdVersion)")
        case .wrong(let message):
            complain([message, "see pushrouterd --help"])
            exit(2)
        case .run(let arguments): run(arguments)
        }
    }

    private static func run(_ arguments: Arguments) -> Never {
        let directories = Directories(
            configuration: arguments.configuration, state: arguments.state, runtime: arguments.runtime,
            environment: { name in getenv(name).map { String(cString: $0) } })
        do {
            let options = DaemonOptions(
                directories: directories, isConfigurationRequired: arguments.configuration != nil)
            exit(try runDaemon(options))
        } catch {
            complain(error.lines)
            exit(error.exitStatus)
        }
    }

    private static func complain(_ lines: [String]) {
        for line in lines {
            let bytes = Array("pushrouterd: \(line)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
        }
    }
}
