/// The command line of a service: options with a directory each, options that stand alone, and no operands.
public struct ServiceArguments: Equatable, Sendable {
    /// What the command line asks for.
    public enum Request: Equatable, Sendable {
        case run(ServiceArguments)
        case help
        case version
        /// The command line is wrong: why.
        case wrong(String)
    }

    /// `--config`, `--state` and `--runtime`, where they were given.
    public private(set) var directories: [String: String] = [:]
    /// The options without a value that were given.
    public private(set) var flags: Set<String> = []

    /// Reads the words after the program's name.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - options: the options with a directory: `--config`.
    ///   - flags: those without a value, beside `--help` and `--version`.
    public static func parse(
        _ words: some Sequence<String>, options: Set<String>, flags: Set<String> = []
    ) -> Request {
        var arguments = ServiceArguments()
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "-h", "--help": return .help
            case "--version": return .version
            case let flag where flags.contains(flag) && parts.count == 1: arguments.flags.insert(flag)
            case let option where options.contains(option):
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    return .wrong("\(option) needs a directory")
                }
                arguments.directories[option] = value
            default: return .wrong("there is no \(word.hasPrefix("-") ? "option" : "operand") \(word)")
            }
        }
        return .run(arguments)
    }
}
