import PushModel
import PushSettings
import PushViews

/// The man page, for man(7).
enum ManPage {
    /// The overview: the page of each command has its options, its output and examples.
    static var overview: String {
        let sections = [
            ".\\\" Made by \"pushctl --generate man\".",
            ".TH PUSHCTL 1 \"\" \"pushrouterd \(pushrouterdVersion)\" \"User Commands\"",
            section("NAME", escaped("pushctl - the command line of pushrouterd, the push payload router")),
            section("SYNOPSIS", ".B pushctl\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]..."),
            section("DESCRIPTION", paragraphs(description)),
            section("COMMANDS", groups),
            section("OPTIONS OF EVERY COMMAND", list(Option.everywhere) + "\n.PP\n" + escaped(Help.directories)),
            section("OPTIONS WITHOUT A COMMAND", list(Option.withoutCommand)),
            section("COPIES", paragraphs(copyNotes) + "\n" + table([CopyMember.described])),
            section("EXIT STATUS", statuses + "\n.PP\n" + paragraphs(statusNotes)),
            section("SEE ALSO", ".BR pushrouterd (8),\n.BR pushrouterd.conf (5),\n.BR sysexits.h (3head)"),
        ]
        return sections.joined(separator: "\n") + "\n"
    }

    /// The page of one command, with the tables of its input and output.
    static func text(of command: Command) -> String {
        let page = "pushctl-\(command.name)"
        let sections: [String?] = [
            ".\\\" Made by \"pushctl \(command.name) --generate man\".",
            ".TH \(escaped(page.uppercased())) 1 \"\" \"pushrouterd \(pushrouterdVersion)\" \"User Commands\"",
            section("NAME", escaped("\(page) - \(command.summary)")),
            section("SYNOPSIS", ".B pushctl \(escaped(command.usage))"),
            section("DESCRIPTION", paragraphs(command.description)),
            command.options.isEmpty ? nil : section("OPTIONS", list(command.options)),
            section("OPTIONS OF EVERY COMMAND", list(command.sharedOptions) + "\n.PP\n" + escaped(Help.directories)),
            tables(of: command),
            section("EXIT STATUS", statuses + "\n.PP\n" + paragraphs(statusNotes)),
            section("EXAMPLES", examples(of: command)),
            section("SEE ALSO", ".BR pushctl (1),\n.BR pushrouterd (8),\n.BR pushrouterd.conf (5)"),
        ]
        return sections.compactMap(\.self).joined(separator: "\n") + "\n"
    }

    /// The parts of other man pages that are generated from declarations, between the lines that mark their place.
    static var parts: String {
        (ConfigurationTexts.keyLists + [("metrics", OpenMetrics.manualList)])
            .map { ".\\\" begin \($0.name) (packaging/generate.sh)\n\($0.text).\\\" end\n" }.joined()
    }

    private static func tables(of command: Command) -> String? {
        switch command.name {
        case "test":
            section("EXPECTATIONS", paragraphs(expectationNotes) + "\n" + table(expectations))
        case "report":
            section("REPORT AS JSON", table(ReportMembers.described)) + "\n"
                + section("REPORT AS CSV", table(CSVReport.described))
        case "campaigns":
            section("CAMPAIGN FIGURES", table(CampaignReport.figuresDescribed)) + "\n"
                + section("CAMPAIGNS AS JSON", table(CampaignReport.described))
        case "reconcile":
            section("HEADINGS", table(ExportFigure.described)) + "\n"
                + section("RECONCILE AS JSON", table(Reconciliation.described))
        case "conform":
            section("RESULT LINES", table(ConformResult.members)) + "\n"
                + section("RULES", table(ConformJudgement.rules)) + "\n"
                + section("JUDGEMENT AS JSON", table(ConformJudgement.described))
        case "pending": section("PENDING AS JSON", table(PendingReport.described))
        case "status": section("STATUS", table(ReportMembers.described(StatusField.all.map { ($0.name, $0.meaning) })))
        default: nil
        }
    }

    private static var groups: String {
        Command.groups.map { group in
            ".SS \(escaped(group.title))\n" + table(group.commands.map { ($0.name, sentence($0.summary)) })
        }.joined(separator: "\n")
    }

    private static func examples(of command: Command) -> String {
        command.examples.map { ".TP\n.B \(escaped($0.line))\n\(escaped($0.meaning))" }.joined(separator: "\n")
    }

    private static let description = [
        """
        pushrouterd takes push payloads over a Unix socket, decides which callbacks the platform would run and who \
        owns them, hands Braze payloads to a tracker of opens and routes the others to handlers under a deadline of 9 \
        seconds. pushctl sends payloads and interactions to it, explains and simulates without it, and shows the \
        outcomes.
        """,
        """
        Options and operands come in any order, options with their value as in --platform ios or --platform=ios; after -- \
        everything is an operand.
        """,
        "Each command has a page of its own, such as pushctl-inject(1), with its options, its output and examples.",
    ]

    private static var statuses: String {
        ExitStatus.allCases.map { ".TP\n.B \($0.rawValue)\n\(escaped($0.meaning))" }.joined(separator: "\n")
    }

    private static func table(_ rows: [(name: String, meaning: String)]) -> String {
        rows.map { ".TP\n.B \(escaped($0.name))\n\(escaped($0.meaning))" }.joined(separator: "\n")
    }

    private static func section(_ title: String, _ text: String) -> String { ".SH \(title)\n\(text)" }

    private static func paragraphs(_ texts: [String]) -> String { texts.map(escaped).joined(separator: "\n.PP\n") }

    private static func list(_ options: [Option]) -> String {
        options.map { option in
            let value = option.placeholder.map { " \\fI\(escaped($0))\\fR" } ?? ""
            return ".TP\n\\fB\(escaped("--\(option.name)"))\\fR\(value)\n\(sentence(escaped(option.fullHelp)))"
        }.joined(separator: "\n")
    }

    private static func sentence(_ text: String) -> String {
        (text.first.map { $0.uppercased() } ?? "") + text.dropFirst() + "."
    }

    /// Escapes a text for roff: a hyphen stays a hyphen, and no line begins with a request.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
