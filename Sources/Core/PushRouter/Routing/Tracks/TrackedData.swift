public import PushModel

/// One entry that a track makes of an event of a push.
public struct TrackedData: Sendable {
    /// The track's name.
    public var rule: String
    /// The kind of the entry.
    public var kind: EntryKind
    /// The identifier of the profile; `nil`: ``fault`` has the reason.
    public var identifier: UserIdentifier?
    /// The object in the form of `op: log`: `name` and `properties`, or `attributes`. A value with a fault in its type
    /// is the original text.
    public var object: JSONNode
    /// The fault because of which the entry is rejected; `nil`: it is to be sent.
    public var fault: EntryProblem?
}

extension RoutingTable {
    /// Returns the entries that the tracks make of an event of a push: in the order of the tracks' names, and the
    /// attributes of each before its event, like `/users/track`. An entry that cannot be sent has its fault, so that
    /// nothing is lost silently.
    ///
    /// Depends only on the tracks and `facts`.
    public func tracked(_ facts: TrackFacts) -> [TrackedData] {
        // Most tables have no track, and every delivery takes this path.
        guard !tracks.isEmpty else { return [] }
        var facts = facts
        facts.keys?.readKeyValues()
        return tracks.flatMap { $0.applies(to: facts) ? $0.entries(for: facts) : [] }
    }

    /// Whether a track may apply to this event; if not, the payload need not be read.
    func hasTrack(on occasion: TrackRule.Occasion) -> Bool {
        tracks.contains { $0.occasions.contains(occasion) }
    }
}

extension TrackRule {
    fileprivate func entries(for facts: TrackFacts) -> [TrackedData] {
        let profile = identifier.resolved(facts)
        func entry(
            _ kind: EntryKind, _ fault: EntryProblem?, _ content: (inout JSONWriter) -> Void
        ) -> TrackedData {
            TrackedData(
                rule: name, kind: kind, identifier: profile.identifier, object: node(content),
                fault: profile.fault ?? fault)
        }
        var entries: [TrackedData] = []
        for (kind, fields) in [(EntryKind.customAttributes, attributes), (.userAttributes, userAttributes)] {
            let values = fields.compactMap { FieldValue($0, in: "attributes", facts) }
            // Valid fields share an entry; each faulty one has its own, so that it does not block the others.
            let right = values.filter { $0.fault == nil }
            for group in [right] + values.filter({ $0.fault != nil }).map({ [$0] }) where !group.isEmpty {
                entries.append(entry(kind, group.first?.fault) { $0.member("attributes", fields: group) })
            }
        }
        if let event {
            let values = event.properties.compactMap { FieldValue($0, in: "properties", facts) }
            let name = facts.text(of: event.name).flatMap { $0.isEmpty ? nil : $0 }
            let nameFault = name == nil ? event.name.missing(facts, for: "name") : nil
            entries.append(
                entry(.customEvent, nameFault ?? values.lazy.compactMap(\.fault).first) {
                    if let name { $0.member("name", name) }
                    if !values.isEmpty { $0.member("properties", fields: values) }
                })
        }
        return entries
    }
}

/// The JSON value of a field, with a fault if the text does not match the field's type.
private struct FieldValue {
    var name: String
    var json: [UInt8]
    var fault: EntryProblem?

    /// Returns `nil` if the source has no value. An empty text is a value only of a string.
    init?(_ field: TrackField, in member: String, _ facts: TrackFacts) {
        guard let text = facts.text(of: field.source), !text.isEmpty || field.type == .string else { return nil }
        name = field.name
        if let json = field.type.json(of: text) {
            self.json = json
        } else {
            var writer = JSONWriter(reserving: text.utf8.count + 2)
            writer.string(text)
            json = writer.bytes
            fault = EntryProblem(
                .invalidValue, "\(field.source.described) must be \(field.type.described)",
                field: "\(member).\(field.name)")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, fields: [FieldValue]) {
        member(name, object: { for field in fields { $0.member(field.name, raw: field.json) } })
    }
}

/// Returns the object with this content.
private func node(_ content: (inout JSONWriter) -> Void) -> JSONNode {
    var writer = JSONWriter()
    writer.object(content)
    // The object adds two levels to the nesting of a value.
    guard let document = try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: valueDepthMax + 2)) else {
        preconditionFailure("the fields of a track have different names, and their values are JSON")
    }
    return document.root
}
