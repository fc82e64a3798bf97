import PushModel
import PushRouter

extension Form<[TrackField]> {
    /// `NAME TYPE SOURCE`.
    static func field(_ kind: CustomDataName) -> Form {
        Form { text throws(ValueError) in [try field(text, kind)] }
    }

    private static func field(_ text: String, _ kind: CustomDataName) throws(ValueError) -> TrackField {
        var words = QuotedWords(text)
        let usage = ValueError(
            "must be NAME TYPE SOURCE, such as price number keyvalue:price; quote a name with spaces")
        guard let name = try words.next(), let word = try words.next() else { throw usage }
        let type = try Form<TrackValueType>.choice.parse(word)
        guard let source = try words.nextSource() else { throw usage }
        guard try words.next() == nil else { throw usage }
        try check(name, kind)
        if case .constant(let value) = source, type.json(of: value) == nil {
            throw ValueError("\(source.described) must be \(type.described)")
        }
        return TrackField(name, type, source)
    }
}

extension Form<TrackSource> {
    /// The source of a value.
    static let valueSource = Form { text throws(ValueError) in try source(text) }

    /// The source of an identifier: only sources that differ from user to user.
    static let identifyingSource = Form { text throws(ValueError) in
        let source = try source(text, .identifying)
        switch source {
        case .keyValue, .data, .fact(.externalID), .fact(.device): return source
        case .fact, .constant: throw ValueError("must be \(SourceChoice.identifying.described)")
        }
    }

    private static func source(_ text: String, _ choice: SourceChoice = .any) throws(ValueError) -> TrackSource {
        var words = QuotedWords(text)
        guard let source = try words.nextSource(choice), try words.next() == nil else {
            throw ValueError("must be one source, such as keyvalue:event_name; quote a key with spaces")
        }
        return source
    }
}

extension Form<TrackDraft.Alias> {
    /// `LABEL SOURCE`
    static let alias = Form { text throws(ValueError) in
        var words = QuotedWords(text)
        let label = try words.next()
        let rest = words.remaining
        guard let label, !label.isEmpty, !rest.isEmpty else {
            throw ValueError("must be LABEL SOURCE, such as crm_id keyvalue:crm_id; quote a label with spaces")
        }
        return TrackDraft.Alias(label: label, name: try Form<TrackSource>.identifyingSource.parse(rest))
    }
}

extension Form<String> {
    /// The name of a custom event, including spaces.
    static let eventName = Form { text throws(ValueError) in
        if text.hasPrefix("\"") || text.hasPrefix("'") {
            throw ValueError("a name is not quoted; leave the quotes out")
        }
        try check(text, .event)
        return text
    }
}

/// The sources to name in a message.
private enum SourceChoice {
    /// The sources for a value.
    case any
    /// The sources for an identifier.
    case identifying

    var words: [String] {
        switch self {
        case .any: TrackSource.Fact.allCases.map(\.rawValue)
        case .identifying: [TrackSource.Fact.externalID, .device].map(\.rawValue)
        }
    }

    var described: String {
        "keyvalue:KEY, data:KEY, " + (self == .any ? "\"a quoted text\", " : "") + alternatives(words)
    }
}

extension QuotedWords {
    /// Takes the next word as a source: `keyvalue:KEY`, `data:KEY`, the name of a fact, or a quoted constant.
    fileprivate mutating func nextSource(_ choice: SourceChoice = .any) throws(ValueError) -> TrackSource? {
        let isConstant = isNextQuoted
        guard let word = try next() else { return nil }
        if isConstant { return .constant(word) }
        let bytes = Array(word.utf8)
        for (prefix, source) in [("keyvalue:", TrackSource.keyValue), ("data:", TrackSource.data)]
        where bytes.starts(with: prefix.utf8) && bytes.count > prefix.utf8.count {
            return source(bytes.dropFirst(prefix.utf8.count).text)
        }
        if let fact = TrackSource.Fact(rawValue: word) { return .fact(fact) }
        throw ValueError(
            "the source \"\(printable(word, limit: 60))\" must be \(choice.described)"
                + suggestion(for: word, among: choice.words) { $0 })
    }
}

/// Checks a name by the rules for entries.
private func check(_ name: String, _ kind: CustomDataName) throws(ValueError) {
    guard let reason = kind.objection(to: name) else { return }
    let known = kind == .userAttribute ? CustomDataName.userAttributes : []
    throw ValueError("\"\(printable(name, limit: 60))\": \(reason)" + suggestion(for: name, among: known) { $0 })
}
