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
