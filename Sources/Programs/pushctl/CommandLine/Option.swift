/// One option, as the parser, the help, the man page and the completions all read it.
struct Option: Hashable, Sendable {
    /// What follows the option.
    enum Value: Hashable, Sendable {
        /// Nothing: it is there or not.
        case none
        /// Any text; the name stands for it in the help.
        case text(String)
        /// The path of a file.
        case file
        /// The path of a directory.
        case directory
        /// One of these words.
        case words([String])
        /// Some of these words, with commas between; the text stands for them in the help.
        case list(String, [String])
    }

    /// What follows `--`.
    let name: String
    /// What follows the option.
    let value: Value
    /// What it does, in a sentence without a full stop.
    let help: String
    /// What to do instead with a word that it does not take, behind the message that says so.
    let instead: String?

    init(_ name: String, _ value: Value = .none, _ help: String, instead: String? = nil) {
        self.name = name
        self.value = value
        self.help = help
        self.instead = instead
    }

    /// The options of these commands and of every command whose next word is no command, but their value.
    static func namesWithValue(of commands: [Command]) -> [String] {
        let options = everywhere + [generate] + commands.flatMap(\.options)
        return Set(options.filter(\.takesValue).map { "--\($0.name)" }).sorted()
    }

    /// Whether a value follows.
    var takesValue: Bool { value != .none }

    /// What stands for the value in the help; `nil` when none follows.
    var placeholder: String? {
        switch value {
        case .none: nil
        case .text(let name), .list(let name, _): name
        case .file: "FILE"
        case .directory: "DIR"
        case .words(let words): words.count <= 3 ? words.joined(separator: "|") : name.uppercased()
        }
    }

    /// `--state STATE`, for messages and the help.
    var usage: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }

    /// What it does, with the words that it takes where the usage does not show them.
    var fullHelp: String {
        switch value {
        case .words(let words) where words.count > 3: "\(help): \(words.joined(separator: ", "))"
        case .list(_, let words): "\(help): \(words.joined(separator: ", "))"
        case .none, .text, .file, .directory, .words: help
        }
    }
}
