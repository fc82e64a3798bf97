/// One option, for the parser, the help, the man page and the completions.
struct Option: Hashable, Sendable {
    /// The value of an option.
    enum Value: Hashable, Sendable {
        /// No value: the option is a flag.
        case none
        /// Any text; the help shows the name in its place.
        case text(String)
        /// The path of a file.
        case file
        /// The path of a directory.
        case directory
        /// One of these words.
        case words([String])
        /// Some of these words, separated by commas; the help shows the text in their place.
        case list(String, [String])
    }

    /// The name without `--`.
    let name: String
    /// The kind of the value.
    let value: Value
    /// The effect, as a sentence without a full stop.
    let help: String
    /// The advice after the error message for a word that the option does not take.
    let instead: String?

    init(_ name: String, _ value: Value = .none, _ help: String, instead: String? = nil) {
        self.name = name
        self.value = value
        self.help = help
        self.instead = instead
    }

    /// The options that take a value, of these commands and of every command: the word after one of them is no command.
    static func namesWithValue(of commands: [Command]) -> [String] {
        let options = everywhere + [generate] + commands.flatMap(\.options)
        return Set(options.filter(\.takesValue).map { "--\($0.name)" }).sorted()
    }

    /// Whether the option takes a value.
    var takesValue: Bool { value != .none }

    /// The placeholder of the value in the help; `nil` without a value.
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

    /// The effect, and the allowed words if the usage does not show them.
    var fullHelp: String {
        switch value {
        case .words(let words) where words.count > 3: "\(help): \(words.joined(separator: ", "))"
        case .list(_, let words): "\(help): \(words.joined(separator: ", "))"
        case .none, .text, .file, .directory, .words: help
        }
    }
}
