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

/// The facts about a push, and about a person's act on it, that tracks use.
public struct TrackFacts: Sendable {
    /// The person's act; `nil`: none, the push was received.
    public var act: UserAct?
    /// The provider of the payload.
    public var provider: String?
    /// The campaign of a Braze payload.
    public var campaignID: String?
    /// The message id: the payload's own, or on iOS and the web the request's.
    public var messageID: String?
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user: the given one, or the device's last known user.
    public var externalID: String?
    /// The payload's keys; `nil` for an interaction with an unknown payload.
    public var keys: PayloadKeys?

    /// Joins the parts.
    public init(
        act: UserAct?, provider: String?, campaignID: String? = nil, messageID: String? = nil, platform: Platform,
        app: String? = nil, device: String? = nil, externalID: String? = nil, keys: PayloadKeys?
    ) {
        self.act = act
        self.provider = provider
        self.campaignID = campaignID
        self.messageID = messageID
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.keys = keys
    }

    /// The facts about a received push. `nil` for a push that no app code or SDK reports: a Braze push without a
    /// receipt of the tracker (T9), a push of another provider that reaches no code of the app, and a callback that
    /// carries no message.
    ///
    /// - Parameters:
    ///   - decision: the platform's decision on the delivery.
    ///   - messageID: the message id of the accepted request, which may differ from the payload's own.
    ///   - device: the device.
    ///   - externalID: the user: the given one, or the device's last known user.
    public init?(
        receiving decision: Decision, messageID: String?, platform: Platform, device: String?, externalID: String?
    ) {
        if decision.braze != nil {
            guard decision.received else { return nil }
        } else {
            guard decision.outcome == nil, decision.providers.first?.isProbe != true,
                !decision.invocations.allSatisfy(\.callback.isBroadcast)
            else { return nil }
        }
        self.init(
            act: nil, provider: decision.provider, campaignID: decision.braze?.campaignID, messageID: messageID,
            platform: platform, app: decision.app, device: device, externalID: externalID, keys: decision.keys)
    }

    /// The occasion in the words of `On=`.
    public var occasion: TrackRule.Occasion {
        switch act {
        case nil: .received
        case .opened: .opened
        case .button: .action
        case .dismissed: .dismissed
        }
    }

    /// Returns the text of a source; `nil` if it has none.
    func text(of source: TrackSource) -> String? {
        switch source {
        case .keyValue(let key): keys?.keyValue(key)
        case .data(let key): keys?.data(key)
        case .fact(let fact): text(of: fact)
        case .constant(let text): text
        }
    }

    private func text(of fact: TrackSource.Fact) -> String? {
        switch fact {
        case .provider: provider
        case .campaignID: campaignID
        case .messageID: messageID
        case .platform: platform.rawValue
        case .app: app
        case .device: device
        case .externalID: externalID
        case .occasion: occasion.rawValue
        case .action: if case .button(let id, _)? = act { id } else { nil }
        case .text: if case .button(_, let text)? = act { text } else { nil }
        }
    }
}

extension TrackRule {
    /// Whether the track applies to these facts.
    func applies(to facts: TrackFacts) -> Bool {
        guard occasions.contains(facts.occasion) else { return false }
        if case .button(let id, _)? = facts.act, !buttons.isEmpty, !buttons.contains(where: { $0.matches(id) }) {
            return false
        }
        // Tracks have no condition on the callback, so any value works here.
        return match.holds(
            for: RouteFacts(
                provider: facts.provider, platform: facts.platform, callback: .none, app: facts.app, keys: facts.keys))
    }
}
