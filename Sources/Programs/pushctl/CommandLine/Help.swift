/// The help texts, for a terminal of 80 columns.
enum Help {
    /// The output of `pushctl --help`.
    static var overview: String {
        let groups = Command.groups.map { "\($0.title):\n\(table($0.commands.map { ($0.name, $0.summary) }))" }
        return """
            pushctl - the command line of pushrouterd, the push payload router

            Usage: pushctl COMMAND [OPTION]... [OPERAND]...

            "pushctl explain FILE" explains a push without a daemon; "pushctl dev" runs a
            daemon with a gateway and a page. "pushctl COMMAND --help" explains one command.

            \(groups.joined(separator: "\n"))
            Options of every command:
            \(rows(of: Option.everywhere))
            \(Text.wrapped(directories, width: 78))

            Exit status: \(Text.wrapped(ExitStatus.list, width: 65, indent: 13).drop { $0 == " " })

            """
    }

    /// The output of `pushctl COMMAND --help`.
    static func text(of command: Command) -> String {
        let paragraphs = command.description.map { Text.wrapped($0, width: 78) + "\n" }.joined(separator: "\n")
        let options = command.options.isEmpty ? "" : "Options:\n\(rows(of: command.options))\n"
        let examples = command.examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined()
        return """
            pushctl \(command.name) - \(command.summary)

            Usage: pushctl \(command.usage)

            \(paragraphs)
            \(options)Examples:
            \(examples)
            "pushctl --help" has the options of every command, and the exit status.
            """
    }

    /// The directories that apply without an option.
    static let directories = """
        Without these options the directories are those of the directory of "pushctl dev" in PUSHROUTER_DIRECTORY, or \
        those in the variables of systemd, CONFIGURATION_DIRECTORY, STATE_DIRECTORY and RUNTIME_DIRECTORY. If none of \
        them is named, they are those of the .pushrouter that "pushctl dev" made in the working directory or above it, if \
        it is yours; else /etc/pushrouterd (then /run/pushrouterd and /usr/lib/pushrouterd), /var/lib/pushrouterd \
        and /run/pushrouterd.
        """

    private static func rows(of options: [Option]) -> String {
        table(options.map { ($0.usage, $0.fullHelp) })
    }

    /// Prints names in the left column, and their meanings beside them, or below a long name.
    private static func table(_ rows: [(name: String, meaning: String)]) -> String {
        let indent = 24
        return rows.reduce(into: "") { text, row in
            let meaning = Text.wrapped(row.meaning, width: 78 - indent, indent: indent).drop { $0 == " " }
            let name = "  " + row.name
            let gap =
                name.count + 2 <= indent
                ? String(repeating: " ", count: indent - name.count) : "\n" + String(repeating: " ", count: indent)
            text += name + gap + meaning + "\n"
        }
    }
}
