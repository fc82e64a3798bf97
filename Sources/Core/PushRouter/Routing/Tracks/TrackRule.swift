public import PushModel

/// A rule for data sent to `/users/track` on an event of a push: one `.track` file.
public struct TrackRule: Hashable, Sendable {
    /// An event of a push. The raw values are the words of `On=`.
    public enum Occasion: String, Sendable, CaseIterable {
        /// Code of the app received it; a Braze push also if the system showed it (rule T9).
        case received
        /// A person tapped its body.
        case opened
        /// A person pressed one of its buttons.
        case action
        /// A person dismissed it.
        case dismissed
    }

    /// The file name without its extension.
    public var name: String
    /// The pushes; the conditions of a route, except the one on the callback.
    public var match: RouteMatch
    /// The events to which the rule applies; never empty.
    public var occasions: [Occasion]
    /// The buttons, by id; empty: any.
    public var buttons: [Glob]
    /// The source of the profile's identifier.
    public var identifier: TrackIdentifier
    /// The event; `nil`: none.
    public var event: Event?
    /// The custom attributes of the profile.
    public var attributes: [TrackField]
    /// The provider's standard attributes of the profile: `email`, `first_name`, ...
    public var userAttributes: [TrackField]

    /// A custom event.
    public struct Event: Hashable, Sendable {
        /// The name.
        public var name: TrackSource
        /// The properties of the event; those without a value are omitted.
        public var properties: [TrackField]

        /// Joins the parts.
        public init(name: TrackSource, properties: [TrackField] = []) {
            self.name = name
            self.properties = properties
        }
    }

    /// Joins the parts.
    public init(
        name: String, match: RouteMatch = RouteMatch(), occasions: [Occasion], buttons: [Glob] = [],
        identifier: TrackIdentifier, event: Event? = nil, attributes: [TrackField] = [],
        userAttributes: [TrackField] = []
    ) {
        self.name = name
        self.match = match
        self.occasions = occasions
        self.buttons = buttons
        self.identifier = identifier
        self.event = event
        self.attributes = attributes
        self.userAttributes = userAttributes
    }
}

/// The source of the profile's identifier.
public enum TrackIdentifier: Hashable, Sendable {
    /// The provider's id of the profile, in this key-value of the dashboard.
    case brazeID(keyValue: String)
    /// The customer's id of the user.
    case externalID(TrackSource)
    /// An alias: a name that is unique within a label.
    case alias(label: String, name: TrackSource)
}

/// A property of an event, or an attribute of a profile.
public struct TrackField: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The type as which the text of the source is parsed.
    public var type: TrackValueType
    /// The source of its value.
    public var source: TrackSource

    /// Joins the parts.
    public init(_ name: String, _ type: TrackValueType, _ source: TrackSource) {
        self.name = name
        self.type = type
        self.source = source
    }
}

/// The type as which a text is parsed: payloads have most values as strings. The raw values are the words of `.track`
/// files.
public enum TrackValueType: String, Sendable, CaseIterable {
    /// The text itself.
    case string
    /// A number, as JSON writes it.
    case number
    /// An integer of 64 bits, without fraction and exponent.
    case integer
    /// `true` or `false` in any case; 1 or 0.
    case boolean
    /// A date, or a date and time, in ISO 8601; a time without a zone is UTC.
    case date
    /// The JSON text of an array.
    case array
    /// The JSON text of an object.
    case object
    /// Any JSON text.
    case json
}

/// The source of a value.
public enum TrackSource: Hashable, Sendable {
    /// One of the dashboard's key-value pairs, wherever the platform puts them.
    case keyValue(String)
    /// One of the payload's own keys.
    case data(String)
    /// A fact about the push or the person's act.
    case fact(Fact)
    /// A fixed text.
    case constant(String)

    /// A fact beside the payload's keys. The raw values are the words of `.track` files.
    public enum Fact: String, Sendable, CaseIterable {
        /// The provider of the payload.
        case provider
        /// The campaign of a Braze payload.
        case campaignID = "campaign_id"
        /// The message id: the payload's own, or on iOS and the web the request's.
        case messageID = "message_id"
        /// The platform: `android`, `ios` or `web`.
        case platform
        /// The package name or bundle id.
        case app
        /// The device name that the producer gave.
        case device
        /// The user that the producer named, or the device's last known user.
        case externalID = "external_id"
        /// The event: a word of `On=`.
        case occasion
        /// The id of the pressed button.
        case action
        /// The text typed into the button's text field.
        case text
    }
}

extension TrackIdentifier {
    /// Returns the identifier of the user's profile, or the reason why it is missing.
    func resolved(_ facts: TrackFacts) -> (identifier: UserIdentifier?, fault: EntryProblem?) {
        let (field, source, identifier): (String, TrackSource, (String) -> UserIdentifier) =
            switch self {
            case .brazeID(let key): ("braze_id", .keyValue(key), UserIdentifier.brazeID)
            case .externalID(let source): ("external_id", source, UserIdentifier.externalID)
            case .alias(let label, let source): ("alias", source, { .alias(name: $0, label: label) })
            }
        guard let text = facts.text(of: source), !text.isEmpty else {
            return (nil, source.missing(facts, for: field))
        }
        return (identifier(text), nil)
    }
}

