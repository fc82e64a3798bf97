/// The command line of a service: options with a value, flags, and no operands.
public struct ServiceArguments: Equatable, Sendable {
    /// The request of the command line.
    public enum Request: Equatable, Sendable {
        case run(ServiceArguments)
        case help
        case version
        /// The command line is invalid; the text is the reason.
        case wrong(String)
    }

    /// The values of the given options, by names such as `--config`.
    public private(set) var values: [String: String] = [:]
    /// The given flags.
    public private(set) var flags: Set<String> = []

    /// Parses the words after the program's name.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - directories: the options whose value is a directory: `--config`.
    ///   - others: the other options with a value.
    ///   - flags: the flags besides `--help` and `--version`.
    public static func parse(
        _ words: some Sequence<String>, directories: Set<String>, others: Set<String> = [], flags: Set<String> = []
    ) -> Request {
        var arguments = ServiceArguments()
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "-h", "--help": return .help
            case "--version": return .version
            case let flag where flags.contains(flag) && parts.count == 1: arguments.flags.insert(flag)
            case let option where directories.contains(option) || others.contains(option):
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    return .wrong("\(option) needs a \(directories.contains(option) ? "directory" : "value")")
                }
                arguments.values[option] = value
            default: return .wrong("there is no \(word.hasPrefix("-") ? "option" : "operand") \(word)")
            }
        }
        return .run(arguments)
    }
}
