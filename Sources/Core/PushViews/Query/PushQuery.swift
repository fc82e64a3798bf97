public import PushModel

/// A search for pushes: terms that must all hold. One language for page, API and `pushctl`.
///
///     app:com.example.* outcome:timed_out,expired -is:retry "free words"
///
/// A term is a word with values, of which one must match, or free text, which the request must have in any case of letters.
/// A minus before it turns it around.
public struct PushQuery: Sendable {
    /// One term.
    struct Term: Sendable {
        /// The condition.
        enum Condition: Sendable {
            case patterns(QueryWord, [Glob])
            case words(QueryWord, Set<String>)
            /// The value under a key of the payload's data.
            case data(String, [Glob])
            case acceptedBefore(WallTime)
            case acceptedFrom(WallTime)
            case longer(than: Int)
            case slower(than: Duration)
            /// In lower case.
            case text([UInt8])
        }

        let condition: Condition
        let isNegated: Bool
    }

    /// The query as it was written, without white space around it.
    public let text: String
    private(set) var terms: [Term]
    /// Whether it names operations: else only pushes are meant.
    let namesOperations: Bool

    /// How long a query may be, in bytes.
    public static let longest = 4096
    /// As many terms as a query may have.
    static let termsMax = 64

    /// Every push.
    public static let everything = PushQuery()

    private init() { (text, terms, namesOperations) = ("", [], false) }

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - text: the query; an empty one is every push.
    ///   - now: the time that `-1h` counts back from.
    /// - Throws: ``QueryError`` with the first error and its place.
    public init(_ text: String, now: WallTime) throws(QueryError) {
        guard text.utf8.count <= Self.longest else {
            throw QueryError("the query has more than \(Self.longest) bytes", word: "", column: 1)
        }
        var reader = QueryReader(text)
        var terms: [Term] = []
        var words: [String] = []
        while let token = try reader.next() {
            guard terms.count < Self.termsMax else {
                throw QueryError(
                    "the query has more than \(Self.termsMax) terms", word: token.text, column: token.column)
            }
            terms.append(try token.term(now: now))
            words.append(token.text)
        }
        self.text = words.joined(separator: " ")
        self.terms = terms
        namesOperations = terms.contains { term in
            switch term.condition {
            case .words(.op, _), .patterns(.id, _): true
            case .patterns, .words, .data, .acceptedBefore, .acceptedFrom, .longer, .slower, .text: false
            }
        }
    }

    /// The query without pushes that have an invocation without an outcome. A query that names `is:pending` is itself.
    var decided: PushQuery {
        let isPending = Term.Condition.words(.is, [QueryState.pending.rawValue])
        let namesPending = terms.contains { term in
            if case .words(.is, let words) = term.condition {
                words.contains(QueryState.pending.rawValue)
            } else {
                false
            }
        }
        guard !namesPending else { return self }
        var query = self
        query.terms.append(Term(condition: isPending, isNegated: true))
        return query
    }

    /// Whether it is every push.
    public var isEverything: Bool { terms.isEmpty }

    /// Whether a request matches.
    ///
    /// - Parameter facts: the request, and what is read of it as it is asked for.
    public func matches(_ facts: PushFacts) -> Bool {
        guard namesOperations || facts.isPush else { return false }
        return terms.allSatisfy { $0.isNegated != facts.satisfies($0.condition) }
    }

    /// Accepted from then on, as the terms say; `nil`: no bound.
    public var since: WallTime? {
        terms.compactMap { term in
            switch (term.condition, term.isNegated) {
            case (.acceptedFrom(let time), false), (.acceptedBefore(let time), true): time
            default: nil
            }
        }.max()
    }

    /// The exact values that each match has one of, for the words that an index has.
    public var indexed: [[IndexedFact]] {
        terms.compactMap { term in
            guard !term.isNegated else { return nil }
            switch term.condition {
            case .patterns(let word, let patterns):
                guard IndexedFact.words.contains(word), patterns.allSatisfy(\.isPlain) else { return nil }
                return patterns.map { IndexedFact(word, $0.description) }
            case .words(.outcome, let words): return words.map { IndexedFact(.outcome, $0) }
            case .words(.is, let words) where !namesOperations:
                let outcomes = words.map { QueryState(rawValue: $0)?.outcomes }
                guard !outcomes.contains(nil) else { return nil }
                return Set(outcomes.compactMap(\.self).flatMap(\.self)).map { IndexedFact(.outcome, $0.rawValue) }
            default: return nil
            }
        }
    }
}

extension Glob {
    /// Whether it matches its own text alone.
    fileprivate var isPlain: Bool { !description.unicodeScalars.contains { "*?[\\".unicodeScalars.contains($0) } }
}

/// The reason why a text is no query. It points at the word.
public struct QueryError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    public let message: String
    /// The word that it is about, as it was written.
    public let word: String
    /// The character that the word begins with, from 1 on.
    public let column: Int

    init(_ message: String, word: String, column: Int) {
        (self.message, self.word, self.column) = (message, word, column)
    }

    public var description: String { word.isEmpty ? message : "\(word) (character \(column)): \(message)" }
}

