import JournalLog
import PushModel

extension Command {
    static let logLevel = Command(
        name: "log-level", summary: "show or set which entries the daemon writes to its journal",
        description: [
            """
            Without LEVEL it prints the level. With one, entries of that level and of those before it in the list are \
            written from now on, until the daemon ends: \(levels.joined(separator: ", ")). The first \
            level of a daemon is debug: all is written. That the level was changed is always written. Where the \
            package's D-Bus policy is in force, "systemctl service-log-level pushrouterd" does the same.
            """
        ],
        operands: Operands(usage: "[LEVEL]", count: 0...1, words: levels),
        options: [.json],
        examples: [Example(line: "pushctl log-level warning", meaning: "only what is wrong")]
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
