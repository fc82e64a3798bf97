import PushDispatch
public import PushModel

/// An entry that a track makes of a push or an interaction.
public struct TrackedData: Sendable {
    /// The track's name.
    public var rule: String
    /// The kind of the entry.
    public var kind: EntryKind
    /// The profile; `nil`: ``fault`` has the reason.
    public var identifier: UserIdentifier?
    /// The object as `op: log` has it: `name` and `properties`, or `attributes`. A value that could not be converted to
    /// its type is the original text.
    public var object: JSONNode
    /// The reason why it is set aside; `nil`: it is to be sent.
    public var fault: EntryProblem?
}

extension RoutingTable {
    /// Returns the entries that the tracks make of the facts: by name of the track, in each the attributes first, the
    /// order of `/users/track`. Entries that cannot be sent have a fault, so that none is lost unnoticed.
    ///
    /// Depends only on the tracks and `facts`.
    public func tracked(_ facts: TrackFacts) -> [TrackedData] {
        // Most tables have no track, and every delivery runs through this function.
        guard !tracks.isEmpty else { return [] }
        var facts = facts
        facts.keys?.readKeyValues()
        return tracks.flatMap { $0.applies(to: facts) ? $0.entries(for: facts) : [] }
    }

    /// Whether a track may apply to this occasion; only then the payload is worth a search.
    public func hasTrack(on occasion: TrackRule.Occasion) -> Bool {
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
            // Each invalid field is an entry of its own: it must not hold up the valid ones.
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

/// The value of a field as JSON, with the fault if the text does not have the field's type.
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

/// Returns an object with this content.
private func node(_ content: (inout JSONWriter) -> Void) -> JSONNode {
    var writer = JSONWriter()
    writer.object(content)
    // Two levels more than a value may have.
    guard let document = try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: valueDepthMax + 2)) else {
        preconditionFailure("the fields of a track have different names, and their values are JSON")
    }
    return document.root
}
