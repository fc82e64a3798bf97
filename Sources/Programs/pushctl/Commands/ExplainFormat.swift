/// The forms of the output of `explain`. The raw values are those of the command line.
enum ExplainFormat: String, CaseIterable {
    /// For people.
    case text
    /// For programs.
    case json
    /// For a ticket: one self-contained page.
    case html
    /// For CI: a test report.
    case junit
    /// For GitHub: annotations on the files.
    case github

    /// The form that `--format` or `--json` asks for; text without either.
    init(_ arguments: Arguments) throws(Failure) {
        let format = arguments.word(.explainFormat, ExplainFormat.self)
        if arguments.has(.json), format ?? .json != .json {
            throw arguments.usageFailure("--json and --format \(arguments[.explainFormat] ?? "") exclude each other")
        }
        self = arguments.has(.json) ? .json : format ?? .text
    }
}
