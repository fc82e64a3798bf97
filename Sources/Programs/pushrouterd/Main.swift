import Glibc
import PushDaemon
import PushModel
import PushSettings
import SettingsFiles

@main
struct Program {
    static func main() {
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .help: print(Arguments.help)
        case .version: print("pushrouterd \(pushrouterdVersion)")
        case .wrong(let message):
            complain([message, "see pushrouterd --help"], as: "pushrouterd")
            exit(2)
        case .run(let arguments): run(arguments)
        }
    }

    private static func run(_ arguments: ServiceArguments) -> Never {
        let directories = Directories(
            configuration: arguments.values["--config"], state: arguments.values["--state"],
            runtime: arguments.values["--runtime"],
            environment: { name in getenv(name).map { String(cString: $0) } })
        do {
            let options = DaemonOptions(
                directories: directories, isConfigurationRequired: arguments.values["--config"] != nil)
            exit(try runDaemon(options))
        } catch {
            complain(error.lines + error.warnings, as: "pushrouterd")
            exit(error.exitStatus)
        }
    }
}
