import PushModel
import PushRouter

/// The first words of a condition in a `.provider` file.
private enum ConditionWord: String, CaseIterable {
    case present, notNull = "not-null", equals, equalsIgnoringCase = "equals-ignoring-case"
    case string, notEmpty = "not-empty", notBlank = "not-blank", object
    case nonEmptyObject = "non-empty-object", truthy, json, jsonText = "json-text", prefix, contains, members

    /// The syntax after the word, for messages.
    var usage: String {
        switch self {
        case .present, .notNull, .string, .notEmpty, .notBlank, .object, .nonEmptyObject, .truthy:
            "\(rawValue) KEY..."
        case .equals, .equalsIgnoringCase: "\(rawValue) KEY... TEXT"
        case .json: "json KEY... KEY-IN-THE-TEXT"
        case .jsonText: "json-text KEY CONDITION"
        case .prefix, .contains: "\(rawValue) TEXT"
        case .members: "members NUMBER"
        }
    }
}

extension Form<[ProviderCondition]> {
    /// One condition, quoted like the words of `Exec=`: `equals push_from moengage`. Several keys are a path. A bare
    /// `&&` joins conditions that must all hold.
    static let condition = Form { text throws(ValueError) in
        var reader = QuotedWords(text)
        var conditions: [ProviderCondition] = []
        repeat {
            var words: [String] = []
            while !reader.isNext(bare: and), let word = try reader.next() { words.append(word) }
            conditions.append(try condition(words))
        } while reader.take(bare: and)
        return conditions.count == 1 ? conditions : [.every(conditions)]
    }

    private static func condition(_ words: [String]) throws(ValueError) -> ProviderCondition {
        guard let name = words.first else {
            throw ValueError("a condition is missing beside \(and); it must begin with \(alternatives(knownWords))")
        }
        guard let word = ConditionWord(rawValue: name) else {
            throw ValueError(
                "must begin with \(alternatives(knownWords))" + suggestion(for: name, among: knownWords) { $0 })
        }
        return try condition(word, Array(words.dropFirst()))
    }

    private static func condition(_ word: ConditionWord, _ words: [String]) throws(ValueError) -> ProviderCondition {
        switch word {
        case .present: return .value(at: try path(words, of: word), .present)
        case .notNull: return .value(at: try path(words, of: word), .notNull)
        case .notEmpty: return .value(at: try path(words, of: word), .notEmpty)
        case .notBlank: return .value(at: try path(words, of: word), .notBlank)
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
        case .jsonText:
            guard words.count > 1 else { throw wrong(word) }
            let key = try path([words[0]], of: word)[0]
            return .inText(of: key, try condition(Array(words.dropFirst())))
        case .contains:
            guard words.count == 1, let text = words.first, !text.isEmpty else { throw wrong(word) }
            guard !transportKeys.contains(where: { $0.has(text) }),
                !transportPrefixes.contains(where: { text.has($0) })
            else { throw transportMark(text) }
            return .keyContaining(text)
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
        ValueError("\(printable(key, limit: 60)) can match a key of FCM, which carries pushes of every provider")
    }
}

private let knownWords = ConditionWord.allCases.map(\.rawValue)

/// The prefixes of the keys that FCM adds to every sender's push.
private let transportPrefixes = ["gcm.", "google."]

/// The keys of FCM that an iOS app finds in a payload; no condition may match one of them.
private let transportKeys = ["gcm.message_id", "gcm.notification", "google.c.sender.id", "google.c.fid", "google.c.a."]

/// The separator of conditions that must all hold.
private let and = "&&"
