import PushDispatch
public import PushModel

/// One entry that a track makes of what happened with a push.
public struct TrackedData: Sendable {
    /// The track's name.
    public var rule: String
    /// What it tells.
    public var kind: EntryKind
    /// Whose profile it is; `nil`: ``fault`` says why.
    public var identifier: UserIdentifier?
    /// What `op: log` would have: `name` and `properties`, or `attributes`. A value that could not be read as its type is
    /// the text that it came as.
    public var object: JSONNode
    /// Why it is set aside; `nil`: it is to be sent.
    public var fault: EntryProblem?
}

extension RoutingTable {
    /// What the tracks make of what happened with a push: in the order of their names, of each the attributes first, as
    /// `/users/track` takes them. What cannot be sent comes along with its fault, so that nothing is lost in silence.
    ///
    /// Depends on nothing but the tracks and `facts`.
    public func tracked(_ facts: TrackFacts) -> [TrackedData] {
        // Most tables have no track, and this is the path of every delivery.
        guard !tracks.isEmpty else { return [] }
        var facts = facts
        facts.keys?.readKeyValues()
        return tracks.flatMap { $0.applies(to: facts) ? $0.entries(for: facts) : [] }
    }

    /// Whether a track may apply to something of this kind: only then is its payload worth looking for.
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
            // Fields stand by themselves: a wrong one does not hold the others up.
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

/// The value that a field has: JSON, with the reason if it is not what the field's type says.
private struct FieldValue {
    var name: String
    var json: [UInt8]
    var fault: EntryProblem?

    /// `nil` when its source has no value. An empty text is one only as a string.
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

/// The object with this content.
private func node(_ content: (inout JSONWriter) -> Void) -> JSONNode {
    var writer = JSONWriter()
    writer.object(content)
    // Two levels more than a value may have.
    guard let document = try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: valueDepthMax + 2)) else {
        preconditionFailure("the fields of a track have different names, and their values are JSON")
    }
    return document.root
}
