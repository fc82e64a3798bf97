import PushModel

/// One command, for the parser, the help, the man page and the completions.
struct Command: Sendable {
    /// The operands of a command.
    struct Operands: Sendable {
        /// How the help names them: `FILE...|-`.
        let usage: String
        /// The allowed number of operands.
        let count: ClosedRange<Int>
        /// The words that an operand may be, for the completions; such operands are never files.
        var words: [String] = []

        static let none = Operands(usage: "", count: 0...0)
    }

    /// An example of a useful command line.
    struct Example: Sendable {
        let line: String
        /// The effect of the line, in a few words.
        let meaning: String
    }

    let name: String
    /// The effect of the command, in a few words: its line in the overview.
    let summary: String
    /// The knowledge that the user needs: paragraphs, without line breaks.
    let description: [String]
    let operands: Operands
    /// The command's own options, beside those of every command.
    let options: [Option]
    let examples: [Example]
    /// Runs the command.
    let run: @Sendable (Arguments, Session) throws(Failure) -> ExitStatus

    /// The options of every command, without those that this one has in its own way.
    var sharedOptions: [Option] { Option.everywhere.filter { !options.contains($0) } }

    /// Whether its operands are files.
    var takesFiles: Bool { operands.usage.has("FILE") }

    /// `inject [OPTION]... FILE...|-`
    var usage: String { "\(name) [OPTION]..." + (operands.usage.isEmpty ? "" : " \(operands.usage)") }
}

extension Command {
    /// The commands by what people do with them, in the order of the help.
    static let groups: [(title: String, commands: [Command])] = [
        (
            "Try a push, or an app's dispatcher",
            [dev, explain, inject, open, act, dismiss, session, runHandler, conform, test]
        ),
        ("Look at what happened", [show, report, status, tail, top, devices, deadLetters]),
        ("Count opens and events", [campaigns, reconcile, events, user, users, pending, export]),
        (
            "Operate the daemon",
            [
                verify, doctor, reload, logLevel, replay, flush, token, device, log, `import`, erase, backup, restore,
                salvage, store, gateway, webpush, bench,
            ]
        ),
    ]

    /// Every command, in the order of the help.
    static let all = groups.flatMap(\.commands)
}
