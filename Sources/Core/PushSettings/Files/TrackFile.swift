import PushModel
import PushRouter

/// The contents of a `.track` file, before they are checked as a whole.
struct TrackDraft: Fillable {
    /// `Alias=`
    struct Alias: Sendable {
        var label: String
        var name: TrackSource
    }

    var match = RouteMatch()
    var occasions: [TrackRule.Occasion] = []
    var buttons: [Glob] = []
    var keyValue: String?
    var externalID: TrackSource?
    var alias: Alias?
    var eventName: String?
    var eventNameFrom: TrackSource?
    var properties: [TrackField] = []
    var attributes: [TrackField] = []
    var userAttributes: [TrackField] = []

    /// Returns the track, or `nil` if the file does not describe one.
    func validated(name: String, lines: [String: Int], report: inout FileReport) -> TrackRule? {
        if occasions.isEmpty, lines["On"] == nil {
            report.error("On= is missing; [Track] needs On=received, opened, action or dismissed, or several of them")
        }
        if let line = lines["Action"], !occasions.contains(.action) {
            report.warning("Action=: has no effect without On=action", line: line)
        }
        match.warnOfEqualsSigns(lines: lines, report: &report)
        for (key, fields) in [
            ("Property", properties), ("Attribute", attributes), ("UserAttribute", userAttributes),
        ] {
            var names: Set<String> = []
            for field in fields where !names.insert(field.name).inserted {
                report.error("\(key)=\(printable(field.name)): is given twice; remove one", line: lines[key])
            }
        }
        let identifier = identifier(lines: lines, report: &report)
        let event = event(lines: lines, report: &report)
        if event == nil, attributes.isEmpty, userAttributes.isEmpty, !report.hasErrors {
            report.error("sends nothing; it needs Name= in [Event], or Attribute= or UserAttribute= in [Attributes]")
        }
        guard let identifier, !report.hasErrors else { return nil }
        return TrackRule(
            name: name, match: match, occasions: occasions, buttons: buttons, identifier: identifier, event: event,
            attributes: attributes, userAttributes: userAttributes)
    }

    private func identifier(lines: [String: Int], report: inout FileReport) -> TrackIdentifier? {
        let given = ["Identifier.KeyValue", "ExternalID", "Alias"].compactMap { lines[$0] }.sorted()
        guard let line = given.last else {
            report.error(
                "[Identifier] is missing; it names the profile: KeyValue=braze_id, ExternalID= or Alias=")
            return nil
        }
        guard given.count == 1 else {
            report.error("only one of KeyValue=, ExternalID= and Alias= can name the profile", line: line)
            return nil
        }
        if let keyValue {
            if let near = nearMiss(of: Self.brazeID, among: [keyValue]) {
                report.warning(
                    "KeyValue=\(near); Braze calls it \(Self.brazeID), and a payload with that name does not match",
                    line: line)
            }
            if let prefix = ["keyvalue:", "data:"].first(where: keyValue.hasPrefix) {
                let key = printable(String(keyValue.dropFirst(prefix.count)))
                report.warning(
                    "KeyValue=\(printable(keyValue)): takes the key alone, without \(prefix); did you mean KeyValue=\(key)?",
                    line: line)
            }
            return .brazeID(keyValue: keyValue)
        }
        return externalID.map(TrackIdentifier.externalID) ?? alias.map { .alias(label: $0.label, name: $0.name) }
    }

    private func event(lines: [String: Int], report: inout FileReport) -> TrackRule.Event? {
        if let line = lines["NameFrom"], lines["Name"] != nil {
            report.error("only one of Name= and NameFrom= can give the event its name", line: line)
        }
        guard let name = eventName.map(TrackSource.constant) ?? eventNameFrom else {
            if let line = lines["Property"], lines["Name"] == nil, lines["NameFrom"] == nil {
                report.error("Property= needs an event; give [Event] Name= or NameFrom=", line: line)
            }
            return nil
        }
        return TrackRule.Event(name: name, properties: properties)
    }

    /// The key-value that has the profile's id in a payload, by Braze's documentation.
    private static let brazeID = "braze_id"
}

extension Schema<TrackDraft> {
    /// `tracks.d/*.track`.
    static let track = Schema(
        keys: [
            Key("Match", "Provider", addingTo: { $1(&$0.match.providers) }, Form.providerName.list),
            Key("Match", "Platform", addingTo: { $1(&$0.match.platforms) }, Form.choice.list),
            Key("Match", "App", addingTo: { $1(&$0.match.apps) }, Form.glob.list),
            Key("Match", "Data", addingTo: { $1(&$0.match.data) }, .keyCondition),
            Key("Match", "KeyValue", addingTo: { $1(&$0.match.keyValues) }, .keyCondition),
            Key("Track", "On", addingTo: { $1(&$0.occasions) }, Form.choice.list),
            Key("Track", "Action", addingTo: { $1(&$0.buttons) }, Form.glob.list),
            Key("Identifier", "KeyValue", { $1(&$0.keyValue) }, Form.payloadKey.optional),
            Key("Identifier", "ExternalID", { $1(&$0.externalID) }, Form.identifyingSource.optional),
            Key("Identifier", "Alias", { $1(&$0.alias) }, Form.alias.optional),
            Key("Event", "Name", { $1(&$0.eventName) }, Form.eventName.optional),
            Key("Event", "NameFrom", { $1(&$0.eventNameFrom) }, Form.valueSource.optional),
            Key("Event", "Property", addingTo: { $1(&$0.properties) }, .field(.property)),
            Key("Attributes", "Attribute", addingTo: { $1(&$0.attributes) }, .field(.customAttribute)),
            Key("Attributes", "UserAttribute", addingTo: { $1(&$0.userAttributes) }, .field(.userAttribute)),
        ],
        objection: { section, key in
            // Without this error, the track would ignore the condition and match more than its author means.
            section == "Match" && key == "Callback" ? "a track has no Callback=; use On=" : nil
        })
}

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
