import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

extension Command {
    static let handlerUnits = Command(
        name: "handler-units", summary: "print systemd units that run a handler on its own",
        description: [
            """
            Prints the units with which systemd runs the program of the handler NAME: a socket with Accept=yes, and a \
            template of a service that is started for each connection, as a user that exists for that run alone \
            (DynamicUser=), without the network, the daemon's files and its sockets. After them comes the file of a \
            socket handler that connects there, with OneInvocation=yes; it takes the place of the handler's own file. \
            Use the units for programs that you do not trust: without the units, or User=, a handler runs as the \
            daemon's user.
            """,
            """
            The program gets one object on standard input, but no PUSH_ variables. A line that it writes to standard \
            output is the answer when that has a "status". Without such a line its exit status is the answer, as that \
            of an exec handler, and a line with a "result", "options" or "log" is used with it; the other text that a \
            failing program wrote to standard output is its reason. The units discard its standard error, and "pushctl \
            show" cannot print it; with LogOutput=yes in the handler's file the journal gets the standard error. The \
            service ends a second after the longest deadline of a route to the handler. --exec names the program of a \
            socket handler, which has none in its file; it is split as Exec= is.
            """,
            """
            --directory writes the files there and prints their names. A file that exists stays, and the command fails. To \
            put them in force: move the .handler file to handlers.d, then "systemctl enable --now pushrouter-NAME.socket" \
            and "systemctl reload pushrouterd".
            """,
        ],
        operands: Operands(usage: "NAME", count: 1...1),
        options: [.unitDirectory, .unitProgram],
        examples: [
            Example(line: "pushctl handler-units orders", meaning: "print the units and the file"),
            Example(
                line: "pushctl handler-units orders --directory /etc/systemd/system",
                meaning: "write the files for systemd"),
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
