import LinuxSystem
import PushModel

extension Command {
    static let reload = Command(
        name: "reload", summary: "have the daemon read its configuration again",
        description: [
            """
            The daemon reads its configuration again, as on SIGHUP, and this command waits for the result. If the \
            configuration has an error, or a handler that the sandbox of the service blocks, the previous \
            configuration stays in force. The command then prints the mistakes, status and metrics show them too, and \
            the exit status is 78. Otherwise it prints the number of routes and handlers in force. \
            Warnings about what was read, such as an unknown key, go to standard error. "systemctl reload \
            pushrouterd" runs this command.
            """
        ],
        operands: .none,
        options: [.silent, .json],
        examples: [Example(line: "pushctl reload", meaning: "after a change of /etc/pushrouterd")]
    ) { arguments, session throws(Failure) in
        let reply = try session.control(.reload)
        let problem = reply["problem"]?.string
        if arguments.has(.json) {
            session.output.write(document: Array(reply.rawBytes))
        } else if !arguments.has(.silent) {
            for warning in reply["warnings"]?.elements ?? [] { session.output.note(warning.string ?? "") }
            if let problem {
                throw Failure(.configuration, "\(problem)\nnot reloaded: the previous configuration stays in force")
            }
            let parts = [("routes", "route"), ("handlers", "handler")].compactMap { key, noun in
                reply[key]?.int64.map { counted(Int($0), noun) }
            }
            session.output.print("reloaded\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: ", "))\n")
        }
        return problem == nil ? .done : .configuration
    }
}

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