extension TrackSource {
    /// Returns the problem of a source that has no value, or an empty one, although a field requires one.
    func missing(_ facts: TrackFacts, for field: String) -> EntryProblem {
        EntryProblem(.notInPayload, reasonMissing(facts), field: field)
    }

    private func reasonMissing(_ facts: TrackFacts) -> String {
        if facts.text(of: self) != nil { return "\(described) is empty" }
        switch self {
        case .keyValue, .data:
            guard let keys = facts.keys else {
                return
                    "\(described) is unknown: the interaction does not carry the payload, and the payload is not known"
            }
            guard case .keyValue(let key) = self else { return "the payload has no \(described)" }
            let near = nearMiss(of: key, among: keys.namesOfKeyValues(like: key))
            return "the payload has no \(described)" + (near.map { "; it has \($0)" } ?? "")
        case .fact(.externalID):
            return "the user is not known: no external_id was given, and the device had none before"
        case .fact, .constant: return "\(described) is not known"
        }
    }

    /// A description of the source, for messages.
    public var described: String {
        switch self {
        case .keyValue(let key): "key-value \(key)"
        case .data(let key): "key \(key)"
        case .fact(let fact): fact.rawValue
        case .constant(let text): "\"\(text)\""
        }
    }
}

/// Returns the name that was probably meant to be the wanted one, and its difference: only in case, hyphens,
/// underscores or spaces. `nil` if there is none.
public func nearMiss(of wanted: String, among names: some Sequence<String>) -> String? {
    let plain = letters(of: wanted)
    // The bounded length keeps other parts of the payload out of the message.
    let near = names.first {
        $0 != wanted && $0.utf8.count <= wanted.utf8.count + 8 && plain == letters(of: $0)
    }
    guard let near else { return nil }
    let isOnlyCase = near.lowercased() == wanted.lowercased()
    return isOnlyCase ? "\(near): names are case-sensitive" : "\"\(near)\": names must match exactly"
}

/// Returns a name in lower case, without hyphens, underscores and spaces.
private func letters(of name: String) -> [UInt8] {
    name.lowercased().utf8.filter { !"-_ ".utf8.contains($0) }
}

/// The nesting limit of one value's JSON.
let valueDepthMax = JSONLimits().depth

extension TrackValueType {
    /// Returns the JSON of a text that is parsed as this type, without white space between tokens; `nil` if the text is
    /// invalid.
    public func json(of text: String) -> [UInt8]? {
        switch self {
        case .string: Self.quoted(text)
        case .number: Self.scan(text, .number)?.compactBytes
        case .integer: Self.scan(text, .number).flatMap { $0.int64 == nil ? nil : $0.compactBytes }
        case .boolean: Self.boolean(text)
        case .date: Self.date(text).map(Self.quoted)
        case .array: Self.scan(text, .array)?.compactBytes
        case .object: Self.scan(text, .object)?.compactBytes
        case .json: Self.scan(text)?.compactBytes
        }
    }

    /// A description of valid texts, with an example.
    public var described: String {
        switch self {
        case .string: "a text"
        case .number: "a number, such as 12.5"
        case .integer: "a whole number, such as 12"
        case .boolean: "true or false"
        case .date: "a date from the year 1 to 3000, such as 2026-11-21 or 2026-11-21T09:00:00Z"
        case .array: "the JSON of an array, such as [\"a\",\"b\"]"
        case .object: "the JSON of an object, such as {\"a\":1}"
        case .json: "JSON"
        }
    }

    private static func scan(_ text: String, _ kind: JSONNode.Kind? = nil) -> JSONNode? {
        guard let root = try? JSONDocument(scanning: Array(text.utf8), limits: JSONLimits(depth: valueDepthMax)).root,
            kind == nil || root.kind == kind
        else { return nil }
        return root
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter(reserving: text.utf8.count + 2)
        writer.string(text)
        return writer.bytes
    }

    private static func boolean(_ text: String) -> [UInt8]? {
        switch text.lowercased() {
        case "true", "1": Array("true".utf8)
        case "false", "0": Array("false".utf8)
        default: nil
        }
    }

    /// Returns a date unchanged, or a date and time in UTC.
    private static func date(_ text: String) -> String? {
        // Braze silently stores dates after the year 3000 as strings.
        guard let year = Int(text.prefix(4)), (1...3000).contains(year) else { return nil }
        var bytes = Array(text.utf8)
        if bytes.count == 10 { return WallTime(rfc3339: text + "T00:00:00Z").map { _ in text } }
        guard bytes.count > 10 else { return nil }
        if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        let time = String(decoding: bytes, as: UTF8.self)
        return (WallTime(rfc3339: time) ?? WallTime(rfc3339: time + "Z"))?.rfc3339
    }
}
