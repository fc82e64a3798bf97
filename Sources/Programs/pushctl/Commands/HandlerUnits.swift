import Glibc
import LinuxSystem
import PushModel
import PushRouting
import PushSettings

extension Command {
    static let handlerUnits = Command(
        name: "handler-units", summary: "print systemd units that run a handler on its own",
        description: [
            """
            Prints the units with which systemd runs the program of the handler NAME: a socket with Accept=yes, and a \
            template of a service that is started for each connection, as a user that exists only for that run \
            (DynamicUser=), without the network, the daemon's files and its sockets. After the units it prints the \
            file of a socket handler that connects to this socket, with OneInvocation=yes; this file replaces the \
            handler's own file. Use the units for untrusted programs: without them, or User=, a handler runs as the \
            daemon's user.
            """,
            """
            The program gets one object on standard input, but no PUSH_ variables. A line that it writes to standard \
            output is the answer when that has a "status". Without such a line its exit status is the answer, as that \
            of an exec handler, together with a line that has a "result", "options" or "log"; the other standard \
            output of a failure is its reason. The standard error is lost, and "pushctl show" does not have it; with \
            LogOutput=yes in the handler's file it goes to the journal. The service ends a second after the longest \
            deadline of a route to the handler. --exec names the program of a socket handler, which has none in its \
            file; it is split as Exec= is.
            """,
            """
            --directory writes the files into a directory and prints their names. The command fails if a file exists, \
            and does not change it. To use the files: move the .handler file to handlers.d, then "systemctl enable \
            --now pushrouter-NAME.socket" and "systemctl reload pushrouterd".
            """,
        ],
        operands: Operands(usage: "NAME", count: 1...1),
        options: [.unitDirectory, .unitProgram],
        examples: [
            Example(line: "pushctl handler-units orders", meaning: "look at them"),
            Example(
                line: "pushctl handler-units orders --directory /etc/systemd/system", meaning: "write them to be used"),
        ]
    ) { arguments, session throws(Failure) in
        let settings = try session.settings()
        let handler = try arguments.handler(arguments.operands[0], of: settings, session)
        let command: Handler.Command
        if let text = arguments[.unitProgram] {
            guard case .socket = handler.kind else {
                throw arguments.usageFailure("--exec: the program of \(handler.name) is in its file")
            }
            do throws(Handler.Command.WrongCommand) {
                command = try Handler.Command(splitting: text)
            } catch {
                throw arguments.usageFailure("--exec \(text): \(error.reason)")
            }
        } else if let own = handler.kind.command {
            command = own
        } else if case .socket = handler.kind {
            throw arguments.usageFailure("the file of \(handler.name) has no program; name it with --exec COMMAND")
        } else {
            throw arguments.usageFailure("\(handler.name) is built in: it runs no program")
        }
        let routes = settings.routing.routes.filter { $0.handler == handler.name }
        let longest = routes.map { $0.budget ?? settings.routing.budget }.max() ?? settings.routing.budget
        let files = HandlerUnits(handler, command, longest: longest).files
        guard let directory = arguments[.unitDirectory] else {
            // Written without folding: a long line stays one line.
            session.output.write(files.map { "# ---- \($0.name)\n\($0.text)" }.joined(separator: "\n").utf8)
            return .done
        }
        for file in files {
            let path = "\(directory)/\(file.name)"
            try write(file.text, toNew: path)
            session.output.print("\(path)\n")
        }
        return .done
    }

    private static func write(_ text: String, toNew path: String) throws(Failure) {
        guard let file = FileDescriptor(Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)) else {
            let advice = errno == EEXIST ? "; move it away first" : ""
            throw Failure(.inputOutput, "\(path): \(errorText(errno))\(advice)")
        }
        let count = retryingInterrupts { Glibc.write(file.rawValue, text, text.utf8.count) }
        guard count == text.utf8.count else { throw Failure(.inputOutput, "\(path): cannot be written as a whole") }
    }
}

extension Arguments {
    /// Finds a handler by name.
    ///
    /// - Throws: a failure with the known names, and the directories of the configuration.
    func handler(
        _ name: String, of settings: Settings, _ session: Session, mayBeProgram: Bool = false
    ) throws(Failure) -> Handler {
        if let handler = settings.routing.handlers[name] { return handler }
        let names = settings.routing.handlers.keys.sorted()
        let near = nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        let places = session.directories.configuration.joined(separator: ", ")
        let isFile = mayBeProgram && access(name, F_OK) == 0 && !Directory.exists(name)
        let program = isFile ? "; the program in this directory is ./\(name)" : ""
        let known = names.isEmpty ? "there are none" : "the handlers are \(names.joined(separator: ", "))"
        throw usageFailure("there is no handler \(name)\(near)\(program); \(known) in \(places)")
    }
}
