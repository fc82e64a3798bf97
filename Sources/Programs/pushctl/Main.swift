import Glibc
import JSONC
import PushModel
import PushSettings
import PushViews

@main
struct Program {
    static func main() {
        // With SIGPIPE ignored, a write to a closed pipe fails with EPIPE, which `Output.flush` handles.
        signal(SIGPIPE, SIG_IGN)
        let output = Output()
        let status: ExitStatus
        do {
            status = try run(Array(CommandLine.arguments.dropFirst()), output)
            output.flush()
        } catch {
            output.note(error.message)
            status = error.status
        }
        exit(status.rawValue)
    }

    private static let schemas = [
        "schema": ReportMembers.schema, "conform-schema": ConformJudgement.schema,
        "reconcile-schema": Reconciliation.schema,
    ]

    private static func run(_ words: [String], _ output: Output) throws(Failure) -> ExitStatus {
        switch try Parser.parse(words, commands: Command.all) {
        case .run(let arguments):
            if arguments.command.options.contains(.utc), !arguments.has(.utc), let zone = LocalTime.unknownZone {
                throw arguments.usageFailure(
                    "TZ=\(zone): there is no such time zone; write it as in TZ=Europe/Berlin, or give --utc")
            }
            return try arguments.command.run(arguments, Session(arguments, output: output))
        case .help(let command):
            output.print(command.map { Help.text(of: $0) } ?? Help.overview)
        case .complete(let words):
            // Not printed, which would show a tab as an escape.
            for line in Completion.lines(of: words, commands: Command.all) { output.write("\(line)\n".utf8) }
        case .version:
            output.print("pushctl \(pushrouterdVersion)\n")
        case .generate("man", let command):
            output.print(command.map { ManPage.text(of: $0) } ?? ManPage.overview)
        case .generate("conf", _): output.print(ConfigurationTexts.mainFile)
        case .generate(let what, _) where schemas[what] != nil:
            guard let tree = try? JSONTree(scanning: schemas[what] ?? []) else { preconditionFailure("no JSON") }
            output.print(String(decoding: tree.bytes(.indented), as: UTF8.self) + "\n")
        case .generate("accidents", _):
            guard let table = Settings.load(.shipped).settings?.routing, let page = try? Accident.page(by: table) else {
                preconditionFailure("a test makes the page")
            }
            output.print(page)
        case .generate("parts", _): output.print(ManPage.parts)
        case .generate(let what, _):
            throw .usage(
                "--generate \(what): man, conf, schema, conform-schema, reconcile-schema, accidents or parts", of: nil)
        }
        return .done
    }
}
