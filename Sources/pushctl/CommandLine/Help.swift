/// The help texts, for a terminal of 80 columns.
enum Help {
    /// What `pushctl --help` prints.
    static func overview(of commands: [Command]) -> String {
        """
        pushctl - the command line of pushrouterd, the push payload router

        Usage: pushctl COMMAND [OPTION]... [OPERAND]...

        Commands:
        \(table(commands.map { ($0.name, $0.summary) }))
        \(everywhere)

        \(environment)

        Exit status: 0 done; 1 the answer is no (a check failed, an objective was
        missed, a request was refused); 2 wrong usage; 65 wrong input; 66 no input
        file; 69 the daemon is not running; 74 input or output failed; 77 not
        permitted; 78 wrong configuration.

        "pushctl COMMAND --help" tells everything about one command.

        """
    }

    /// What `pushctl COMMAND --help` prints.
    static func text(of command: Command) -> String {
        let paragraphs = command.description.map { Text.wrapped($0, width: 78) + "\n" }.joined(separator: "\n")
        let options = command.options.isEmpty ? "" : "Options:\n\(rows(of: command.options))\n"
        let examples = command.examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined()
        return """
            pushctl \(command.name) - \(command.summary)

            Usage: pushctl \(command.usage)

            \(paragraphs)
            \(options)\(everywhere)

            Examples:
            \(examples)
            """
    }

    /// Where the directories are when no option says so.
    static let environment = """
        Without these options the directories are those that systemd gives in
        CONFIGURATION_DIRECTORY, STATE_DIRECTORY and RUNTIME_DIRECTORY, else
        /etc/pushrouterd, /var/lib/pushrouterd and /run/pushrouterd.
        """

    private static let everywhere = "Options of every command:\n" + rows(of: Option.everywhere).dropLast()

    private static func rows(of options: [Option]) -> String {
        table(options.map { ($0.usage, $0.fullHelp) })
    }

    /// Names to the left, what they mean beside them, or below where a name is long.
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
