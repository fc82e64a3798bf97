/// The answers of `pushctl --complete WORD...`, which the completions of the shells ask for.
///
/// A line is a candidate for the last word, whole: a tab and its meaning may follow, and an option that takes a value
/// ends with `=`. The line `:files` or `:directories` stands for all files or directories, and `:list` says that a
/// comma may follow each candidate.
struct Completion {
    private let commands: [Command]
    private var command: Command?
    /// The option whose value comes next.
    private var option: Option?
    private var areOperands = false

    /// - Parameter words: the words that were typed, without the program's own name; the last one is completed.
    static func lines(of words: [String], commands: [Command]) -> [String] {
        var completion = Completion(commands: commands)
        for word in words.dropLast() { completion.pass(word) }
        return completion.candidates(for: words.last ?? "")
    }

    private init(commands: [Command]) { self.commands = commands }

    /// The options that the line may have at this place.
    private var options: [Option] {
        command.map { $0.options + $0.sharedOptions } ?? Option.everywhere + Option.withoutCommand
    }

    private mutating func pass(_ word: String) {
        // bash takes --option=value as three words.
        if word == "=", option != nil { return }
        if option != nil {
            option = nil
        } else if word == "--" {
            areOperands = true
        } else if word.hasPrefix("--"), !areOperands {
            // The option of another command that comes before the command takes its value, too.
            let all = options + commands.flatMap(\.options)
            option = all.first { "--\($0.name)" == word && $0.takesValue }
        } else if command == nil {
            command = commands.first { $0.name == word }
        }
    }

    private func candidates(for word: String) -> [String] {
        if let option { return values(of: option, for: word == "=" ? "" : word) }
        guard word.hasPrefix("-"), !areOperands else { return operands(for: word) }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let option = options.first(where: { "--\($0.name)" == parts[0] }) {
            return values(of: option, for: String(parts[1])).map { $0.hasPrefix(":") ? $0 : "\(parts[0])=\($0)" }
        }
        return options.filter { "--\($0.name)".hasPrefix(word) }
            .map { "--\($0.name)\($0.takesValue ? "=" : "")\t\($0.help)" }
    }

    private func operands(for word: String) -> [String] {
        guard let command else {
            return commands.filter { $0.name.hasPrefix(word) }.map { "\($0.name)\t\($0.summary)" }
        }
        return command.takesFiles ? [":files"] : command.operands.words.filter { $0.hasPrefix(word) }
    }

    private func values(of option: Option, for word: String) -> [String] {
        switch option.value {
        case .none, .text: return []
        case .file: return [":files"]
        case .directory: return [":directories"]
        case .words(let words): return words.filter { $0.hasPrefix(word) }
        case .list(_, let words):
            let comma = word.lastIndex(of: ",").map { word.index(after: $0) } ?? word.startIndex
            return [":list"] + words.filter { $0.hasPrefix(word[comma...]) }.map { word[..<comma] + $0 }
        }
    }
}
