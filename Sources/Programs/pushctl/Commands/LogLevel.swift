import LinuxSystem
import PushModel

extension Command {
    static let logLevel = Command(
        name: "log-level", summary: "show or set which entries the daemon writes to its journal",
        description: [
            """
            Without LEVEL the command prints the level. With LEVEL the daemon writes the entries of that level and of \
            the levels before it in this list, until the daemon ends: \(levels.joined(separator: ", ")). A daemon \
            starts with the level debug, which writes every entry. The daemon always writes the entry about a changed \
            level. Where the package's D-Bus policy is in force, "systemctl service-log-level pushrouterd" does the \
            same.
            """
        ],
        operands: Operands(usage: "[LEVEL]", count: 0...1, words: levels),
        options: [.json],
        examples: [Example(line: "pushctl log-level warning", meaning: "warnings and errors only")]
    ) { arguments, session throws(Failure) in
        if let level = arguments.operands.first, !levels.contains(level) {
            throw arguments.usageFailure("\(level): level is one of \(levels.joined(separator: ", "))")
        }
        let reply = try session.control(.logLevel(arguments.operands.first))
        if arguments.has(.json) {
            session.output.write(document: Array(reply.rawBytes))
        } else {
            session.output.print("\(reply["level"]?.string ?? "")\n")
        }
        return .done
    }
}

private let levels = JournalEntry.Priority.allCases.map(\.word)
