import PushDispatch

/// The words that a condition of a `.provider` file begins with.
private enum ConditionWord: String, CaseIterable {
    case present, equals, equalsIgnoringCase = "equals-ignoring-case", string, object
    case nonEmptyObject = "non-empty-object", truthy, json, prefix, members

    /// What follows the word, as messages show it.
    var usage: String {
        switch self {
        case .present, .string, .object, .nonEmptyObject, .truthy: "\(rawValue) KEY..."
        case .equals, .equalsIgnoringCase: "\(rawValue) KEY... TEXT"
        case .json: "json KEY... KEY-IN-THE-TEXT"
        case .prefix: "prefix TEXT"
        case .members: "members NUMBER"
        }
    }
}

extension Form<[ProviderCondition]> {
    /// One condition in words, quoted as the words of `Exec=` are: `equals push_from moengage`. Several keys are a path.
    static let condition = Form { text throws(ValueError) in
        var reader = QuotedWords(text)
        var words: [String] = []
        while let word = try reader.next() { words.append(word) }
        let name = words.removeFirst()
        guard let word = ConditionWord(rawValue: name) else {
            let known = ConditionWord.allCases.map(\.rawValue)
            throw ValueError(
                "must begin with \(alternatives(known))" + suggestion(for: name, among: known) { $0 })
        }
        return [try condition(word, words)]
    }

    private static func condition(_ word: ConditionWord, _ words: [String]) throws(ValueError) -> ProviderCondition {
        switch word {
        case .present: return .value(at: try path(words, of: word), .present)
        case .string: return .value(at: try path(words, of: word), .string)
        case .object: return .value(at: try path(words, of: word), .object)
        case .nonEmptyObject: return .value(at: try path(words, of: word), .nonEmptyObject)
        case .truthy: return .value(at: try path(words, of: word), .truthy)
        case .equals:
            let (path, text) = try pathAndLast(words, of: word)
            return .value(at: path, .equals(text))
        case .equalsIgnoringCase:
            let (path, text) = try pathAndLast(words, of: word)
            return .value(at: path, .equalsIgnoringCase(text))
        case .json:
            let (path, key) = try pathAndLast(words, of: word)
            return .value(at: path, .jsonText(key: key))
        case .prefix:
            guard words.count == 1, let prefix = words.first, !prefix.isEmpty else { throw wrong(word) }
            guard !transportPrefixes.contains(where: { $0.hasPrefix(prefix) || prefix.hasPrefix($0) }) else {
                throw transportMark(prefix)
            }
            return .keyBeginning(with: prefix)
        case .members:
            guard words.count == 1 else { throw wrong(word) }
            return .keyCount(try Form<Int>.integer(0...1000).parse(words[0]))
        }
    }

    private static func path(_ words: [String], of word: ConditionWord) throws(ValueError) -> [String] {
        guard let key = words.first, !words.contains("") else { throw wrong(word) }
        guard !transportPrefixes.contains(where: key.hasPrefix) else { throw transportMark(key) }
        return words
    }

    private static func pathAndLast(
        _ words: [String], of word: ConditionWord
    ) throws(ValueError) -> (path: [String], last: String) {
        guard let last = words.last else { throw wrong(word) }
        return (try path(words.dropLast(), of: word), last)
    }

    private static func wrong(_ word: ConditionWord) -> ValueError {
        ValueError("must be \"\(word.usage)\"; quote a word with spaces")
    }

    private static func transportMark(_ key: String) -> ValueError {
        ValueError("\(printable(key, limit: 60)) can be a mark of FCM, which carries pushes of every provider")
    }
}

/// How the keys begin that FCM adds, whoever sends the push.
private let transportPrefixes = ["gcm.", "google."]
