import JournalLog
import PushModel

extension Command {
    static let logLevel = Command(
        name: "log-level", summary: "show or set the level of journal entries",
        description: [
            """
            Without LEVEL the command prints the level. With LEVEL the daemon writes only entries of this level and of the \
            levels before it in the list, until the daemon ends: \(levels.joined(separator: ", ")). A daemon \
            starts with debug and writes all entries. It always writes an entry about a change of the level. With the \
            package's D-Bus policy "systemctl service-log-level pushrouterd" does the same.
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
