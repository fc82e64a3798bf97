import PushModel

/// One command, as the parser, the help, the man page and the completions all read it.
struct Command: Sendable {
    /// What stands beside the options.
    struct Operands: Sendable {
        /// How the help names them: `FILE...|-`.
        let usage: String
        /// How many there may be.
        let count: ClosedRange<Int>
        /// The words that one of them may be, for the completions; others are no file either.
        var words: [String] = []

        static let none = Operands(usage: "", count: 0...0)
    }

    /// A command line that does something useful.
    struct Example: Sendable {
        let line: String
        /// What it does, in a few words.
        let meaning: String
    }

    let name: String
    /// What it does, in a few words: a line of the overview.
    let summary: String
    /// What one has to know to use it: paragraphs, without line breaks.
    let description: [String]
    let operands: Operands
    /// Its own options, beside those that every command takes.
    let options: [Option]
    let examples: [Example]
    /// Does it.
    let run: @Sendable (Arguments, Session) throws(Failure) -> ExitStatus

    /// What every command takes, but for what means something else in this one.
    var sharedOptions: [Option] {
        Option.everywhere.filter { shared in !options.contains { $0.name == shared.name } }
    }

    /// Whether its operands are files.
    var takesFiles: Bool { operands.usage.has("FILE") }

    /// `inject [OPTION]... FILE...|-`
    var usage: String { "\(name) [OPTION]..." + (operands.usage.isEmpty ? "" : " \(operands.usage)") }
}
