import PushModel
import PushSettings

/// The result of parsing a command line.
enum Parsed {
    /// A command.
    case run(Arguments)
    /// The help of a command, or the overview.
    case help(Command?)
    /// The version.
    case version
    /// A file generated from the table of commands; only `man` for one command.
    case generate(String, Command?)
    /// The candidates for the last of these words.
    case complete([String])
}

/// Parses a command line: options and operands in any order, `--option value` and `--option=value`; `--` ends the
/// options.
struct Parser {
    private struct GivenOption {
        let name: String
        let value: String?
        /// Whether the option came before the name of the command.
        let isBeforeCommand: Bool
    }

    private let commands: [Command]
    private var name: String?
    private var given: [GivenOption] = []
    private var operands: [String] = []

    /// - Parameter words: the command line without the program's own name.
    static func parse(_ words: [String], commands: [Command]) throws(Failure) -> Parsed {
        if words.first == "--\(Option.complete.name)" { return .complete(Array(words.dropFirst())) }
        var parser = Parser(commands: commands)
        try parser.split(words)
        return try parser.resolve()
    }

    private init(commands: [Command]) { self.commands = commands }

    // MARK: Words to options and operands

    private mutating func split(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                rest.forEach { take(operand: $0) }
                return
            }
            if word == "-h" {
                given.append(GivenOption(name: Option.help.name, value: nil, isBeforeCommand: name == nil))
            } else if word.hasPrefix("--") {
                try take(option: word.dropFirst(2), rest: &rest)
            } else if word.hasPrefix("-"), word != "-" {
                throw .usage("there is no option \(word); -h is the only short option", of: command)
            } else {
                take(operand: word)
            }
        }
    }

    private mutating func take(operand word: String) {
        if name != nil {
            operands.append(word)
        } else if word == Self.formerSimulate {
            name = Command.test.name
            given.append(GivenOption(name: Option.trace.name, value: word, isBeforeCommand: false))
        } else {
            name = word
        }
    }

    private mutating func take(option text: Substring, rest: inout ArraySlice<String>) throws(Failure) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let option = String(parts[0])
        // Every option of one name takes a value, or none does, in all commands.
        let all = Option.everywhere + [.generate] + commands.flatMap(\.options)
        guard let takesValue = all.first(where: { $0.name == option })?.takesValue else { throw unknown(option) }
        var value = parts.count == 2 ? String(parts[1]) : nil
        if !takesValue, value != nil { throw .usage("--\(option) takes no value", of: command) }
        if takesValue, value == nil {
            guard let next = rest.popFirst() else { throw .usage("--\(option) needs a value", of: command) }
            guard !next.hasPrefix("--") else {
                throw .usage("--\(option) needs a value; if it is \(next), write --\(option)=\(next)", of: command)
            }
            value = next
        }
        given.append(GivenOption(name: option, value: value, isBeforeCommand: name == nil))
    }

    /// The name of a former command, which is `test --trace` with the daemon's configuration.
    static let formerSimulate = "simulate"

    // MARK: Options and operands to arguments

    private var command: Command? { commands.first { $0.name == name } }

    private func resolve() throws(Failure) -> Parsed {
        let isHelp = given.contains { $0.name == Option.help.name }
        if given.contains(where: { $0.name == Option.version.name }) { return .version }
        guard let name else {
            if isHelp { return .help(nil) }
            if let generated { return .generate(generated, nil) }
            throw .usage("COMMAND is missing", of: nil)
        }
        if name == "help", operands.count <= 1 { return try help(of: operands.first) }
        guard let command else { throw unknownCommand(name) }
        if isHelp { return .help(command) }
        if generated == "man" { return .generate("man", command) }
        var values: [Option: [String]] = [:]
        for given in given {
            let option = try option(given, of: command)
            values[option, default: []].append(given.value ?? "")
            // Nobody could tell which of them counts.
            guard case .words = option.value, let all = values[option], Set(all).count > 1 else { continue }
            throw .usage("--\(option.name) is given twice: \(all.joined(separator: " and "))", of: command)
        }
        try checkOperands(of: command)
        return .run(Arguments(command: command, operands: operands, values: values))
    }

    private var generated: String? { given.last { $0.name == Option.generate.name }?.value }

    private func help(of name: String?) throws(Failure) -> Parsed {
        guard let name else { return .help(nil) }
        guard let command = commands.first(where: { $0.name == name }) else { throw unknownCommand(name) }
        return .help(command)
    }

    private func option(_ given: GivenOption, of command: Command) throws(Failure) -> Option {
        guard let option = option(named: given, of: command) else {
            // A person has two names here: the commands that send say --external-id, as a request does.
            let synonym = ["user": "external-id", "external-id": "user"][given.name]
            if let option = command.options.first(where: { $0.name == synonym }) { return option }
            throw unknown(given.name)
        }
        guard let value = given.value, case .words(let words) = option.value, !words.contains(value) else {
            return option
        }
        let near = nearest(to: value, among: words).map { "; did you mean \($0)?" } ?? ""
        let path = option.name == given.name ? "" : " (a directory is written with a /)"
        let instead = option.instead.map { "; \($0)" } ?? ""
        throw .usage(
            "--\(option.name) \(value): one of \(words.joined(separator: ", "))\(path)\(near)\(instead)", of: command)
    }

    private func option(named given: GivenOption, of command: Command) -> Option? {
        let option = (command.options + Option.everywhere).first { $0.name == given.name }
        // --state once meant the state of the app. It still does if its value is such a state. Otherwise it names the
        // state directory if the value has a / or the option comes before the command.
        guard option == .stateDirectory, let state = command.options.first(where: { $0 == .appState }),
            case .words(let words) = state.value, let value = given.value,
            words.contains(value) || !given.isBeforeCommand && !value.contains("/")
        else { return option }
        return state
    }

    private func checkOperands(of command: Command) throws(Failure) {
        if operands.count > command.operands.count.upperBound, let extra = operands.last {
            throw .usage("\(extra) is one operand too many", of: command)
        }
        if operands.count < command.operands.count.lowerBound {
            throw .usage("\(command.operands.usage) is missing", of: command)
        }
    }

    private func unknown(_ option: String) -> Failure {
        let known = Option.everywhere + (command.map(\.options) ?? commands.flatMap(\.options))
        let near = nearest(to: option, among: known.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
        let subject = command.map { "\($0.name) has" } ?? "there is"
        return .usage("\(subject) no option --\(option)\(near)", of: command)
    }

    private func unknownCommand(_ name: String) -> Failure {
        let near = nearest(to: name, among: commands.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        return .usage("there is no command \(name)\(near)", of: nil)
    }
}