/// Splits a query into its terms.
private struct QueryReader {
    private let characters: [Character]
    private var place = 0

    init(_ text: String) { characters = Array(text) }

    /// The next term as it was written; `nil` at the end.
    mutating func next() throws(QueryError) -> QueryToken? {
        while place < characters.count, characters[place].isWhitespace { place += 1 }
        guard place < characters.count else { return nil }
        let begin = place
        let isNegated = characters[place] == "-" && place + 1 < characters.count && !characters[place + 1].isWhitespace
        if isNegated { place += 1 }
        var word: String?
        var values = [""]
        var isQuoted = false
        while place < characters.count, !characters[place].isWhitespace {
            let character = characters[place]
            if character == "\"" {
                values[values.count - 1] += try quoted(from: begin)
                isQuoted = true
                continue
            }
            if character == ":", word == nil, !isQuoted, !values[0].isEmpty {
                (word, values) = (values[0], [""])
            } else if character == ",", word != nil {
                values.append("")
            } else {
                values[values.count - 1].append(character)
            }
            place += 1
        }
        return QueryToken(
            word: word, values: values, isNegated: isNegated, text: String(characters[begin..<place]), column: begin + 1
        )
    }

    private mutating func quoted(from begin: Int) throws(QueryError) -> String {
        let start = place
        place += 1
        var text = ""
        while place < characters.count {
            defer { place += 1 }
            if characters[place] == "\"" { return text }
            text.append(characters[place])
        }
        throw QueryError(
            "a quotation mark begins here and does not end", word: String(characters[begin...]), column: start + 1)
    }
}

private struct QueryToken {
    let word: String?
    let values: [String]
    let isNegated: Bool
    let text: String
    let column: Int

    func term(now: WallTime) throws(QueryError) -> PushQuery.Term {
        PushQuery.Term(condition: try condition(now), isNegated: isNegated)
    }

    private func error(_ message: String) -> QueryError { QueryError(message, word: text, column: column) }

    private func condition(_ now: WallTime) throws(QueryError) -> PushQuery.Term.Condition {
        guard let name = word else {
            guard !values[0].isEmpty else { throw error("the query is empty") }
            // As the request is: other letters than those of ASCII keep their case.
            return .text(values[0].utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        }
        if name.hasPrefix("data."), !values.contains("") {
            return .data(String(name.dropFirst("data.".count)), values.map { Glob($0) })
        }
        guard let word = QueryWord(rawValue: name.hasPrefix("data.") ? QueryWord.data.rawValue : name) else {
            let names = QueryWord.allCases.map(\.rawValue)
            let other = suggestion(for: name, among: names) { "\($0):" }
            throw error(
                "there is no word \(name):\(other.isEmpty ? "; put quotation marks around a text with a colon" : other)"
            )
        }
        guard !values.contains("") else { throw error("\(word.rawValue): needs a value, as in \(word.example)") }
        switch word.values {
        case .patterns: return .patterns(word, values.map { Glob($0) })
        case .words(let words):
            for value in values where !words.contains(value) {
                let other = suggestion(for: value, among: words)
                throw error(
                    "\(word.rawValue): has no value \(value)\(other); it takes \(words.joined(separator: ", "))")
            }
            return .words(word, Set(values))
        case .time:
            guard let time = WallTime(inWords: try single(word), now: now) else {
                throw error(
                    "\(word.rawValue): needs a time: RFC 3339, a date, today, yesterday, or how long ago, as in -1h")
            }
            return word == .before ? .acceptedBefore(time) : .acceptedFrom(time)
        case .size:
            guard let size = Self.size(try single(word)) else {
                throw error("\(word.rawValue): needs a number of bytes, as in \(word.example)")
            }
            return .longer(than: size)
        case .span:
            guard let span = Duration(timeSpan: try single(word)) else {
                throw error("\(word.rawValue): needs a time span, as in \(word.example)")
            }
            return .slower(than: span)
        }
    }

    private func single(_ word: QueryWord) throws(QueryError) -> String {
        guard values.count == 1 else { throw error("\(word.rawValue): takes one value") }
        return values[0]
    }

    /// A number of bytes: `2k` is 2048.
    private static func size(_ text: String) -> Int? {
        let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20]
        let factor = text.lowercased().last.flatMap { units[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        guard let count = Int(digits), (0..<1 << 40).contains(count) else { return nil }
        return count * (factor ?? 1)
    }
}

extension String {
    /// The text as a value of the query language. A character that means something there becomes one that matches any.
    var asQueryValue: String {
        let plain = unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                || "._-=+/".unicodeScalars.contains($0)
        }
        guard !plain || isEmpty else { return self }
        return "\""
            + String(String.UnicodeScalarView(unicodeScalars.map { "\"*?[]\\".unicodeScalars.contains($0) ? "?" : $0 }))
            + "\""
    }
}
