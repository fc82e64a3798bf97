import PushModel
import PushSettings
import PushViews

/// The command line, checked against the table of commands: the command, its options and its operands.
struct Arguments {
    let command: Command
    let operands: [String]
    /// The values of each option, in order.
    let values: [Option: [String]]

    /// The last value of an option; `nil` if the option is missing.
    subscript(option: Option) -> String? { values[option]?.last }

    /// All values of an option that may be repeated.
    func all(_ option: Option) -> [String] { values[option] ?? [] }

    /// Whether the command line has an option.
    func has(_ option: Option) -> Bool { values[option] != nil }

    /// The value of an option that takes words.
    func word<Word: RawRepresentable<String>>(_ option: Option, _ type: Word.Type) -> Word? {
        // The parser accepts only the words in the table, and the table has them from the type.
        self[option].flatMap(Word.init(rawValue:))
    }

    /// The values of an option that takes a list of words, in their order; `nil` if the option is missing.
    ///
    /// - Parameter name: a shorter name of a value, which is accepted, too, and which suggestions use.
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

    /// Makes the failure for a value that the table cannot check.
    func usageFailure(_ message: String) -> Failure { .usage(message, of: command) }
}

extension Arguments {
    /// The window of `--since` and `--until`.
    func window() throws(Failure) -> ReportWindow {
        let since = try time(.since)
        let until = try time(.until)
        if let since, let until, until < since {
            throw usageFailure("--until \(until.rfc3339) is before --since \(since.rfc3339)")
        }
        return ReportWindow(since: since, until: until)
    }

    /// The zone of the times that a command prints: this machine's for people, UTC for programs and with `--utc`.
    var zone: LocalZone {
        let isForPrograms = has(.json) || self[.format].map { !["text", "html", "markdown"].contains($0) } ?? false
        return isForPrograms || has(.utc) ? .utc : LocalTime.zone
    }

    private func time(_ option: Option) throws(Failure) -> WallTime? {
        guard let text = self[option] else { return nil }
        guard let time = LocalTime.parse(text, now: LocalTime.now, isUTC: has(.utc)) else {
            throw usageFailure(
                "--\(option.name) \(text): a time is written as 2026-11-21T09:00:00Z, 2026-11-21, today, yesterday or -1h"
            )
        }
        return time
    }
}
