import PushModel

extension Command {
    static let reload = Command(
        name: "reload", summary: "have the daemon read its configuration again",
        description: [
            """
            The daemon reads its configuration again, as on SIGHUP, and this command waits for the result. With an \
            error in the configuration, or with a handler that the service keeps from working, the previous \
            configuration stays in force: the command prints the mistakes, status and metrics show them too, and the \
            exit status is 78. Otherwise it prints the numbers of routes and handlers in force. "systemctl reload \
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
