import PushModel
import PushSettings

/// What the user typed, checked against the table: the command, and its options and operands.
struct Arguments {
    let command: Command
    let operands: [String]
    /// What was given for each option, in order.
    let values: [Option: [String]]

    /// The value of an option, the last one; `nil` when it was not given.
    subscript(option: Option) -> String? { values[option]?.last }

    /// Every value of an option that may be given more than once.
    func all(_ option: Option) -> [String] { values[option] ?? [] }

    /// Whether an option was given.
    func has(_ option: Option) -> Bool { values[option] != nil }

    /// The value of an option that takes words.
    func word<Word: RawRepresentable<String>>(_ option: Option, _ type: Word.Type) -> Word? {
        // The parser let only the table's words pass, and the table has them from the type.
        self[option].flatMap(Word.init(rawValue:))
    }

    /// The values of an option that takes a list of words, in their order; `nil` where it is not given.
    ///
    /// - Parameter name: a shorter name of a value, which is taken too, and by which it is suggested.
    func list<Word: RawRepresentable<String> & CaseIterable>(
        _ option: Option, _ type: Word.Type, name: (Word) -> String = \.rawValue
    ) throws(Failure) -> [Word]? {
        guard let text = self[option] else { return nil }
        var words: [Word] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let word = Word.allCases.first(where: { $0.rawValue == part || name($0) == part }) else {
                let known = Word.allCases.map(name)
                let near = nearest(to: String(part), among: known).map { "; did you mean \($0)?" } ?? ""
                throw usageFailure("--\(option.name) \(part): one of \(known.joined(separator: ", "))\(near)")
            }
            words.append(word)
        }
        return words
    }

    /// Something about the values that the table cannot check.
    func usageFailure(_ message: String) -> Failure { .usage(message, of: command) }

    /// Where configuration, state and sockets are.
    func directories(environment: (String) -> String?) -> Directories {
        Directories(
            configuration: self[.configuration], state: self[.stateDirectory], runtime: self[.runtime],
            environment: environment)
    }
}
